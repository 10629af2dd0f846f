package rules_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
)

// small adds n flushed segments of few rows to one partition and channel.
func (w *world) small(n int, age time.Duration) []*model.Segment {
	var list []*model.Segment
	for i := range n {
		s := wellSegment(model.SegmentID(4000+i), wellCh0)
		s.Rows, s.Bytes = 100, 1000
		s.StartAt, s.PositionAt, s.ExpireAt = back(age), back(age), back(age)
		list = append(list, s)
	}
	w.Segments = append(w.Segments, list...)
	return list
}

func TestSmallSegments(t *testing.T) {
	hold(t, named("small-segments"), configured([]verdict{
		{"large ones", nil, nil, ""},
		{"a few", func(w *world) { w.small(10, 2*time.Hour) }, nil, ""},
		{"some", func(w *world) { w.small(11, 2*time.Hour) }, []string{"info collections/1000 11 segments of docs are small (1,100 rows in all) and could be 10 fewer"}, ""},
		{"many", func(w *world) { w.small(60, 2*time.Hour) }, []string{"warning collections/1000 60 segments of docs are small (6,000 rows in all) and could be 59 fewer"}, ""},
		{"many, not loaded", func(w *world) { w.small(60, 2*time.Hour); w.LoadStates = nil }, []string{"info collections/1000 60 segments of docs are small"}, ""},
		{"few rows that are large", func(w *world) {
			for _, s := range w.small(60, 2*time.Hour) {
				s.Logs = []model.FieldLogs{{Kind: model.InsertLog, MemoryBytes: 300 << 20}, {Kind: model.InsertLog, MemoryBytes: 250 << 20}}
			}
		}, nil, ""},
		{"few rows that are small", func(w *world) {
			for _, s := range w.small(60, 2*time.Hour) {
				s.Logs = []model.FieldLogs{{Kind: model.InsertLog, MemoryBytes: 10 << 20}}
			}
		}, []string{"warning collections/1000 60 segments of docs are small"}, ""},
		{"damaged counts", func(w *world) {
			for i, s := range w.small(60, 2*time.Hour) {
				s.Rows = []int64{math.MinInt64, -1, 0}[i%3]
			}
		}, []string{"warning collections/1000 60 segments of docs are small (0 rows in all) and could be 59 fewer"}, ""},
		{"young", func(w *world) { w.small(60, 50*time.Minute) }, nil, ""},
		{"just above half", func(w *world) {
			for _, s := range w.small(60, 2*time.Hour) {
				s.Rows = 50_000
			}
		}, nil, ""},
		{"in a partition each", func(w *world) {
			for i, s := range w.small(60, 2*time.Hour) {
				s.Partition = model.PartitionID(5000 + i)
			}
		}, nil, ""},
		{"two in each of many partitions", func(w *world) {
			for i, s := range w.small(60, 2*time.Hour) {
				s.Partition = model.PartitionID(5000 + i/2)
			}
		}, nil, ""},
		{"interleaved with another channel", func(w *world) {
			for i, s := range w.small(60, 2*time.Hour) {
				s.VChannel = []string{wellCh0, wellCh1}[i%2]
			}
		}, []string{"warning collections/1000 could be 58 fewer"}, ""},
		{"clustered ones are not merged", func(w *world) {
			for _, s := range w.small(60, 2*time.Hour) {
				s.Level = model.LevelL2
			}
		}, nil, ""},
		{"invisible, importing, L0 and growing ones", func(w *world) {
			for i, s := range w.small(60, 2*time.Hour) {
				s.Invisible, s.Importing = i%4 == 0, i%4 == 1
				if i%4 == 2 {
					s.Level = model.LevelL0
				}
				if i%4 == 3 {
					s.State = model.SegmentGrowing
				}
			}
		}, nil, ""},
		{"collection dropped", func(w *world) { w.small(60, 2*time.Hour); w.Collections[0].State = "Dropping" }, nil, ""},
		{"not read", func(w *world) { w.small(60, 2*time.Hour); w.Loaded &^= model.PartSegments }, nil, "could not be read"},
	}))
	hold(t, named("small-segments"), []verdict{{"processes were not asked", func(w *world) { w.small(10, 2*time.Hour) }, nil, "): the nodes were not asked"}})
	r := judged(t, named("small-segments"), func(w *world) {
		w.small(60, 2*time.Hour)
		w.Collections[0].Properties = []model.Pair{{Key: "collection.autocompaction.enabled", Value: "false"}}
	})
	if e := r.Findings[0].Evidence; e[len(e)-1].Name != "collection.autocompaction.enabled" || e[len(e)-1].Value != "false" {
		t.Errorf("the property that explains it is missing: %v", e)
	}
}

