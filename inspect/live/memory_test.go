package live_test

import (
	"bytes"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// unhurried is a timeout that is long enough on a busy machine.
const unhurried = 30 * time.Second

// emptySegments returns a response with many empty segments, two bytes each.
func emptySegments(size int) []byte {
	return append([]byte("\x0a\x00\x10\x65"), bytes.Repeat([]byte("\x1a\x00"), size/2)...)
}

// askLarge queries a cluster and keeps the records as a recorder does.
func askLarge(t *testing.T, c *model.Cluster, opts live.Options) *model.Runtime {
	t.Helper()
	opts.Keep = func(live.Record) {}
	return ask(t, c, opts)
}
