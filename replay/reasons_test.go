package replay_test

import (
	"testing"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
)

// TestReasonOtherIndex checks that differences are explained if the server searches an index type that the
// engine does not support (IVF_PQ) and that returns estimates.
func TestReasonOtherIndex(t *testing.T) {
	c := four(t)
	c.layout.Segments[2].Files.Indexes = nil // indexed in the cluster, row by row here
	l := loadOf(t, c, c.layout, nil)
	d := replay.Differ(answersOf("engine", []load.Hit{hit(310, 1), hit(311, 2), hit(210, 3)}),
		answersOf("live", []load.Hit{hit(311, 2), hit(310, 2.5), hit(305, 3.5)}), l)
	if n := d.Explained[replay.OtherIndex]; n != 3 || d.Equal != 0 {
		t.Errorf("%+v", d)
	}
	if d = replay.Differ(answersOf("engine", []load.Hit{hit(210, 1), hit(211, 2)}),
		answersOf("live", []load.Hit{hit(211, 2), hit(210, 2.5)}), l); len(d.Explained) != 0 {
		t.Errorf("rows are searched alike: %+v", d)
	}
	m := l.Coverage.Missing
	if len(m) != 1 || m[0].Rows != 0 || m[0].Of != 30 {
		t.Errorf("missing %+v", m)
	}
}

// TestRecallMissingShare checks that Unseen reports the rows that the truth does not include.
func TestRecallMissingShare(t *testing.T) {
	for rows, want := range map[int64]float64{30: 0, 150: 0.5, -1: -1} {
		c := four(t)
		c.layout.Segments[0].Rows = rows // storage has 30 rows, and 120 rows of all segments
		loaded := loadOf(t, c, c.layout, nil)
		requests, err := replay.Requests(runLog(t), &c.layout.Collection, replay.RequestParams{
			K: 3, SearchParams: engine.SearchParams{EF: 20},
		})
		if err != nil {
			t.Fatal(err)
		}
		o := replay.RunOptions{
			Loaded: loaded, Log: runLog(t), Requests: requests, Truth: replay.ExactTruth,
			Engine: replay.TargetOptions{Options: segment.Milvus(2, 3)}, Plan: load.Plan{Sessions: 1, Requests: 40},
		}
		r, err := replay.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Recall == nil || r.Recall.Unseen != want {
			t.Errorf("%d rows: %+v, want %v unseen", rows, r.Recall, want)
		}
	}
}