func TestDeleteHeavy(t *testing.T) {
	del := func(i int, n int64) func(*world) { return func(w *world) { w.segment(i).DeletedRows = n } }
	hold(t, named("delete-heavy"), []verdict{
		{"no deletes", nil, nil, ""},
		{"under a fifth", del(0, 18_000), nil, ""},
		{"over a fifth", del(0, 18_001), []string{"info collections/1000 1 segment of docs has up to 20% of 90,000 rows deleted"}, ""},
		{"half", del(0, 45_000), []string{"warning collections/1000 up to 50%"}, ""},
		{"a key deleted many times", del(0, 900_000), []string{"warning collections/1000 up to 100%"}, ""},
		{"just written", func(w *world) { del(0, 45_000)(w); w.segment(0).PositionAt = back(30 * time.Minute) }, nil, ""},
		{"a small part of the collection", func(w *world) {
			del(0, 45_000)(w)
			for _, s := range w.Segments[1:] {
				s.Rows = 1_000_000
			}
		}, nil, ""},
		{"half, not loaded", func(w *world) { del(0, 45_000)(w); w.LoadStates = nil }, []string{"info collections/1000 up to 50%"}, ""},
		{"half, of deletes that have just come", func(w *world) {
			del(0, 45_000)(w)
			w.Tasks = []*model.Task{{ID: 1, Type: "compaction", SubType: "Level0DeleteCompaction", State: "completed", Collection: wellColl, EndedAt: backT(10 * time.Minute)}}
		}, []string{"info collections/1000 up to 50%"}, ""},
		{"half, of deletes of long ago", func(w *world) {
			del(0, 45_000)(w)
			w.Tasks = []*model.Task{{ID: 1, Type: "compaction", SubType: "Level0DeleteCompaction", State: "completed", Collection: wellColl, EndedAt: backT(3 * time.Hour)}}
		}, []string{"warning collections/1000 up to 50%"}, ""},
		{"in L0 segments", func(w *world) { del(0, 45_000)(w); w.segment(0).Level = model.LevelL0 }, nil, ""},
		{"logs not read", func(w *world) { del(0, 45_000)(w); w.Loaded &^= model.PartLogs }, nil, "could not be read"},
	})
}

func TestL0Backlog(t *testing.T) {
	pile := func(n int, age time.Duration, deletes int64) func(*world) {
		return func(w *world) {
			for _, s := range w.small(n, age) {
				s.Level, s.Rows, s.DeletedRows, s.Partition = model.LevelL0, 0, deletes, -1
			}
		}
	}
	hold(t, named("l0-backlog"), []verdict{
		{"none", nil, nil, ""},
		{"some", pile(90, 2*time.Hour, 10), nil, ""},
		{"too many, of few deletes", pile(91, 2*time.Hour, 10), []string{"info vchannels/" + wellCh0 + " 91 L0 segments of docs on " + wellCh0 + " hold 910 deletes, the oldest for 2 h"}, ""},
		{"too many", pile(91, 2*time.Hour, 2000), []string{"warning vchannels/" + wellCh0 + " 91 L0 segments of docs on " + wellCh0 + " hold 182,000 deletes"}, ""},
		{"too many, not loaded", func(w *world) { pile(91, 2*time.Hour, 2000)(w); w.LoadStates = nil }, []string{"info vchannels/" + wellCh0 + " 91 L0 segments"}, ""},
		{"too many, young", pile(91, 30*time.Minute, 10), nil, ""},
		{"too large", pile(3, 2*time.Hour, 10_000_000), []string{"warning vchannels/" + wellCh0 + " 3 L0 segments"}, ""},
		{"collection gone", func(w *world) { pile(91, 2*time.Hour, 10)(w); w.Collections = nil }, nil, ""},
	})
}

