package source

import (
	"errors"
	"time"
)

// ErrCompacted reports that the requested revision is no longer in etcd because the store was compacted. Call
// Pin again to continue from the current revision.
var ErrCompacted = errors.New("revision was compacted away")

// HangingError reports an etcd that accepts connections but does not respond in time. An unreachable etcd is
// not a HangingError.
type HangingError struct {
	// Endpoint is its address as the user would write it.
	Endpoint string
	// After is the time without a response.
	After time.Duration
}

func (e *HangingError) Error() string { return "no response within " + e.After.String() }
