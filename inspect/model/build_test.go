package model

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// indexedParts returns parts with a collection, two index definitions and a deleted one.
func indexedParts(segments ...*Segment) Parts {
	return Parts{
		Loaded:      PartAll,
		Collections: []*Collection{{ID: 1, Name: "docs"}},
		Indexes:     []*Index{{ID: 12, Collection: 1}, {ID: 11, Collection: 1}, {ID: 13, Collection: 1, Deleted: true}},
		Segments:    segments,
	}
}

func TestIndexState(t *testing.T) {
	both := func(a, b IndexState) []SegmentIndex {
		return []SegmentIndex{{Index: 11, State: a}, {Index: 12, State: b}, {Index: 13, State: IndexFailed}}
	}
	tests := []struct {
		name    string
		segment Segment
		want    IndexState
	}{
		{"all built", Segment{State: SegmentFlushed, Indexes: both(IndexFinished, IndexFinished)}, IndexFinished},
		{
			"one building",
			Segment{State: SegmentFlushed, Indexes: both(IndexFinished, IndexInProgress)},
			IndexInProgress,
		},
		{
			"failed is worse than missing",
			Segment{State: SegmentFlushed, Indexes: []SegmentIndex{{Index: 11, State: IndexFailed}}},
			IndexFailed,
		},
		{
			"missing is worse than retry",
			Segment{State: SegmentFlushed, Indexes: []SegmentIndex{{Index: 11, State: IndexRetry}}},
			IndexMissing,
		},
		{
			"retry is worse than unissued",
			Segment{State: SegmentFlushed, Indexes: both(IndexRetry, IndexUnissued)},
			IndexRetry,
		},
		{"no record", Segment{State: SegmentFlushed}, IndexMissing},
		{
			"record marked deleted",
			Segment{
				State: SegmentFlushed,
				Indexes: []SegmentIndex{
					{Index: 11, State: IndexFinished, Deleted: true}, {Index: 12, State: IndexFinished},
				},
			},
			IndexMissing,
		},
		{"flushing", Segment{State: SegmentFlushing}, IndexMissing},
		{"growing", Segment{State: SegmentGrowing}, IndexNotNeeded},
		{"dropped", Segment{State: SegmentDropped}, IndexNotNeeded},
		{"L0", Segment{State: SegmentFlushed, Level: LevelL0}, IndexNotNeeded},
		{"fake", Segment{State: SegmentFlushed, Fake: true}, IndexNotNeeded},
		{"collection without index", Segment{Collection: 2, State: SegmentFlushed}, IndexNotNeeded},
	}
	for _, tt := range tests {
		s := tt.segment
		s.ID = 100
		if s.Collection == 0 {
			s.Collection = 1
		}
		c := Build(indexedParts(&s))
		if got := c.IndexState(&s); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	p := indexedParts(&Segment{ID: 1, Collection: 1, State: SegmentFlushed})
	p.Loaded = PartCatalog | PartSegments
	if c := Build(p); c.IndexState(c.Segments[0]) != IndexUnknown {
		t.Error("index records that were not read are not unknown")
	}
}

func TestTotals(t *testing.T) {
	finished := []SegmentIndex{{Index: 11, State: IndexFinished}, {Index: 12, State: IndexFinished}}
	c := Build(indexedParts(
		&Segment{
			ID: 5, Collection: 1, Partition: 2, VChannel: "a", State: SegmentFlushed, Rows: 100, DeletedRows: 3,
			Bytes: 1000, IndexBytes: 50, Indexes: finished,
		},
		&Segment{ID: 4, Collection: 1, Partition: 2, VChannel: "b", State: SegmentFlushed, Rows: 10, Bytes: 100},
		&Segment{ID: 3, Collection: 1, Partition: 3, VChannel: "a", State: SegmentGrowing, Rows: 7},
		&Segment{ID: 2, Collection: 1, Partition: 3, VChannel: "a", State: SegmentDropped, Rows: 1000, Bytes: 9999},
		&Segment{
			ID: 1, Collection: 1, Partition: -1, VChannel: "a", State: SegmentFlushed, Level: LevelL0, Rows: 40,
			DeletedRows: 40, Bytes: 20,
		},
		&Segment{ID: 6, Collection: 9, State: SegmentFlushed, Rows: 1},
	))
	want := Totals{
		Segments: 4, Rows: 117, DeletedRows: 43, Bytes: 1120, IndexBytes: 50, SealedRows: 110, IndexedRows: 100,
		NeedIndexRows: 110,
		ByState:       [SegmentStates]int{SegmentGrowing: 1, SegmentFlushed: 3, SegmentDropped: 1},
		RowsByState:   [SegmentStates]int64{SegmentGrowing: 7, SegmentFlushed: 150, SegmentDropped: 1000},
	}
	if diff := cmp.Diff(want, c.CollectionTotals(1)); diff != "" {
		t.Errorf("collection (-want +got):\n%s", diff)
	}
	for name, got := range map[string][2]int64{
		"partition 2": {c.PartitionTotals(2).Rows, 110}, "partition 3": {c.PartitionTotals(3).Rows, 7},
		"partition 99": {c.PartitionTotals(99).Rows, 0},
		"channel a":    {c.VChannelTotals("a").Rows, 107}, "channel b": {c.VChannelTotals("b").Rows, 10},
		"all":                 {c.Totals().Rows, 118},
		"orphaned collection": {c.CollectionTotals(9).Rows, 1},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d rows, want %d", name, got[0], got[1])
		}
	}
	for i, s := range c.Segments {
		if s.ID != SegmentID(i+1) {
			t.Errorf("segment %d at %d", s.ID, i)
		}
	}
}

