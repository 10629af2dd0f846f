package source

import (
	"errors"
	"time"
)

// ErrCompacted says that the wanted revision is gone from etcd: the store was
// compacted past it. Pin again to go on from the present.
var ErrCompacted = errors.New("revision was compacted away")

// HangingError reports an etcd that takes connections and does not answer in time. One that cannot be reached is no HangingError.
type HangingError struct {
	// Endpoint is its address as a person would write it.
	Endpoint string
	// After is for how long nothing was answered.
	After time.Duration
}

func (e *HangingError) Error() string { return "no answer within " + e.After.String() }