func TestSegmentsInvisible(t *testing.T) {
	hide := func(w *world) { w.segment(0).Invisible = true }
	hold(t, named("segments-invisible"), []verdict{
		{"visible", nil, nil, ""},
		{"invisible", hide, []string{"warning collections/1000 1 flushed segment of docs with 90,000 rows is invisible"}, ""},
		{"young", func(w *world) { hide(w); w.segment(0).ExpireAt = back(30 * time.Minute) }, nil, ""},
		{"importing", func(w *world) { hide(w); w.segment(0).State = model.SegmentImporting }, nil, ""},
		{"dropped", func(w *world) { hide(w); w.segment(0).State = model.SegmentDropped }, nil, ""},
	})
}

func TestDroppedNotCollected(t *testing.T) {
	drop := func(n int, ago time.Duration) func(*world) {
		return func(w *world) {
			for _, s := range w.small(n, ago+time.Hour) {
				s.State, s.DroppedAt = model.SegmentDropped, back(ago)
			}
		}
	}
	hold(t, named("dropped-not-collected"), configured([]verdict{
		{"none dropped", nil, nil, ""},
		{"within the retention", drop(3, 26*time.Hour), nil, ""},
		{"past it", drop(3, 28*time.Hour), []string{"info / 3 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago"}, ""},
		{"past the retention that is told", func(w *world) {
			drop(3, 7*time.Hour)(w)
			w.asked()
			w.live("datacoord").Config.Values["datacoordgcdroptolerance"] = "10800"
		}, []string{"info / 3 dropped segments"}, ""},
		{"the collector is paused", func(w *world) {
			drop(3, 28*time.Hour)(w)
			w.asked().Collector = &model.GarbageCollector{Paused: true, Left: 50 * time.Minute, By: "mixcoord-1"}
		}, []string{"info / 3 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago; garbage collection is paused for another 50 min"}, ""},
		{"very many", drop(1000, 28*time.Hour), []string{"warning / 1,000 dropped segments"}, ""},
		{"without a time of dropping", func(w *world) {
			drop(2, 28*time.Hour)(w)
			w.Segments[len(w.Segments)-1].DroppedAt = 0
		}, []string{"info / 2 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago; 1 without a drop time"}, ""},
		{"a large collection dropped just now in 2.6", func(w *world) {
			drop(1500, 28*time.Hour)(w)
			for _, s := range w.Segments {
				s.DroppedAt = 0
			}
		}, []string{"info / 1,500 dropped segments have no drop time and may never be collected"}, ""},
		{"without any time", func(w *world) {
			drop(1, 28*time.Hour)(w)
			s := w.Segments[len(w.Segments)-1]
			s.DroppedAt, s.PositionAt, s.StartAt, s.ExpireAt = 0, 0, 0, 0
		}, nil, ""},
		{"no time of the state", func(w *world) { drop(3, 28*time.Hour)(w); w.now = time.Time{} }, nil, "time of the metadata is unknown"},
	}))
	for _, paused := range []bool{true, false} {
		f := judged(t, named("dropped-not-collected"), func(w *world) {
			drop(2, 28*time.Hour)(w)
			w.asked().Collector = &model.GarbageCollector{Paused: paused, Left: time.Hour, By: "mixcoord-1"}
		}).Findings[0]
		if told := strings.Contains(f.Message, "paused"); told != paused || (f.Evidence[len(f.Evidence)-1].Source == "mixcoord-1 /management/data_gc") != paused {
			t.Errorf("paused %v: %s, %v", paused, f.Message, f.Evidence)
		}
	}
	hold(t, named("dropped-not-collected"), []verdict{{"processes were not asked", drop(3, 26*time.Hour), nil, "): the nodes were not asked"}})
	r := judged(t, named("dropped-not-collected"), func(w *world) {
		drop(2, 28*time.Hour)(w)
		w.VChannels[0].Checkpoint.At = back(40 * time.Hour)
	})
	if e := r.Findings[0].Evidence; e[len(e)-1].Name != "with a checkpoint behind their last write" || e[len(e)-1].Value != "2" {
		t.Errorf("what holds the collector up is missing: %v", e)
	}
	if f := r.Findings[0]; !slices.ContainsFunc(f.Objects, func(o model.Ref) bool { return o.Resource == "vchannels" && o.ID == wellCh0 }) {
		t.Errorf("the channel that holds it up is not named: %v", f.Objects)
	}
}

