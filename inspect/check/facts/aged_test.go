package facts

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// churn is a small cluster of which several segments change in each step, to values that many of them share: peaks are met, and lost.
type churn struct {
	*rand.Rand
	c   *model.Cluster
	now time.Time
}

func newChurn(seed uint64) *churn {
	x := &churn{Rand: rand.New(rand.NewPCG(seed, 3)), now: modeltest.Now} //nolint:gosec // no secret
	p := model.Parts{Loaded: model.PartAll}
	for id := range model.CollectionID(3) {
		p.Collections = append(p.Collections, &model.Collection{ID: id + 1, Name: "docs_" + id.String(), State: "Created"})
		for k := range model.IndexID(3) {
			i := &model.Index{ID: 10*model.IndexID(id) + k + 1, Collection: id + 1, Field: 100, Type: "HNSW", Deleted: k == 2}
			if k == 1 {
				i.CreatedAt = x.now.Add(-40 * time.Minute)
			}
			p.Indexes = append(p.Indexes, i)
		}
	}
	for _, name := range []string{"a", "b"} {
		p.VChannels = append(p.VChannels, &model.VChannel{Name: name, Collection: 1, Removal: "non-removed"})
	}
	x.c = model.Build(p)
	return x
}

// moment is one of few, half of them young; 0 and MaxTSO say nothing.
func (x *churn) moment() model.TSO {
	switch n := x.IntN(12); n {
	case 0:
		return 0
	case 1:
		return model.MaxTSO
	default:
		return model.TSOFromTime(x.now.Truncate(time.Hour).Add(-time.Duration(15*n) * time.Minute))
	}
}

func (x *churn) segment(id model.SegmentID) *model.Segment {
	s := &model.Segment{
		ID: id, Collection: model.CollectionID(1 + id%3), Partition: model.PartitionID(x.IntN(2)), VChannel: []string{"a", "b", "c"}[x.IntN(3)],
		State: model.SegmentFlushed, Level: model.LevelL1, Rows: 2000 - 300*int64(x.IntN(5)), MaxRows: 4000 + int64(x.IntN(3)),
		StartAt: x.moment(), PositionAt: x.moment(), ExpireAt: x.moment(), Sorted: x.IntN(2) == 0, Importing: x.IntN(8) == 0, Bytes: int64(x.IntN(100)),
		Logs: []model.FieldLogs{{Kind: model.InsertLog, MemoryBytes: int64(x.IntN(5)) * 100}},
	}
	switch x.IntN(4) {
	case 0:
		s.State, s.DroppedAt = model.SegmentDropped, x.moment()
	case 1:
		s.State = model.SegmentGrowing
	}
	for k := range model.IndexID(2) {
		if x.IntN(3) == 0 {
			s.Indexes = append(s.Indexes, model.SegmentIndex{Segment: id, Index: 10*model.IndexID(id%3) + k + 1, State: model.IndexFinished})
		}
	}
	return s
}

func (x *churn) step() {
	p := x.c.Parts
	p.Segments = slices.Clone(p.Segments)
	for range x.IntN(6) {
		id := model.SegmentID(1 + x.IntN(120))
		at, found := slices.BinarySearchFunc(p.Segments, &model.Segment{ID: id}, ByID)
		switch {
		case !found:
			p.Segments = slices.Insert(p.Segments, at, x.segment(id))
		case x.IntN(2) == 0:
			p.Segments = slices.Delete(p.Segments, at, at+1)
		default:
			p.Segments[at] = x.segment(id)
		}
	}
	if x.IntN(10) == 0 {
		p.VChannels = slices.Clone(p.VChannels)
		v := *p.VChannels[0]
		v.Checkpoint.At = x.moment()
		p.VChannels[0] = &v
	}
	x.now = x.now.Add(time.Duration(x.IntN(8)) * time.Minute)
	x.c = x.c.Update(p)
}

// TestSumsFollow: sums over what is old enough, which follow changes and the clock, are what they are when they are worked out anew.
func TestSumsFollow(t *testing.T) {
	for seed := range uint64(5) {
		x := newChurn(seed)
		var kept Kept
		for step := range 3000 {
			x.step()
			a := asked{now: x.now, full: 300, sorting: 20 * time.Minute}
			switch x.IntN(60) {
			case 0:
				a.now = a.now.Add(-time.Duration(x.IntN(90)) * time.Minute) // a clock that was set back
			case 1:
				a.now = time.Time{}
			case 2:
				a.full = 200
			case 3:
				a.sorting = 0
			}
			var next Kept
			got := a.sums(kept.Facts(x.c, a.now, &next))
			want := a.sums(new(Kept).Facts(x.c, a.now, new(Kept)))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d:\n%+v, want\n%+v", seed, step, got, want)
			}
			kept = next
		}
	}
}

// asked is what sums are asked for.
type asked struct {
	now     time.Time
	full    int64
	sorting time.Duration
}

type sums struct {
	Merges      []map[mergePlace]Merge
	Missing     []Missing
	Uncollected Uncollected
}

func (a asked) sums(f *Facts) (s sums) {
	limit := func(d time.Duration) model.TSO {
		if a.now.IsZero() {
			return 0
		}
		return model.TSOFromTime(a.now.Add(-d))
	}
	for _, x := range f.Collections {
		m := f.Merges(x.ID, a.full, limit(time.Hour))
		if len(m) == 0 {
			m = nil
		}
		s.Merges = append(s.Merges, m)
	}
	s.Missing, s.Uncollected = f.Missing(limit(10*time.Minute), a.sorting), f.Uncollected(limit(30*time.Minute))
	return s
}

// TestSumsAreExact holds sums that followed against the segments themselves, one by one.
func TestSumsAreExact(t *testing.T) {
	x := newChurn(9)
	var kept Kept
	for range 300 {
		x.step()
		var next Kept
		f := kept.Facts(x.c, x.now, &next)
		limit := model.TSOFromTime(x.now.Add(-time.Hour))
		got, want := f.Missing(limit, 0), map[model.IndexID]*Lack{}
		f.EachUnbuilt(func(b Build) {
			if b.Record != nil || b.Segment.Importing || !Settled(b.Segment, limit) {
				return
			}
			if want[b.Index.ID] == nil {
				want[b.Index.ID] = &Lack{Collection: b.Collection, Index: b.Index}
			}
			want[b.Index.ID].Add(b)
		})
		if len(got) != len(want) {
			t.Fatalf("%d indexes are missing somewhere, want %d: %+v %+v", len(got), len(want), got, want)
		}
		for _, m := range got {
			if !reflect.DeepEqual(m.Lack, *want[m.Index.ID]) {
				t.Fatalf("%+v, want %+v", m.Lack, *want[m.Index.ID])
			}
		}
		kept = next
	}
}
