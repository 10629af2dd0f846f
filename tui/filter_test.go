package tui

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// In a table too large to look for values, collections are still completed.
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
