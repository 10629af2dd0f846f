package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

func TestGrowingFlushed(t *testing.T) {
	// flushed makes the growing segment 2900 a flushed one, as etcd says.
	flushed := func(ago time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			s := w.grow(2900, 5000, 3*time.Hour)
			s.State, s.Rows, s.PositionAt = model.SegmentFlushed, 5000, back(ago)
		}
	}
	hold(t, named("growing-flushed"), []verdict{
		{"half an hour ago", flushed(29 * time.Minute), []string{"warning collections/1000 1 segment flushed 29 min ago is still served as growing by querynode-4: 5,000 rows, 1.4% of its rows"}, ""},
		{"a handoff under way", flushed(20 * time.Second), nil, ""},
		{"the target waits for another", flushed(5 * time.Minute), nil, ""},
		{"the sealed copy took long to load", func(w *world) {
			flushed(9 * time.Minute)(w)
			w.load(nodeB, w.Segments[4], 30*time.Second)
		}, nil, ""},
		{"flushed after the nodes were asked", flushed(-10 * time.Second), nil, ""},
		{"still growing", func(w *world) { w.serve(); w.grow(2900, 5000, 3*time.Hour) }, nil, ""},
		{"compacted away", func(w *world) {
			w.serve()
			s := w.grow(2900, 5000, 3*time.Hour)
			s.State, s.Rows, s.DroppedAt = model.SegmentDropped, 5000, back(time.Hour)
		}, []string{"warning collections/1000 1 segment flushed 60 min ago"}, ""},
		{"forgotten by etcd", func(w *world) {
			w.serve()
			w.grow(2900, 5000, 3*time.Hour)
			w.Segments = w.Segments[:4]
		}, []string{"warning collections/1000 1 segment flushed 3 h ago"}, ""},
		{"younger than the metadata", func(w *world) {
			w.serve()
			w.grow(2900, 5000, 5*time.Second)
			w.Segments = w.Segments[:4]
		}, nil, ""},
		{"sealed as well, for long", func(w *world) {
			flushed(time.Minute)(w)
			w.load(nodeB, w.Segments[4], 10*time.Minute)
		}, []string{"warning collections/1000 1 segment flushed 10 min ago"}, ""},
		{"sealed as well, just now", func(w *world) {
			flushed(time.Minute)(w)
			w.load(nodeB, w.Segments[4], 10*time.Second)
		}, nil, ""},
		{"most of the work", func(w *world) {
			flushed(29 * time.Minute)(w)
			w.view(wellCh0).GrowingRows, w.Segments[4].Rows = 80_000, 80_000
		}, []string{"error collections/1000 1 segment"}, ""},
		{"nobody knows when it was flushed", func(w *world) {
			flushed(0)(w)
			w.Segments[4].PositionAt = 0
		}, nil, "when 1 segment served as growing was flushed"},
		{"by what a recording without times says of itself", func(w *world) {
			flushed(29 * time.Minute)(w)
			w.runtime.From, w.runtime.To = time.Time{}, time.Time{}
		}, []string{"warning collections/1000 1 segment flushed 29 min ago"}, ""},
	})
}

