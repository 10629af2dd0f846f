package rules_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

// modern makes the well cluster one of Milvus 2.6: one coordinator and its standby, streaming nodes with a query node inside
// of each, data nodes that build indexes, sorted segments.
func modern(w *world) {
	w.Version = model.Version{Text: "2.6.4", From: "sessions"}
	w.Sessions = nil
	for _, s := range []struct {
		role string
		id   model.NodeID
	}{{"mixcoord", 1}, {"mixcoord", 11}, {"proxy", 2}, {"proxy", 3}, {"querynode", 4}, {"querynode", 14}, {"datanode", 5}, {"datanode", 6}, {"streamingnode", 7}, {"querynode", 7}, {"streamingnode", 8}, {"querynode", 8}} {
		x := &model.Session{Node: s.id, Role: s.role, Address: fmt.Sprintf("10.0.0.%d:1", s.id), Version: "2.6.4", IndexEngine: engineOf(s.role), Standby: s.id == 11}
		if s.role == "querynode" && s.id < 14 && s.id > 4 {
			x.Labels = []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
		}
		w.Sessions = append(w.Sessions, x)
	}
	w.Streaming = &model.Streaming{Version: 1, ControlPChannel: "by-dev-rootcoord-dml_0"}
	for i, p := range w.PChannels {
		p.Streaming, p.State, p.Node, p.Term = true, "Assigned", model.NodeID(7+i%2), 1
	}
	for i, v := range w.VChannels {
		v.Watcher, v.WatchState, v.WatchedAt, v.State = model.NodeID(7+i%2), "Assigned", time.Time{}, "Normal"
		v.Checkpoint.Message = []byte("wp/12/4")
	}
	for _, s := range w.Segments {
		s.Sorted, s.ByStreaming, s.StorageVersion = true, true, 2
		s.Logs = []model.FieldLogs{{Kind: model.InsertLog, Field: 100, Files: 1, Rows: s.Rows, Bytes: s.Bytes, MemoryBytes: 2 * s.Bytes}}
	}
	w.Replicas[0].Nodes, w.Replicas[0].StreamingNodes = []model.NodeID{4, 14}, []model.NodeID{7, 8}
	w.ResourceGroups = []*model.ResourceGroup{{Name: facts.DefaultGroup, Capacity: 1000000, Nodes: []model.NodeID{4, 14}, Requests: 0, Limits: 1000000}}
	w.KeysByKind = map[string]int64{"collection": 1, "index": 1, "segment-index": 4, "collection-load": 1, "target": 1, "binlog": 4, "pchannel": 2, "streaming-version": 1, "stats-task": 2, "compaction-task": 4}
}

