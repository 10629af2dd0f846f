package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestJudgeSeesTheSchemaChange checks that a Judge notices a changed field. The fields decide which indexes
// have to be loaded, and only the collection's record contains them.
func TestJudgeSeesTheSchemaChange(t *testing.T) {
	s := modeltest.NewChangingCluster(0)
	i := slices.IndexFunc(s.Metadata.Collections, func(x *model.Collection) bool { return x.Name == "docs_5" })
	retype := func(to string) {
		p := s.Metadata.Parts
		p.Collections = slices.Clone(p.Collections)
		x := *p.Collections[i]
		x.Fields = slices.Clone(x.Fields)
		for k, f := range x.Fields {
			if changed := *f; f.ID == 101 {
				changed.Type = to
				x.Fields[k] = &changed
			}
		}
		p.Collections[i] = &x
		s.Metadata = s.Metadata.Update(p)
	}
	var judge check.Judge
	for _, x := range []struct {
		to   string
		want check.Status
	}{{"Int64", check.OK}, {"FloatVector", check.Found}, {"Int64", check.OK}} {
		retype(x.to)
		if got := judge.Run(s.Cluster(), s.Now,
			[]*check.Check{rulestest.ByID("index-not-loaded")}).Results[0]; got.Status != x.want {
			t.Errorf("with the field a %s: %s, want %s", x.to, got.Status, x.want)
		}
	}
}

func TestIndexNotLoaded(t *testing.T) {
	// bare makes node A serve its first segment without an index.
	bare := func(loaded, finished time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			s := &w.Query(rulestest.NodeA).Distribution.Sealed[0]
			s.Indexes, s.Version = nil, rulestest.Nanos(loaded)
			w.Index(0).FinishedAt = rulestest.TimeAgo(finished)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("index-not-loaded"), []rulestest.Case{
		{
			Name: "finished for an hour", Change: bare(2*time.Hour, time.Hour),
			Want: []string{
				"warning collections/1000 1 segment, 90,000 rows, served by querynode-4 without the HNSW index " +
					"vec_idx, although it is built",
			},
		},
		{Name: "finished just now", Change: bare(2*time.Hour, 5*time.Minute)},
		{
			Name: "not finished",
			Change: func(w *rulestest.World) {
				bare(2*time.Hour, time.Hour)(w)
				w.Index(0).State = model.IndexInProgress
			},
		},
		{
			Name:   "FLAT",
			Change: func(w *rulestest.World) { bare(2*time.Hour, time.Hour)(w); w.Indexes[0].Type = "FLAT" },
		},
		{Name: "small", Change: func(w *rulestest.World) { bare(2*time.Hour, time.Hour)(w); w.Segment(0).Rows = 1000 }},
		{Name: "its time is not recorded, loaded for long", Change: func(w *rulestest.World) {
			bare(2*time.Hour, 0)(w)
			w.Index(0).FinishedAt = time.Time{}
		}, Want: []string{"warning collections/1000 1 segment"}},
		{Name: "its time is not recorded, loaded just now", Change: func(w *rulestest.World) {
			bare(20*time.Minute, 0)(w)
			w.Index(0).FinishedAt = time.Time{}
		}},
		{Name: "nothing tells the time", Change: func(w *rulestest.World) {
			bare(0, 0)(w)
			w.Index(0).FinishedAt = time.Time{}
			w.Query(rulestest.NodeA).Distribution.Sealed[0].Version = 7
		}, Skipped: "when the index of 1 segment was finished"},
		{Name: "one of two vector indexes", Change: func(w *rulestest.World) {
			w.Serve()
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{
				ID: 103, Name: "image", Type: "FloatVector", Dim: 64,
			})
			w.Indexes = append(w.Indexes, &model.Index{
				ID: 1501, Collection: rulestest.CollID, Field: 103, Name: "image_idx", Type: "HNSW",
			})
			w.Segment(0).Indexes = append(w.Segment(0).Indexes, model.SegmentIndex{
				Segment: 2000, Index: 1501, Build: 1, State: model.IndexFinished,
				FinishedAt: rulestest.TimeAgo(time.Hour),
			})
		}, Want: []string{"warning collections/1000 without the HNSW index image_idx"}},
	})
}
