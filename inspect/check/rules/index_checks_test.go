package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
)

func TestIndexMissing(t *testing.T) {
	drop := func(w *world) { w.segment(0).Indexes = nil }
	hold(t, named("index-missing"), configured([]verdict{
		{"indexed", nil, nil, ""},
		{"no record", drop, []string{"warning indexes/1500 HNSW index vec_idx on docs.vec is missing on 1 flushed segment, 90,000 rows"}, ""},
		{"only a deleted record", func(w *world) { w.index(0).Deleted = true }, []string{"warning indexes/1500 1 flushed segment"}, ""},
		{"several segments are one finding", func(w *world) { drop(w); w.segment(1).Indexes = nil }, []string{"warning indexes/1500 2 flushed segments, 180,000 rows"}, ""},
		{"flat", func(w *world) { drop(w); w.Indexes[0].Type = "FLAT" }, nil, ""},
		{"few rows", func(w *world) { drop(w); w.segment(0).Rows = 1023 }, nil, ""},
		{"as many rows as needed", func(w *world) { drop(w); w.segment(0).Rows = 1024 }, []string{"warning indexes/1500 1,024 rows"}, ""},
		{"configured for more rows", func(w *world) {
			drop(w)
			w.Config = []*model.ConfigEntry{{Name: "indexCoord/segment/minSegmentNumRowsToEnableIndex", Value: "100000"}}
		}, nil, ""},
		{"just flushed", func(w *world) { drop(w); w.segment(0).PositionAt = back(9 * time.Minute) }, nil, ""},
		{"just compacted", func(w *world) { drop(w); w.segment(0).ExpireAt = back(9 * time.Minute) }, nil, ""},
		{"index just defined", func(w *world) { drop(w); w.Indexes[0].CreatedAt = backT(9 * time.Minute) }, nil, ""},
		{"of an import under way", func(w *world) { drop(w); w.segment(0).Importing = true }, nil, ""},
		{"sorting comes first in 2.5", func(w *world) {
			drop(w)
			w.Version.Text, w.segment(0).PositionAt = "2.5.4", back(20*time.Minute)
		}, nil, ""},
		{"sorting takes long in 2.5", func(w *world) {
			drop(w)
			w.Version.Text, w.segment(0).PositionAt = "2.5.4", back(40*time.Minute)
		}, []string{"warning indexes/1500 1 flushed segment"}, ""},
		{"sorted in 2.5", func(w *world) {
			drop(w)
			w.Version.Text, w.segment(0).PositionAt, w.segment(0).Sorted = "2.5.4", back(20*time.Minute), true
		}, []string{"warning indexes/1500 1 flushed segment"}, ""},
		{"growing", func(w *world) { drop(w); w.segment(0).State = model.SegmentGrowing }, nil, ""},
		{"L0", func(w *world) { drop(w); w.segment(0).Level = model.LevelL0 }, nil, ""},
		{"collection dropped", func(w *world) { drop(w); w.Collections[0].State = "Dropping" }, nil, ""},
		{"no time", func(w *world) { drop(w); w.now = time.Time{} }, nil, "time of the metadata is unknown"},
		{"scalar field", func(w *world) {
			w.Indexes = append(w.Indexes, &model.Index{ID: 1501, Collection: wellColl, Field: 102, Name: "tag_idx", Type: "INVERTED", CreatedAt: backT(time.Hour)})
		}, []string{"info indexes/1501 INVERTED index tag_idx on docs.tag is missing on 4 flushed segments"}, ""},
		{"index records not read", func(w *world) { drop(w); w.Loaded &^= model.PartSegmentIndexes }, nil, "could not be read"},
	}))
	r := judged(t, named("index-missing"), drop)
	if cost := r.Findings[0].Cost; cost < 0.5 || cost > 1 {
		t.Errorf("90,000 of 360,000 rows without an index cost %v of searches; the others are graphs, which compare few", cost)
	}
	if r := judged(t, named("index-missing"), func(w *world) { drop(w); w.LoadStates = nil }); r.Findings[0].Cost != 0 {
		t.Errorf("a collection that is not loaded costs searches %v", r.Findings[0].Cost)
	}
}

