package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// fresh adds a flushed segment of the first shard that nobody serves yet, as DataCoord wants it.
func (w *world) fresh(id model.SegmentID, flushed time.Duration) *model.Segment {
	s := wellSegment(id, wellCh0)
	s.PositionAt = back(flushed)
	w.Segments = append(w.Segments, s)
	w.recovery(wellCh0).Flushed = append(w.recovery(wellCh0).Flushed, id)
	return s
}

func TestSegmentNotLoaded(t *testing.T) {
	hold(t, named("segment-not-loaded"), []verdict{
		{
			"flushed for an hour", func(w *world) { w.serve(); w.fresh(2800, time.Hour) },
			[]string{"error collections/1000 1 segment, 90,000 rows, flushed up to 60 min ago but served by no node"},
			"",
		},
		{"flushed just now", func(w *world) { w.serve(); w.fresh(2800, 5*time.Minute) }, nil, ""},
		{"growing still", func(w *world) {
			w.serve()
			w.fresh(2800, time.Hour)
			w.view(wellCh0).Growing = []model.GrowingView{{ID: 2800}}
		}, nil, ""},
		{"its sources are served in its place", func(w *world) {
			w.serve()
			w.fresh(2800, time.Hour).CompactedFrom = []model.SegmentID{2000, 2002}
			for _, i := range []int{0, 2} {
				w.segment(i).State, w.segment(i).DroppedAt = model.SegmentDropped, back(time.Hour)
			}
		}, nil, ""},
		{"compacted an hour ago, a source gone", func(w *world) {
			w.serve()
			w.fresh(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000, 1999}
			w.segment(0).State, w.segment(0).DroppedAt = model.SegmentDropped, back(time.Hour)
		}, []string{"error collections/1000 flushed up to 60 min ago but served by no node"}, ""},
		{"compacted five minutes ago", func(w *world) {
			w.serve()
			w.fresh(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000, 1999}
			w.segment(0).State, w.segment(0).DroppedAt = model.SegmentDropped, back(5*time.Minute)
		}, nil, ""},
		{"of a partition that is not loaded", func(w *world) {
			w.serve()
			w.fresh(2800, time.Hour).Partition = 1002
			w.LoadStates[0].LoadType = "LoadPartition"
			w.LoadStates[0].Partitions = []model.PartitionLoad{{Partition: wellPart, Status: "Loaded"}}
		}, nil, ""},
		{"empty", func(w *world) { w.serve(); w.fresh(2800, time.Hour).Rows = 0 }, nil, ""},
		{"not to be loaded", func(w *world) { w.serve(); w.fresh(2800, time.Hour); w.LoadStates = nil }, nil, ""},
		{"loading", func(w *world) { w.serve(); w.fresh(2800, time.Hour); w.LoadStates[0].Status = "Loading" }, nil, ""},
		{"nobody knows when", func(w *world) { w.serve(); w.fresh(2800, 0).PositionAt = 0 }, nil, "when 1 segment that no node serves was flushed"},
		{"DataCoord silent about the collection", func(w *world) { w.serve(); w.runtime.Recovery = w.runtime.Recovery[:1] }, nil, "collection docs: DataCoord did not report"},
	})
}

func TestSegmentDropped(t *testing.T) {
	// dropped has a segment dropped that a node still has.
	dropped := func(ago time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.segment(0).State, w.segment(0).DroppedAt = model.SegmentDropped, back(ago)
			w.recovery(wellCh0).Flushed = []model.SegmentID{2002}
		}
	}
	hold(t, named("segment-loaded-dropped"), []verdict{
		{"for half an hour", dropped(30 * time.Minute), []string{"warning collections/1000 1 segment, 90,000 rows, dropped up to 30 min ago, is still in memory on querynode-4"}, ""},
		{"just now", dropped(time.Minute), nil, ""},
		{"DataCoord wants it still", func(w *world) {
			dropped(30 * time.Minute)(w)
			w.recovery(wellCh0).Flushed = []model.SegmentID{2000, 2002}
		}, nil, ""},
		{"its successor is not loaded", func(w *world) {
			dropped(30 * time.Minute)(w)
			w.fresh(2800, 9*time.Hour).CompactedFrom = []model.SegmentID{2000}
			w.recovery(wellCh0).Flushed = []model.SegmentID{2002}
		}, nil, ""},
		{"its successor is loaded", func(w *world) {
			dropped(30 * time.Minute)(w)
			s := w.fresh(2800, 9*time.Hour)
			s.CompactedFrom = []model.SegmentID{2000}
			w.recovery(wellCh0).Flushed = []model.SegmentID{2002}
			w.load(nodeA, s, 20*time.Minute)
		}, []string{"warning collections/1000 1 segment"}, ""},
		{"unknown to etcd", func(w *world) { w.serve(); w.Segments = w.Segments[1:] }, []string{"warning collections/1000 dropped up to 4 h ago"}, ""},
		{"loaded after the metadata was read", func(w *world) {
			w.serve()
			w.load(nodeB, wellSegment(2801, wellCh0), time.Second)
		}, nil, ""},
		{
			"of a collection that is gone", func(w *world) { w.serve(); w.Collections[0].State, w.LoadStates = "Dropping", nil },
			[]string{"warning collections/1000 is dropped, but 4 segments, 360,000 rows of it are still in memory on querynode-4 and querynode-8"},
			"",
		},
		{"of a collection that is going", func(w *world) {
			w.serve()
			w.Collections[0].State, w.LoadStates = "Dropping", nil
			for _, s := range w.Segments {
				s.State, s.DroppedAt = model.SegmentDropped, back(10*time.Second)
			}
		}, nil, ""},
		{"of a collection that was loaded after the metadata was read", func(w *world) {
			w.serve()
			w.LoadStates = nil
			for _, id := range []model.NodeID{nodeA, nodeB} {
				for i := range w.query(id).Distribution.Sealed {
					w.query(id).Distribution.Sealed[i].Version = nanos(5 * time.Second)
				}
			}
		}, nil, ""},
		{
			"of a collection that was released", func(w *world) { w.serve(); w.LoadStates = nil },
			[]string{"info collections/1000 collection docs is not loaded, but"},
			"",
		},
		{"nobody knows since when", func(w *world) { dropped(0)(w); w.segment(0).DroppedAt = 0 }, nil, "when 1 segment in memory was dropped"},
	})
}