// healthyShapes are clusters as they run in production. None of them has anything wrong.
func healthyShapes() map[string]func(*world) {
	return map[string]func(*world){
		"as it is": func(*world) {},
		"many collections and databases": func(w *world) {
			w.Databases = append(w.Databases, &model.Database{ID: 2, Name: "shop", State: "Created"})
			for i := range 400 {
				w.collection(model.CollectionID(10_000+i), model.DatabaseID(1+i%2))
			}
		},
		"released": func(w *world) { w.LoadStates, w.Replicas = nil, nil },
		"created a moment ago, and empty": func(w *world) {
			x := w.collection(9000, 1)
			x.CreatedAt = back(20 * time.Second)
			w.VChannels[len(w.VChannels)-1].Watched, w.VChannels[len(w.VChannels)-1].Checkpoint = false, model.Checkpoint{}
		},
		"a partition key with 64 partitions, and tenants of all sizes": func(w *world) {
			w.Collections[0].Fields[2].PartitionKey = true
			w.Partitions, w.Segments = nil, nil
			for i := range 64 {
				id := model.PartitionID(5000 + i)
				w.Partitions = append(w.Partitions, &model.Partition{ID: id, Collection: wellColl, Name: fmt.Sprintf("_default_%d", i)})
				for shard, channel := range []string{wellCh0, wellCh1} {
					s := wellSegment(model.SegmentID(6000+2*i+shard), channel)
					s.Partition, s.Sorted, s.Rows = id, true, 20_000
					if i == 0 {
						s.Rows, s.MaxRows = 600_000, 1_000_000
					}
					w.Segments = append(w.Segments, s)
				}
			}
		},
		"at the limit of partitions by a partition key": func(w *world) {
			w.Collections[0].Fields[2].PartitionKey = true
			for i := range 1023 {
				w.Partitions = append(w.Partitions, &model.Partition{ID: model.PartitionID(5000 + i), Collection: wellColl, Name: "p"})
			}
		},
		"rows expire": func(w *world) {
			w.Collections[0].Properties = []model.Pair{{Key: "collection.ttl.seconds", Value: "3600"}}
			for _, s := range w.small(30, 3*time.Hour) {
				s.State, s.DroppedAt = model.SegmentDropped, back(2*time.Hour)
			}
		},
		"a large import builds its indexes": func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 70, Type: "import-job", State: "IndexBuilding", Collection: wellColl, StartedAt: backT(6 * time.Hour), Trigger: 70})
			for i := range 20 {
				s := wellSegment(model.SegmentID(7000+i), wellCh0)
				s.Importing, s.Sorted, s.StartAt, s.PositionAt, s.ExpireAt = true, true, back(5*time.Hour), back(5*time.Hour), model.MaxTSO
				s.Indexes[0].State, s.Indexes[0].FinishedAt = model.IndexUnissued, time.Time{}
				if i > 10 {
					s.Indexes = nil
				}
				w.Segments = append(w.Segments, s)
			}
		},
		"an import at work": func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 70, Type: "import-job", State: "Importing", Collection: wellColl, StartedAt: backT(2 * time.Hour), Trigger: 70},
				&model.Task{ID: 71, Type: "import", State: "InProgress", Collection: wellColl, StartedAt: backT(2 * time.Hour), Node: 5, Trigger: 70})
			s := wellSegment(7000, wellCh0)
			s.State, s.Rows, s.MaxRows, s.Indexes, s.ExpireAt = model.SegmentImporting, 0, 0, nil, model.MaxTSO
			w.Segments = append(w.Segments, s)
		},
		"deletes, compacted as they come": func(w *world) {
			for i := range 12 {
				w.Segments = append(w.Segments, &model.Segment{
					ID: model.SegmentID(7000 + i), Collection: wellColl, Partition: -1, VChannel: wellCh0, State: model.SegmentFlushed, Level: model.LevelL0, DeletedRows: 900,
					StartAt: back(time.Duration(i) * 10 * time.Minute), PositionAt: back(time.Duration(i) * 10 * time.Minute),
				})
			}
		},
		"rows that are much larger than their schema says": func(w *world) {
			for _, s := range w.small(200, 3*time.Hour) {
				s.Sorted, s.Rows = true, 20_000
				s.Logs = []model.FieldLogs{{Kind: model.InsertLog, Rows: s.Rows, MemoryBytes: 900 << 20}}
				s.Indexes = append([]model.SegmentIndex(nil), w.segment(0).Indexes...)
			}
		},
		"all kinds of vectors and indexes": func(w *world) { w.zoo() },
		"a field that is not loaded and has no index": func(w *world) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{ID: 110, Name: "later", Type: "FloatVector", Dim: 8})
			w.LoadStates[0].Fields = []model.FieldID{100, wellField, 102}
		},
		"resource groups with a replica each": func(w *world) {
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, ResourceGroup: "rg1", Nodes: []model.NodeID{14}})
			w.Replicas[0].Nodes = []model.NodeID{4}
			w.ResourceGroups[0].Nodes = []model.NodeID{4}
			w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{Name: "rg1", Nodes: []model.NodeID{14}, Requests: 1, Limits: 1, Capacity: 1})
			if w.Version.Text < "2.6" {
				w.another("querynode", 14)
			}
		},
		"a node stops": func(w *world) {
			w.Sessions = append(w.Sessions, &model.Session{Node: 77, Role: "querynode", Address: "10.0.0.77:1", Version: "2.3.9", Stopping: true, IndexEngine: model.EngineRange{Current: 1}})
			w.Sessions = append(w.Sessions, &model.Session{Node: 78, Role: "indexnode", Address: "10.0.0.78:1", Version: "2.3.9", Stopping: true})
			w.segment(0).PositionAt, w.segment(0).ExpireAt = back(5*time.Minute), back(5*time.Minute)
			w.index(0).State, w.index(0).Node, w.index(0).FinishedAt = model.IndexInProgress, 78, time.Time{}
		},
		"dropped a moment ago": func(w *world) {
			w.Collections[0].State = "Dropping"
			for _, s := range w.Segments {
				s.State = model.SegmentDropped
			}
		},
	}
}