func TestIndexFailed(t *testing.T) {
	fail := func(w *world) { w.index(0).State, w.index(0).FailReason = model.IndexFailed, "no space left on device" }
	hold(t, named("index-failed"), configured([]verdict{
		{"finished", nil, nil, ""},
		{"failed", fail, []string{"error indexes/1500 failed on 1 segment, 90,000 rows: no space left on device"}, ""},
		{"without a reason", func(w *world) { w.index(0).State = model.IndexFailed }, []string{"error indexes/1500 no reason recorded"}, ""},
		{"of a field without vectors", func(w *world) { fail(w); w.Indexes[0].Field = 102 }, []string{"warning indexes/1500 docs.tag"}, ""},
		{"retried", func(w *world) { w.index(0).State = model.IndexRetry }, nil, ""},
		{"definition deleted", func(w *world) { fail(w); w.Indexes[0].Deleted = true }, nil, ""},
		{"segment dropped", func(w *world) { fail(w); w.segment(0).State = model.SegmentDropped }, nil, ""},
		{"flat", func(w *world) { fail(w); w.Indexes[0].Type = "FLAT" }, nil, ""},
		{"not read", func(w *world) { fail(w); w.Loaded &^= model.PartIndexes }, nil, "could not be read"},
	}))
}

func TestIndexStuck(t *testing.T) {
	wait := func(state model.IndexState, since time.Duration) func(*world) {
		return func(w *world) {
			w.index(0).State, w.index(0).FinishedAt = state, time.Time{}
			w.segment(0).PositionAt, w.segment(0).ExpireAt, w.segment(0).StartAt = back(since), back(since), back(since)
		}
	}
	and := func(f func(*world), more func(*world)) func(*world) { return func(w *world) { f(w); more(w) } }
	noBuilder := func(w *world) { w.Sessions = append(w.Sessions[:5:5], w.Sessions[6:]...) }
	hold(t, named("index-stuck"), configured([]verdict{
		{"finished", nil, nil, ""},
		{"in progress for long", wait(model.IndexInProgress, 40*time.Minute), []string{"warning indexes/1500 build unfinished on 1 segment, 90,000 rows, for up to 40 min"}, ""},
		{"unissued for long", wait(model.IndexUnissued, 40*time.Minute), []string{"warning indexes/1500 for up to 40 min"}, ""},
		{"tried again", wait(model.IndexRetry, 40*time.Minute), []string{"warning indexes/1500 for up to 40 min"}, ""},
		{"for a while", wait(model.IndexInProgress, 20*time.Minute), nil, ""},
		{"others of another index finish", and(wait(model.IndexUnissued, 40*time.Minute), func(w *world) {
			s := wellSegment(9000, "other")
			s.Collection, s.Indexes[0].Index, s.Indexes[0].FinishedAt = 7, 8, backT(time.Minute)
			w.Segments = append(w.Segments, s)
		}), []string{"info indexes/1500 for up to 40 min"}, ""},
		{"others finish, and this fails again and again", and(wait(model.IndexRetry, 40*time.Minute), func(w *world) {
			w.index(0).FailReason, w.index(1).FinishedAt = "out of memory", backT(time.Minute)
		}), []string{"warning indexes/1500 for up to 40 min"}, ""},
		{"others finish, for more than a day", and(wait(model.IndexUnissued, 30*time.Hour), func(w *world) { w.index(1).FinishedAt = backT(time.Minute) }), []string{"warning indexes/1500 for up to 30 h"}, ""},
		{"a queue before 2.5", and(wait(model.IndexUnissued, 2*time.Hour), func(w *world) {
			for i := range w.Segments {
				w.index(i).FinishedAt = time.Time{}
			}
			s := w.segment(1)
			s.PositionAt, s.ExpireAt, s.StartAt, w.index(1).State = back(2*time.Hour), back(2*time.Hour), back(2*time.Hour), model.IndexInProgress
		}), []string{"info indexes/1500 build unfinished on 2 segments, 180,000 rows, for up to 2 h"}, ""},
		{"nobody builds, before 2.5", and(wait(model.IndexUnissued, 2*time.Hour), func(w *world) {
			for i := range w.Segments {
				w.index(i).FinishedAt = time.Time{}
			}
		}), []string{"warning indexes/1500 for up to 2 h"}, ""},
		{"of an import under way", and(wait(model.IndexUnissued, 2*time.Hour), func(w *world) { w.segment(0).Importing = true }), nil, ""},
		{"of an import that began long ago", and(wait(model.IndexUnissued, 13*time.Hour), func(w *world) { w.segment(0).Importing = true }), []string{"warning indexes/1500 for up to 13 h"}, ""},
		{"on a node that stops", and(wait(model.IndexInProgress, 10*time.Minute), func(w *world) {
			w.another("indexnode", 16)
			w.index(0).Node, w.Sessions[len(w.Sessions)-1].Stopping = 16, true
		}), nil, ""},
		{"on a node that is gone", and(wait(model.IndexInProgress, 3*time.Minute), func(w *world) { w.index(0).Node = 99 }), []string{"warning indexes/1500 for up to 3 min"}, ""},
		{"on a node that has just gone", and(wait(model.IndexInProgress, time.Minute), func(w *world) { w.index(0).Node = 99 }), nil, ""},
		{"no index node", and(wait(model.IndexUnissued, 3*time.Minute), noBuilder), []string{"warning indexes/1500 no index node is registered"}, ""},
		{"stopped cluster", and(wait(model.IndexUnissued, 3*time.Minute), func(w *world) { w.Sessions = nil }), nil, ""},
		{"others finish", and(wait(model.IndexUnissued, 40*time.Minute), func(w *world) { w.index(1).FinishedAt = backT(time.Minute) }), []string{"info indexes/1500 for up to 40 min"}, ""},
		{"data nodes build from 2.6 on", and(wait(model.IndexInProgress, 3*time.Minute), func(w *world) {
			noBuilder(w)
			w.another("mixcoord", 20)
			w.index(0).Node = 5
		}), nil, ""},
		{"scalar field", and(wait(model.IndexUnissued, 40*time.Minute), func(w *world) { w.Indexes[0].Field = 102 }), []string{"info indexes/1500 docs.tag"}, ""},
		{"flat", and(wait(model.IndexUnissued, 40*time.Minute), func(w *world) { w.Indexes[0].Type = "BIN_FLAT" }), nil, ""},
		{"sessions not read", and(wait(model.IndexUnissued, 40*time.Minute), func(w *world) { w.Loaded &^= model.PartSessions }), nil, "could not be read"},
	}))
}