func TestImportStuck(t *testing.T) {
	task := func(kind, state string, age time.Duration, node model.NodeID) func(*world) {
		return func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 7, Type: kind, State: state, Collection: wellColl, StartedAt: backT(age), Node: node, Trigger: 6})
		}
	}
	importing := func(w *world) { w.segment(0).State = model.SegmentImporting }
	hold(t, named("import-stuck"), []verdict{
		{"none", nil, nil, ""},
		{"waiting", task("import-job", "Pending", 20*time.Minute, 0), nil, ""},
		{"waiting for long", task("import-job", "Pending", 40*time.Minute, 0), []string{"warning tasks/import-job/7 import-job 7 into docs has been Pending for 40 min: it has not started"}, ""},
		{"at work", task("import-job", "Importing", 2*time.Hour, 0), nil, ""},
		{"at work for very long", task("import-job", "Importing", 13*time.Hour, 0), []string{"warning tasks/import-job/7 it is not finished"}, ""},
		{"at work for very long, and getting on", func(w *world) {
			task("import-job", "Importing", 13*time.Hour, 0)(w)
			w.Tasks = append(w.Tasks, &model.Task{ID: 8, Type: "import", State: "Completed", Collection: wellColl, Trigger: 7, EndedAt: backT(20 * time.Minute)})
		}, []string{"info tasks/import-job/7 it is not finished"}, ""},
		{"on a node that is gone", task("import", "InProgress", 10*time.Minute, 99), []string{"warning tasks/import/7 its node is gone"}, ""},
		{"on a node that is there", task("import", "InProgress", 10*time.Minute, 5), nil, ""},
		{"no data node is there", func(w *world) {
			task("import-job", "Importing", 10*time.Minute, 0)(w)
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Role == "datanode" })
		}, []string{"warning tasks/import-job/7 import-job 7 into docs has been Importing for 10 min: no data node is registered"}, ""},
		{"done", task("import-job", "Completed", 20*time.Hour, 0), nil, ""},
		{"failed is task-failed's", task("import-job", "Failed", 20*time.Hour, 0), nil, ""},
		{"without a time", func(w *world) { task("import-job", "Pending", 0, 0)(w); w.Tasks[0].StartedAt = time.Time{} }, nil, ""},
		{"of a collection that is gone", func(w *world) { task("import-job", "Pending", 40*time.Minute, 0)(w); w.Tasks[0].Collection = 9 }, nil, ""},
		{"segments left over", importing, []string{"warning collections/1000 1 segment of docs, 90,000 rows, is importing, but no import is under way"}, ""},
		{"segments of an import", func(w *world) { importing(w); task("import", "InProgress", 10*time.Minute, 5)(w) }, nil, ""},
		{"segments in 2.3, whose imports are not in etcd", func(w *world) { importing(w); w.Version.Text = "2.3.5" }, nil, ""},
		{"young segments", func(w *world) { importing(w); w.segment(0).PositionAt = back(30 * time.Minute) }, nil, ""},
		{"tasks not read", func(w *world) { importing(w); w.Loaded &^= model.PartTasks }, nil, "could not be read"},
	})
}