// TestUpdateEqualsBuild changes random segments and checks that Update equals Build and leaves the previous
// cluster unchanged.
func TestUpdateEqualsBuild(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	fresh := func(id SegmentID) *Segment {
		return &Segment{
			ID: id, Collection: CollectionID(random.IntN(3)), Partition: PartitionID(random.IntN(4) - 1),
			VChannel: string(rune('a' + random.IntN(3))),
			State:    SegmentState(random.IntN(9)), Level: SegmentLevel(random.IntN(3)), Rows: int64(random.IntN(100)),
			Bytes:   int64(random.IntN(100)),
			Indexes: []SegmentIndex{{Index: 11, State: IndexState(random.IntN(6))}, {Index: 12, State: IndexFinished}},
		}
	}
	c := Build(indexedParts())
	oldest := c
	for step := range 300 {
		before := snapshot(c)
		next := c.Parts
		next.Segments = nil
		changes := random.IntN(4)
		for _, s := range c.Segments {
			what := random.IntN(4)
			switch {
			case changes > 0 && what == 0: // drop
				changes--
			case changes > 0 && what == 1:
				next.Segments = append(next.Segments, fresh(s.ID))
				changes--
			default:
				next.Segments = append(next.Segments, s)
			}
		}
		for range random.IntN(3) {
			next.Segments = append(next.Segments, fresh(SegmentID(1000+step*10+len(next.Segments))))
		}
		if step%50 == 49 {
			next.Indexes = append([]*Index{{ID: IndexID(100 + step), Collection: 2}}, next.Indexes...)
		}
		if step%70 == 69 {
			next.Segments = nil
		}
		old := c
		c = c.Update(next)
		if diff := cmp.Diff(snapshot(Build(next)), snapshot(c)); diff != "" {
			t.Fatalf("step %d (-built +updated):\n%s", step, diff)
		}
		if diff := cmp.Diff(before, snapshot(old)); diff != "" {
			t.Fatalf("step %d changed the cluster before:\n%s", step, diff)
		}
		for _, before := range []*Cluster{old, oldest} {
			checkChanges(t, c.At(1, time.Time{}), before)
		}
		if step%7 == 0 {
			oldest = c
		}
	}
}

// checkChanges compares a cluster's changes with a comparison of all segments.
func checkChanges(t *testing.T, c, before *Cluster) {
	t.Helper()
	if diff := cmp.Diff(ChangedSegments(before.Segments, c.Segments), c.ChangedSegments(before)); diff != "" {
		t.Fatalf("changes:\n%s", diff)
	}
}

// snapshot returns the segments and totals of a cluster.
func snapshot(c *Cluster) map[string]any {
	out := map[string]any{"totals": c.Totals(), "segments": append([]*Segment(nil), c.Segments...)}
	for id := range CollectionID(4) {
		out["collection "+id.String()] = c.CollectionTotals(id)
		out["of "+id.String()] = append([]*Segment(nil), c.SegmentsOf(id)...)
	}
	for id := range PartitionID(4) {
		out["partition "+id.String()] = c.PartitionTotals(id - 1)
	}
	for _, name := range []string{"a", "b", "c"} {
		out["channel "+name] = c.VChannelTotals(name)
	}
	return out
}

func TestAt(t *testing.T) {
	c := Build(indexedParts(&Segment{ID: 1, Collection: 1}))
	now := time.Unix(100, 0)
	later := c.At(7, now)
	if later.Origin.Revision != 7 || !later.Origin.Taken.Equal(now) || c.Origin.Revision != 0 ||
		later.Segment(1) != c.Segment(1) {
		t.Errorf("origin %+v from %+v", later.Origin, c.Origin)
	}
}

func TestTSO(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 46, 53, 128e6, time.UTC)
	if tso := TSOFromTime(at); !tso.Time().Equal(at) || (tso+5).Logical() != 5 || !(tso + 5).Time().Equal(at) {
		t.Errorf("%v becomes %v", at, tso.Time())
	}
	if !TSO(0).Time().IsZero() || !MaxTSO.Time().IsZero() {
		t.Error("no time is a time")
	}
}