func TestIndexTooNew(t *testing.T) {
	hold(t, named("index-too-new"), []verdict{
		{"readable", nil, nil, ""},
		{"newer", func(w *world) { w.index(0).EngineVersion = 7 }, []string{"error collections/1000 1 segment of docs, 90,000 rows, has index files of version 7, but querynode-4 cannot read them: it reads 0 to 6"}, ""},
		{"older than a node reads", func(w *world) { w.Sessions[3].IndexEngine.Minimal = 7; w.Sessions[3].IndexEngine.Current = 8 }, []string{"error collections/1000 4 segments"}, ""},
		{"the node that cannot stops", func(w *world) {
			w.another("querynode", 14)
			w.Sessions[len(w.Sessions)-1].IndexEngine, w.Sessions[len(w.Sessions)-1].Stopping = model.EngineRange{Current: 5}, true
		}, nil, ""},
		{"a version that was asked for", func(w *world) {
			w.index(0).EngineVersion = 7
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/targetVecIndexVersion", Value: "7"}}
		}, []string{"warning collections/1000 but querynode-4 may be unable to read"}, ""},
		{"no files", func(w *world) { w.index(0).EngineVersion, w.index(0).Files = 7, 0 }, nil, ""},
		{"dropped segment", func(w *world) { w.index(0).EngineVersion, w.segment(0).State = 7, model.SegmentDropped }, nil, ""},
		{"nodes do not say", func(w *world) { w.index(0).EngineVersion, w.Sessions[3].IndexEngine = 7, model.EngineRange{} }, nil, "no query node reports"},
	})
}

func TestIndexMetric(t *testing.T) {
	hold(t, named("index-metric-mismatch"), []verdict{
		{"fits", nil, nil, ""},
		{"lower case fits", func(w *world) { w.Indexes[0].Metric = "cosine" }, nil, ""},
		{"unfit", func(w *world) { w.Indexes[0].Metric = "JACCARD" }, []string{"error indexes/1500 vec_idx on docs.vec: JACCARD does not exist for FloatVector"}, ""},
		{"binary", func(w *world) { w.Collections[0].Fields[1].Type = "BinaryVector" }, []string{"error indexes/1500 L2 does not exist for BinaryVector"}, ""},
		{"BM25 without a function", func(w *world) { w.Collections[0].Fields[1].Type, w.Indexes[0].Metric = "SparseFloatVector", "BM25" }, []string{"error indexes/1500 without a function"}, ""},
		{"BM25 of a function", func(w *world) {
			f := w.Collections[0].Fields[1]
			f.Type, f.FuncOutput, w.Indexes[0].Metric = "SparseFloatVector", true, "BM25"
		}, nil, ""},
		{"unknown type of field", func(w *world) { w.Collections[0].Fields[1].Type, w.Indexes[0].Metric = "ArrayOfVector", "MAX_SIM" }, nil, ""},
		{"not recorded", func(w *world) { w.Indexes[0].Metric = "" }, nil, ""},
		{"two metrics on one field", func(w *world) {
			w.Indexes = append(w.Indexes, &model.Index{ID: 1501, Collection: wellColl, Field: wellField, Name: "other", Type: "HNSW", Metric: "IP"})
		}, []string{"warning fields/1000/101 vec_idx (L2) and other (IP)"}, ""},
		{"the other is deleted", func(w *world) {
			w.Indexes = append(w.Indexes, &model.Index{ID: 1501, Collection: wellColl, Field: wellField, Name: "other", Metric: "IP", Deleted: true})
		}, nil, ""},
		{"loaded with an index that is gone", func(w *world) { w.LoadStates[0].Indexes[wellField] = 1400 }, []string{"warning collections/1000 docs is loaded with index 1400 on vec, but that no longer exists"}, ""},
	})
}