func TestCompactionStuck(t *testing.T) {
	task := func(state string, age time.Duration, node model.NodeID) func(*world) {
		return func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: int64(len(w.Tasks)) + 7, Type: "compaction", SubType: "MixCompaction", State: state, Collection: wellColl, StartedAt: backT(age), Node: node})
		}
	}
	hold(t, named("compaction-stuck"), []verdict{
		{"none", nil, nil, ""},
		{"at work", task("executing", 10*time.Minute, 5), nil, ""},
		{"for long", task("executing", 3*time.Hour, 5), []string{"warning collections/1000 1 compaction task of docs does not finish: the oldest, MixCompaction (executing), for 3 h on datanode-5"}, ""},
		{"queued for long", task("pipelining", 3*time.Hour, 0), []string{"warning collections/1000 (pipelining), for 3 h on no node"}, ""},
		{"on a node that is gone", task("executing", 10*time.Minute, 99), []string{"warning collections/1000 on node 99"}, ""},
		{"two are one finding", func(w *world) { task("executing", 3*time.Hour, 5)(w); task("executing", 4*time.Hour, 5)(w) }, []string{"warning collections/1000 2 compaction tasks of docs do not finish: the oldest, MixCompaction (executing), for 4 h"}, ""},
		{"done", task("completed", 30*time.Hour, 5), nil, ""},
		{"failed", task("failed", 30*time.Hour, 5), nil, ""},
		{"a long queue that moves", func(w *world) {
			task("pipelining", 3*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = backT(5 * time.Minute)
		}, []string{"info collections/1000 (pipelining), for 3 h on no node"}, ""},
		{"a queue that moves, and one task in it for days", func(w *world) {
			task("pipelining", 30*time.Hour, 0)(w)
			task("completed", 20*time.Minute, 5)(w)
			w.Tasks[1].EndedAt = backT(5 * time.Minute)
		}, []string{"warning collections/1000 (pipelining), for 30 h"}, ""},
		{"clustering takes hours", func(w *world) { task("analyzing", 5*time.Hour, 5)(w); w.Tasks[0].SubType = "ClusteringCompaction" }, nil, ""},
		{"clustering for very long", func(w *world) { task("indexing", 13*time.Hour, 5)(w); w.Tasks[0].SubType = "ClusteringCompaction" }, []string{"warning collections/1000 ClusteringCompaction (indexing), for 13 h"}, ""},
	})
}

func TestTaskFailed(t *testing.T) {
	task := func(kind, state, reason string, ended time.Time) func(*world) {
		return func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 7, Type: kind, State: state, Reason: reason, Collection: wellColl, EndedAt: ended})
		}
	}
	hold(t, named("task-failed"), []verdict{
		{"none", nil, nil, ""},
		{"import", task("import-job", "Failed", "file not found", backT(time.Hour)), []string{"warning tasks/import-job/7 1 import of docs failed: file not found"}, ""},
		{"import, long ago", task("import-job", "Failed", "file not found", backT(30*time.Hour)), []string{"info tasks/import-job/7 file not found"}, ""},
		{"compaction", task("compaction", "timeout", "", backT(time.Hour)), []string{"info tasks/compaction/7 no reason recorded"}, ""},
		{"stats", task("stats", "Failed", "boom", time.Time{}), []string{"warning tasks/stats/7 boom"}, ""},
		{"done", task("stats", "Finished", "", time.Time{}), nil, ""},
		{"an import and its tasks are one", func(w *world) {
			task("import-job", "Failed", "file not found", backT(time.Hour))(w)
			for _, kind := range []string{"preimport", "import"} {
				w.Tasks = append(w.Tasks, &model.Task{ID: 8, Type: kind, State: "Failed", Trigger: 7, Collection: wellColl})
			}
		}, []string{"warning tasks/import-job/7 file not found"}, ""},
		{"of no collection", func(w *world) { task("analyze", "Failed", "boom", backT(time.Hour))(w); w.Tasks[0].Collection = 0 }, []string{"warning tasks/analyze/7 1 analyze task failed: boom"}, ""},
		{"of a collection that is gone", func(w *world) { task("stats", "Failed", "boom", time.Time{})(w); w.Tasks[0].Collection = 9 }, nil, ""},
	})
}