func TestSegmentTwice(t *testing.T) {
	hold(t, named("segment-loaded-twice"), []verdict{
		{
			"for half an hour", func(w *world) { w.serve(); w.load(nodeB, w.segment(0), 30*time.Minute) },
			[]string{"warning collections/1000 1 segment, 90,000 rows, in memory twice in one replica for 30 min, on querynode-4 and querynode-8"},
			"",
		},
		{"moving", func(w *world) { w.serve(); w.load(nodeB, w.segment(0), 20*time.Second) }, nil, ""},
		{"once in each of two replicas", func(w *world) {
			w.serve()
			w.load(nodeB, w.segment(0), 30*time.Minute)
			w.Replicas[0].Nodes = []model.NodeID{nodeA}
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{nodeB}})
		}, nil, ""},
		{"of deletes only", func(w *world) {
			w.serve()
			for _, id := range []model.NodeID{nodeA, nodeB} {
				w.load(id, wellSegment(2802, wellCh0), time.Hour).Level = model.LevelL0
			}
		}, nil, ""},
		{"nobody knows since when", func(w *world) {
			w.serve()
			w.load(nodeB, w.segment(0), 0).Version = 7
			w.query(nodeA).Distribution.Sealed[0].Version = 6
		}, nil, "since when 1 segment is loaded twice"},
	})
}

func TestIndexNotLoaded(t *testing.T) {
	// bare has node A serve its first segment without an index.
	bare := func(loaded, finished time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			s := &w.query(nodeA).Distribution.Sealed[0]
			s.Indexes, s.Version = nil, nanos(loaded)
			w.index(0).FinishedAt = backT(finished)
		}
	}
	hold(t, named("index-not-loaded"), []verdict{
		{"finished for an hour", bare(2*time.Hour, time.Hour), []string{"warning collections/1000 1 segment, 90,000 rows, served by querynode-4 without the HNSW index vec_idx, although it is built"}, ""},
		{"finished just now", bare(2*time.Hour, 5*time.Minute), nil, ""},
		{"not finished", func(w *world) { bare(2*time.Hour, time.Hour)(w); w.index(0).State = model.IndexInProgress }, nil, ""},
		{"FLAT", func(w *world) { bare(2*time.Hour, time.Hour)(w); w.Indexes[0].Type = "FLAT" }, nil, ""},
		{"small", func(w *world) { bare(2*time.Hour, time.Hour)(w); w.segment(0).Rows = 1000 }, nil, ""},
		{"its time is not recorded, loaded for long", func(w *world) {
			bare(2*time.Hour, 0)(w)
			w.index(0).FinishedAt = time.Time{}
		}, []string{"warning collections/1000 1 segment"}, ""},
		{"its time is not recorded, loaded just now", func(w *world) {
			bare(20*time.Minute, 0)(w)
			w.index(0).FinishedAt = time.Time{}
		}, nil, ""},
		{"nothing tells the time", func(w *world) {
			bare(0, 0)(w)
			w.index(0).FinishedAt = time.Time{}
			w.query(nodeA).Distribution.Sealed[0].Version = 7
		}, nil, "when the index of 1 segment was finished"},
		{"one of two vector indexes", func(w *world) {
			w.serve()
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{ID: 103, Name: "image", Type: "FloatVector", Dim: 64})
			w.Indexes = append(w.Indexes, &model.Index{ID: 1501, Collection: wellColl, Field: 103, Name: "image_idx", Type: "HNSW"})
			w.segment(0).Indexes = append(w.segment(0).Indexes, model.SegmentIndex{Segment: 2000, Index: 1501, Build: 1, State: model.IndexFinished, FinishedAt: backT(time.Hour)})
		}, []string{"warning collections/1000 without the HNSW index image_idx"}, ""},
	})
}