func TestGrowingOld(t *testing.T) {
	// idle has DataCoord remember a growing segment that was written to some time ago.
	idle := func(rows int64, begun, written time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.grow(2900, rows, begun)
			w.remembers(2900, rows, written)
		}
	}
	hold(t, named("growing-too-old"), []verdict{
		{"small inserts, never flushed", idle(1500, 20*time.Minute, 15*time.Minute), []string{"warning collections/1000 1,500 rows in 1 growing segment, 15 min after the last insert"}, ""},
		{"few rows", idle(200, 20*time.Minute, 15*time.Minute), []string{"info collections/1000 200 rows"}, ""},
		{"being written", idle(90_000, 20*time.Minute, time.Second), nil, ""},
		{"a pause of a minute", idle(1500, 20*time.Minute, time.Minute), nil, ""},
		{"large enough for idle sealing", idle(5000, 20*time.Minute, 8*time.Minute), nil, ""},
		{"past idle sealing", idle(5000, 40*time.Minute, 20*time.Minute), []string{"warning collections/1000 1 of these past the limits"}, ""},
		{"past its life, and written", idle(5000, 25*time.Hour, time.Second), []string{"warning collections/1000 past the limits at which DataCoord seals (10 min idle, 24 h old)"}, ""},
		{"the cluster's own life", func(w *world) {
			idle(5000, 3*time.Hour, time.Second)(w)
			w.configure("dataCoord.segment.maxLife", "3600")
		}, []string{"warning collections/1000 60 min old"}, ""},
		{"not loaded", func(w *world) {
			idle(1500, 20*time.Minute, 15*time.Minute)(w)
			w.LoadStates = nil
		}, nil, ""},
		{
			"nothing tells, and nothing is consumed", func(w *world) { w.serve(); w.grow(2900, 1500, 20*time.Minute) },
			[]string{"warning collections/1000 started 20 min ago and no longer written"},
			"",
		},
		{"nothing tells, and the leader consumes", func(w *world) {
			w.serve()
			w.grow(2900, 1500, 20*time.Minute)
			w.query(nodeA).System.Quota.Rates["InsertConsumeThroughput"] = 5000
		}, nil, "time of the last write to 1 growing segment"},
		{"nothing tells, and it is young", func(w *world) {
			w.serve()
			w.grow(2900, 1500, time.Minute)
			w.query(nodeA).System = nil
		}, nil, ""},
		{"sealed, and its channel stands still", func(w *world) {
			w.serve()
			s := w.grow(2900, 1500, 3*time.Hour)
			s.State, s.Rows, s.ExpireAt = model.SegmentSealed, 1500, back(2*time.Hour)
			w.VChannels[0].Checkpoint.At = back(2 * time.Hour)
		}, []string{"warning collections/1000 sealed but not flushed: the checkpoint of 1 channel does not advance"}, ""},
		{"sealed this moment", func(w *world) {
			w.serve()
			s := w.grow(2900, 1500, 3*time.Hour)
			s.State, s.Rows, s.ExpireAt = model.SegmentSealed, 1500, back(2*time.Hour)
		}, nil, ""},
	})
}

// TestGrowingOldFromMetadata: what etcd records up to the channel's checkpoint is enough.
func TestGrowingOldFromMetadata(t *testing.T) {
	growing := func(written, checkpoint time.Duration) func(*world) {
		return func(w *world) {
			w.Segments = append(w.Segments, &model.Segment{
				ID: 2900, Collection: wellColl, Partition: wellPart, VChannel: wellCh0, State: model.SegmentGrowing, Rows: 30_000, MaxRows: 100_000,
				StartAt: back(time.Hour), ExpireAt: back(written),
			})
			w.VChannels[0].Checkpoint.At = back(checkpoint)
		}
	}
	hold(t, named("growing-too-old"), []verdict{
		{"quiet up to the checkpoint", growing(17*time.Minute, 20*time.Second), []string{"warning collections/1000 30,000 rows in 1 growing segment, 17 min after the last insert"}, ""},
		{"rows wait for a sync", growing(17*time.Minute, 16*time.Minute), nil, "time of the last write"},
		{"written just now", growing(10*time.Second, 5*time.Minute), nil, "): the nodes were not asked"},
		{"no checkpoint", func(w *world) {
			growing(17*time.Minute, 0)(w)
			w.VChannels[0].Checkpoint.At = 0
		}, nil, "time of the last write"},
		{"a streaming node's record", func(w *world) {
			growing(17*time.Minute, 16*time.Minute)(w)
			w.Segments[4].Details = &model.SegmentDetails{Growing: &model.GrowingStat{Rows: 31_000, ModifiedAt: backT(14 * time.Minute), CreatedAt: backT(time.Hour)}}
		}, []string{"warning collections/1000 31,000 rows in 1 growing segment, 14 min after the last insert"}, ""},
	})
}

func TestGrowingLarge(t *testing.T) {
	large := func(rows int64, written time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.grow(2900, rows, 40*time.Minute)
			w.remembers(2900, rows, written)
		}
	}
	hold(t, named("growing-too-large"), []verdict{
		{"full and left alone", large(14_000, 10*time.Minute), []string{"warning collections/1000 the largest has 14,000 rows, the limit is 12,000"}, ""},
		{"full and written", large(14_000, time.Second), nil, ""},
		{"more than fits, and written", large(120_000, time.Second), []string{"warning collections/1000 120,000 rows"}, ""},
		{"not full", large(11_000, 10*time.Minute), nil, ""},
		{"by the cluster's own proportion", func(w *world) {
			large(14_000, 10*time.Minute)(w)
			w.configure("dataCoord.segment.sealProportion", "0.5")
		}, nil, ""},
		{"its proportion is not told", func(w *world) {
			large(14_000, 10*time.Minute)(w)
			w.live("datacoord").Config = nil
		}, nil, "size or limit of 1 growing segment"},
		{"bytes of a streaming node", func(w *world) {
			large(9_000, time.Second)(w)
			w.Segments[4].Details = &model.SegmentDetails{Growing: &model.GrowingStat{Rows: 9000, Bytes: 200 << 20, MaxBytes: 128 << 20}}
		}, []string{"warning collections/1000 9,000 rows"}, ""},
		{"nobody says how large", func(w *world) {
			w.serve()
			w.grow(2900, 0, 40*time.Minute)
			w.query(nodeA).System = nil
		}, nil, "size or limit of 1 growing segment"},
	})
}