func TestIndexUnfit(t *testing.T) {
	grow := func(w *world, rows int64) {
		for _, s := range w.Segments {
			s.Rows = rows
		}
	}
	lists := func(kind, nlist string) func(*world) {
		return func(w *world) {
			w.Indexes[0].Type, w.Indexes[0].Params = kind, []model.Pair{{Key: "nlist", Value: nlist}}
		}
	}
	hold(t, named("index-unfit"), []verdict{
		{"graph", nil, nil, ""},
		{"flat and small", func(w *world) { w.Indexes[0].Type = "FLAT" }, nil, ""},
		{"flat and large", func(w *world) { w.Indexes[0].Type = "FLAT"; grow(w, 250_000) }, []string{"warning indexes/1500 docs.vec: FLAT index over 1,000,000 rows"}, ""},
		{"flat, large, not loaded", func(w *world) { w.Indexes[0].Type = "FLAT"; grow(w, 250_000); w.LoadStates = nil }, []string{"info indexes/1500 1,000,000 rows"}, ""},
		{"fair lists", lists("IVF_FLAT", "1024"), nil, ""},
		{"too many lists", lists("IVF_FLAT", "4096"), []string{"info indexes/1500 4,096 lists for at most 90,000 rows a segment: 22 rows a list"}, ""},
		{"too few lists", func(w *world) { lists("IVF_SQ8", "16")(w); grow(w, 1_000_000) }, []string{"info indexes/1500 16 lists for 1,000,000 rows"}, ""},
		{"few lists, small segments", lists("IVF_SQ8", "16"), nil, ""},
		{"lists not said", lists("IVF_SQ8", "many"), nil, ""},
	})
	if cost := judged(t, named("index-unfit"), func(w *world) { w.Indexes[0].Type = "FLAT"; grow(w, 250_000) }).Findings[0].Cost; cost != 1 {
		t.Errorf("the only collection is compared row by row and costs %v of searches", cost)
	}
}

func TestCollectionUnindexed(t *testing.T) {
	hold(t, named("collection-unindexed"), []verdict{
		{"indexed", nil, nil, ""},
		{"loaded without", func(w *world) { w.Indexes[0].Deleted = true }, []string{"warning collections/1000 docs.vec has no index over 360,000 rows"}, ""},
		{"not loaded", func(w *world) { w.Indexes, w.LoadStates = nil, nil }, []string{"info collections/1000 360,000 rows"}, ""},
		{"few rows", func(w *world) { w.Indexes, w.Segments = nil, w.Segments[:1] }, nil, ""},
		{"a second field that is not loaded", func(w *world) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{ID: 103, Name: "spare", Type: "SparseFloatVector"})
			w.LoadStates[0].Fields = []model.FieldID{100, wellField, 102}
		}, []string{"info collections/1000 docs.spare has no index over 360,000 rows"}, ""},
		{"a second field that is loaded", func(w *world) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{ID: 103, Name: "spare", Type: "SparseFloatVector"})
		}, []string{"warning collections/1000 docs.spare"}, ""},
		{"2.1 searches without", func(w *world) { w.Indexes, w.Version.Text = nil, "2.1" }, []string{"info collections/1000 360,000 rows"}, ""},
		{"only an index on another field", func(w *world) { w.Indexes[0].Field = 102 }, []string{"warning collections/1000 docs.vec"}, ""},
		{"dropped", func(w *world) { w.Indexes, w.Collections[0].State = nil, "Dropped" }, nil, ""},
	})
}