// collection adds a collection of one shard, without rows, that is not loaded.
func (w *world) collection(id model.CollectionID, database model.DatabaseID) *model.Collection {
	channel := fmt.Sprintf("by-dev-rootcoord-dml_0_%dv0", id)
	x := &model.Collection{
		ID: id, Database: database, Name: fmt.Sprintf("c%d", id), State: "Created", Shards: 1, CreatedAt: back(48 * time.Hour), VChannels: []string{channel}, Layout: "2.2.9",
		Fields: []*model.Field{{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true}, {ID: 101, Name: "vec", Type: "FloatVector", Dim: 8}},
	}
	w.Collections = append(w.Collections, x)
	w.Partitions = append(w.Partitions, &model.Partition{ID: model.PartitionID(id) + 1_000_000, Collection: id, Name: "_default", State: "Created"})
	v := *w.VChannels[0]
	v.Name, v.Collection, v.Shard = channel, id, 0
	w.VChannels = append(w.VChannels, &v)
	return x
}

// zoo gives the collection a field of each type of vectors, each with an index that suits it.
func (w *world) zoo() {
	for i, x := range []struct{ kind, index, metric string }{
		{"SparseFloatVector", "SPARSE_INVERTED_INDEX", "BM25"},
		{"SparseFloatVector", "AUTOINDEX", "IP"},
		{"BinaryVector", "BIN_IVF_FLAT", "JACCARD"},
		{"BinaryVector", "MINHASH_LSH", "MHJACCARD"},
		{"Int8Vector", "HNSW", "COSINE"},
		{"Float16Vector", "DISKANN", "L2"},
		{"BFloat16Vector", "IVF_RABITQ", "IP"},
		{"FloatVector", "GPU_CAGRA", "L2"},
		{"FloatVector", "AUTOINDEX", "COSINE"},
		{"ArrayOfVector", "HNSW", "MAX_SIM_COSINE"},
		{"FloatVector", "FLAT", "L2"},
		{"JSON", "INVERTED", ""},
		{"JSON", "INVERTED", ""},
		{"VarChar", "NGRAM", ""},
		{"Int64", "STL_SORT", ""},
	} {
		field, id := model.FieldID(110+i), model.IndexID(1600+i)
		if i == 12 {
			field-- // a second path of the same JSON field
		}
		w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{ID: field, Name: fmt.Sprintf("f%d", i), Type: x.kind, FuncOutput: x.metric == "BM25", Dim: 8})
		w.Indexes = append(w.Indexes, &model.Index{ID: id, Collection: wellColl, Field: field, Name: fmt.Sprintf("i%d", i), Type: x.index, Metric: x.metric, CreatedAt: backT(40 * time.Hour), Layout: "2.2"})
		for _, s := range w.Segments {
			files := int32(1)
			if x.index == "FLAT" {
				files = 0
			}
			s.Indexes = append(s.Indexes, model.SegmentIndex{
				Segment: s.ID, Collection: wellColl, Partition: wellPart, Index: id, Build: model.BuildID(int64(s.ID)*100 + int64(i)), State: model.IndexFinished, Rows: s.Rows, Files: files,
				EngineVersion: 6, FinishedAt: backT(3 * time.Hour),
			})
		}
	}
	w.LoadStates[0].Indexes[112] = 1602
}