func TestBruteForceShare(t *testing.T) {
	bare := func(ago time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			for _, id := range []model.NodeID{nodeA, nodeB} {
				for i := range w.query(id).Distribution.Sealed {
					s := &w.query(id).Distribution.Sealed[i]
					s.Indexes, s.Version = nil, nanos(ago)
				}
			}
		}
	}
	hold(t, named("brute-force-share"), []verdict{
		{"sealed and bare for long", bare(time.Hour), []string{"warning collections/1000 100% of the search work is brute force, on 360,000 of 360,000 rows"}, ""},
		{"sealed and bare for a moment", bare(time.Minute), []string{"info collections/1000 while rows are inserted or indexed"}, ""},
		{"FLAT", func(w *world) { bare(time.Hour)(w); w.Indexes[0].Type = "FLAT" }, nil, ""},
		{"inserts under way", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 10*time.Minute)
			w.remembers(2900, 50_000, time.Second)
		}, []string{"info collections/1000 on 50,000 of 410,000 rows, while rows are inserted", "info nodes/querynode-4 of its search work is brute force"}, ""},
		{"inserts under way, of which the last sync has a part", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 20*time.Minute)
			w.remembers(2900, 20_000, time.Second)
		}, []string{"info collections/1000 on 50,000 of 410,000 rows, while rows are inserted", "info nodes/querynode-4 of its search work is brute force"}, ""},
		{"inserts under way into one, and another is left alone", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 20*time.Minute)
			w.remembers(2900, 20_000, time.Second)
			w.grow(2901, 50_000, 20*time.Minute)
			w.remembers(2901, 50_000, 5*time.Minute)
		}, []string{"warning collections/1000 on 100,000 of 460,000 rows; 50% of that will not go away on its own", "info nodes/querynode-4 of its search work is brute force"}, ""},
		{"inserts over", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 10*time.Minute)
			w.remembers(2900, 50_000, 5*time.Minute)
		}, []string{"warning collections/1000 100% of that will not go away on its own", "info nodes/querynode-4 of its search work"}, ""},
		{"inserts over, and others are handed over", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 10*time.Minute)
			w.remembers(2900, 50_000, 5*time.Minute)
			s := w.grow(2901, 50_000, 10*time.Minute)
			s.State, s.Rows, s.PositionAt, s.Indexes = model.SegmentFlushed, 50_000, back(5*time.Second), w.Segments[0].Indexes
			w.load(nodeB, s, 3*time.Second)
		}, []string{"warning collections/1000 on 50,000 of 460,000 rows; 100% of that will not go away on its own", "info nodes/querynode-4 of its search work"}, ""},
		{"inserts over, in two replicas", func(w *world) {
			w.serve()
			w.grow(2900, 50_000, 10*time.Minute)
			w.remembers(2900, 50_000, 5*time.Minute)
			w.serveTwice()
		}, []string{"warning collections/1000 on 50,000 of 410,000 rows; 100% of that will not go away on its own"}, ""},
		{"a little", func(w *world) {
			w.serve()
			w.grow(2900, 1000, 10*time.Minute)
			w.remembers(2900, 1000, 5*time.Minute)
		}, nil, ""},
	})
}

// serveTwice lets each of the two query nodes serve a replica of what both served: all segments, and all shards.
func (w *world) serveTwice() {
	w.LoadStates[0].Replicas = 2
	w.Replicas[0].Nodes = []model.NodeID{nodeA}
	w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{nodeB}})
	a, b := w.query(nodeA).Distribution, w.query(nodeB).Distribution
	sealed, leaders := slices.Concat(a.Sealed, b.Sealed), slices.Concat(a.Leaders, b.Leaders)
	for _, id := range []model.NodeID{nodeA, nodeB} {
		d := w.query(id).Distribution
		d.Sealed, d.Leaders = slices.Clone(sealed), slices.Clone(leaders)
		for i := range d.Leaders {
			d.Leaders[i].Sealed = slices.Clone(d.Leaders[i].Sealed)
			for k := range d.Leaders[i].Sealed {
				d.Leaders[i].Sealed[k].Node = id
			}
		}
	}
}
