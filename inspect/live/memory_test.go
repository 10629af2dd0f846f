package live_test

import (
	"bytes"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// unhurried is a deadline that no answer misses because the machine is busy.
const unhurried = 30 * time.Second

// emptySegments is an answer of many segments of which nothing is said: two bytes each.
func emptySegments(size int) []byte {
	return append([]byte("\x0a\x00\x10\x65"), bytes.Repeat([]byte("\x1a\x00"), size/2)...)
}

// heavyAsk asks, with the records kept as a recorder keeps them.
func heavyAsk(t *testing.T, c *model.Cluster, opts live.Options) *model.Runtime {
	t.Helper()
	opts.Keep = func(live.Record) {}
	return ask(t, c, opts)
}