// TestHealthyShapes: no check of metadata, configuration or tasks raises an alarm of a cluster in which nothing is wrong.
func TestHealthyShapes(t *testing.T) {
	for version, base := range map[string]func(*world){"2.4": func(*world) {}, "2.6": modern} {
		for name, shape := range healthyShapes() {
			w := well()
			base(w)
			shape(w)
			r := check.Run(w.build(), w.now, metadataChecks())
			for _, f := range r.Findings {
				if f.Severity >= check.Warning {
					t.Errorf("%s, %s: %s: %s", version, name, f.Check, f.Message)
				}
			}
			for _, x := range r.Results {
				if x.Status == check.Broken {
					t.Errorf("%s, %s: %s broke: %s", version, name, x.Check.ID, x.Reason)
				}
			}
		}
	}
}

// TestUpgradeIsOneWarning: while processes of two versions run, that is what is said, and no more.
func TestUpgradeIsOneWarning(t *testing.T) {
	w := well()
	modern(w)
	w.Version = model.Version{Text: "2.5.14", From: "sessions", Others: []string{"2.6.4"}}
	w.asked()
	for i, s := range w.Sessions {
		if s.Role == "querynode" || s.Role == "datanode" || s.Role == "proxy" {
			s.Version = "2.5.14"
			w.runtime.Nodes[i].System.Version = "2.5.14"
			w.runtime.Nodes[i].Config.Values["queryNodex"] = "an older default"
		}
	}
	for _, f := range check.Run(w.build(), w.now, metadataChecks()).Findings {
		if f.Severity >= check.Warning && f.Check != "mixed-versions" {
			t.Errorf("%s: %s", f.Check, f.Message)
		}
	}
}

// TestDamagedFigures: numbers that cannot be, as a damaged record may have them, break no check and no figure.
func TestDamagedFigures(t *testing.T) {
	numbers := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	stamps := []model.TSO{0, 1, back(0), model.MaxTSO - 1, model.MaxTSO}
	for seed := range int64(300) {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		number := func() int64 { return numbers[r.IntN(len(numbers))] }
		stamp := func() model.TSO { return stamps[r.IntN(len(stamps))] }
		w := well()
		w.asked()
		members(3, func(m []model.EtcdMember) {
			m[r.IntN(3)].DBSize, m[0].DBQuota, m[1].DBInUse = number(), number(), number()
		})(w)
		w.Etcd.Activity = &model.EtcdActivity{Over: time.Duration(number()), Revisions: number(), Hot: []model.KeyWrites{{Key: "x", Writes: number()}}}
		w.small(20, 2*time.Hour)
		for i, s := range w.Segments {
			s.State, s.Level = model.SegmentState(r.IntN(model.SegmentStates)), model.SegmentLevel(r.IntN(4))
			s.Rows, s.MaxRows, s.DeletedRows, s.Bytes, s.IndexBytes = number(), number(), number(), number(), number()
			s.StartAt, s.PositionAt, s.ExpireAt, s.DroppedAt = stamp(), stamp(), stamp(), stamp()
			if i < 4 {
				s.Indexes[0].State, s.Indexes[0].Rows, s.Indexes[0].EngineVersion, s.Indexes[0].Node = model.IndexState(r.IntN(9)), number(), int32(number()), model.NodeID(number())
			}
		}
		for _, v := range w.VChannels {
			v.Checkpoint.At, v.Watcher = stamp(), model.NodeID(number())
		}
		w.Collections[0].Shards, w.Collections[0].CreatedAt = int(number()), stamp()
		w.Collections[0].Fields[1].Dim = number()
		w.ResourceGroups[0].Requests, w.ResourceGroups[0].Capacity = int32(number()), int32(number())
		w.Tasks = []*model.Task{{ID: number(), Type: "compaction", State: "executing", Collection: wellColl, StartedAt: stamp().Time(), Node: model.NodeID(number())}}
		report := check.Run(w.build(), w.now, rules.All())
		for _, x := range report.Results {
			if x.Status == check.Broken {
				t.Fatalf("seed %d: %s broke: %s", seed, x.Check.ID, x.Reason)
			}
		}
		for _, f := range report.Findings {
			if !(f.Cost >= 0 && f.Cost <= 1) {
				t.Fatalf("seed %d: %s costs %v", seed, f.Check, f.Cost)
			}
			if text := misprinted(f); text != "" {
				t.Fatalf("seed %d: %s: %q", seed, f.Check, text)
			}
		}
	}
}
