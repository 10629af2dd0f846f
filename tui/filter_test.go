package tui

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestFilterCompletesCollections checks that collections are completed even in a table too large to search for
// values.
func TestFilterCompletesCollections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.StartPage = "segments"
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.ManySegments(completionRows + 1))
		d.Keys("/").Typed("coll=collection_24")
		d.Shows("coll=collection_244")
		d.Keys("ctrl+k").Typed("coll=")
		d.Shows("coll=empty", " / 20,001")
	})
}
