package rules_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// healthyShapes returns changes that make clusters as they run in production, all of them healthy.
func healthyShapes() map[string]func(*rulestest.World) {
	return map[string]func(*rulestest.World){
		"as it is": func(*rulestest.World) {},
		"many collections and databases": func(w *rulestest.World) {
			w.Databases = append(w.Databases, &model.Database{ID: 2, Name: "shop", State: "Created"})
			for i := range 400 {
				w.Collection(model.CollectionID(10_000+i), model.DatabaseID(1+i%2))
			}
		},
		"released": func(w *rulestest.World) { w.LoadStates, w.Replicas = nil, nil },
		"created a moment ago, and empty": func(w *rulestest.World) {
			x := w.Collection(9000, 1)
			x.CreatedAt = rulestest.TSOAgo(20 * time.Second)
			w.VChannels[len(w.VChannels)-1].Watched, w.VChannels[len(w.VChannels)-1].Checkpoint = false,
				model.Checkpoint{}
		},
		"a partition key with 64 partitions, and tenants of all sizes": func(w *rulestest.World) {
			w.Collections[0].Fields[2].PartitionKey = true
			w.Partitions, w.Segments = nil, nil
			for i := range 64 {
				id := model.PartitionID(5000 + i)
				w.Partitions = append(w.Partitions, &model.Partition{
					ID: id, Collection: rulestest.CollID, Name: fmt.Sprintf("_default_%d", i),
				})
				for shard, channel := range []string{rulestest.Channel0, rulestest.Channel1} {
					s := rulestest.HealthySegment(model.SegmentID(6000+2*i+shard), channel)
					s.Partition, s.Sorted, s.Rows = id, true, 20_000
					if i == 0 {
						s.Rows, s.MaxRows = 600_000, 1_000_000
					}
					w.Segments = append(w.Segments, s)
				}
			}
		},
		"at the limit of partitions by a partition key": func(w *rulestest.World) {
			w.Collections[0].Fields[2].PartitionKey = true
			for i := range 1023 {
				w.Partitions = append(w.Partitions, &model.Partition{
					ID: model.PartitionID(5000 + i), Collection: rulestest.CollID, Name: "p",
				})
			}
		},
		"rows expire": func(w *rulestest.World) {
			w.Collections[0].Properties = []model.Pair{{Key: "collection.ttl.seconds", Value: "3600"}}
			for _, s := range w.AddSmallSegments(30, 3*time.Hour) {
				s.State, s.DroppedAt = model.SegmentDropped, rulestest.TSOAgo(2*time.Hour)
			}
		},
		"a large import builds its indexes": func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 70, Type: "import-job", State: "IndexBuilding", Collection: rulestest.CollID,
				StartedAt: rulestest.TimeAgo(6 * time.Hour), Trigger: 70,
			})
			for i := range 20 {
				s := rulestest.HealthySegment(model.SegmentID(7000+i), rulestest.Channel0)
				s.Importing, s.Sorted, s.StartAt, s.PositionAt, s.ExpireAt = true, true, rulestest.TSOAgo(5*time.Hour),
					rulestest.TSOAgo(5*time.Hour), model.MaxTSO
				s.Indexes[0].State, s.Indexes[0].FinishedAt = model.IndexUnissued, time.Time{}
				if i > 10 {
					s.Indexes = nil
				}
				w.Segments = append(w.Segments, s)
			}
		},
		"an import at work": func(w *rulestest.World) {
			w.Tasks = append(w.Tasks,
				&model.Task{
					ID: 70, Type: "import-job", State: "Importing", Collection: rulestest.CollID,
					StartedAt: rulestest.TimeAgo(2 * time.Hour), Trigger: 70,
				},
				&model.Task{
					ID: 71, Type: "import", State: "InProgress", Collection: rulestest.CollID,
					StartedAt: rulestest.TimeAgo(2 * time.Hour), Node: 5, Trigger: 70,
				})
			s := rulestest.HealthySegment(7000, rulestest.Channel0)
			s.State, s.Rows, s.MaxRows, s.Indexes, s.ExpireAt = model.SegmentImporting, 0, 0, nil, model.MaxTSO
			w.Segments = append(w.Segments, s)
		},
		"deletes, compacted as they come": func(w *rulestest.World) {
			for i := range 12 {
				w.Segments = append(w.Segments, &model.Segment{
					ID: model.SegmentID(7000 + i), Collection: rulestest.CollID, Partition: -1,
					VChannel: rulestest.Channel0, State: model.SegmentFlushed, Level: model.LevelL0, DeletedRows: 900,
					StartAt:    rulestest.TSOAgo(time.Duration(i) * 10 * time.Minute),
					PositionAt: rulestest.TSOAgo(time.Duration(i) * 10 * time.Minute),
				})
			}
		},
		"rows that are much larger than their schema says": func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(200, 3*time.Hour) {
				s.Sorted, s.Rows = true, 20_000
				s.Logs = []model.FieldLogs{{Kind: model.InsertLog, Rows: s.Rows, MemoryBytes: 900 << 20}}
				s.Indexes = append([]model.SegmentIndex(nil), w.Segment(0).Indexes...)
			}
		},
		"all kinds of vectors and indexes": func(w *rulestest.World) { w.AddAllFieldTypes() },
		"a field that is not loaded and has no index": func(w *rulestest.World) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{
				ID: 110, Name: "later", Type: "FloatVector", Dim: 8,
			})
			w.LoadStates[0].Fields = []model.FieldID{100, rulestest.FieldID, 102}
		},
		"resource groups with a replica each": func(w *rulestest.World) {
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 3001, Collection: rulestest.CollID, ResourceGroup: "rg1", Nodes: []model.NodeID{14},
			})
			w.Replicas[0].Nodes = []model.NodeID{4}
			w.ResourceGroups[0].Nodes = []model.NodeID{4}
			w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{
				Name: "rg1", Nodes: []model.NodeID{14}, Requests: 1, Limits: 1, Capacity: 1,
			})
			if w.Version.Text < "2.6" {
				w.Another("querynode", 14)
			}
		},
		"a node stops": func(w *rulestest.World) {
			w.Sessions = append(w.Sessions, &model.Session{
				Node: 77, Role: "querynode", Address: "10.0.0.77:1", Version: "2.3.9", Stopping: true,
				IndexEngine: model.EngineRange{Current: 1},
			})
			w.Sessions = append(w.Sessions, &model.Session{
				Node: 78, Role: "indexnode", Address: "10.0.0.78:1", Version: "2.3.9", Stopping: true,
			})
			w.Segment(0).PositionAt, w.Segment(0).ExpireAt = rulestest.TSOAgo(5*time.Minute),
				rulestest.TSOAgo(5*time.Minute)
			w.Index(0).State, w.Index(0).Node, w.Index(0).FinishedAt = model.IndexInProgress, 78, time.Time{}
		},
		"dropped a moment ago": func(w *rulestest.World) {
			w.Collections[0].State = "Dropping"
			for _, s := range w.Segments {
				s.State = model.SegmentDropped
			}
		},
	}
}

// TestHealthyShapes checks that no check of metadata, configuration or tasks reports a warning for a healthy
// cluster.
func TestHealthyShapes(t *testing.T) {
	for version, base := range map[string]func(*rulestest.World){
		"2.4": func(*rulestest.World) {}, "2.6": rulestest.Modern,
	} {
		for name, shape := range healthyShapes() {
			w := rulestest.Healthy()
			base(w)
			shape(w)
			r := check.Run(w.Build(), w.Now, metadataChecks())
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

// TestUpgradeIsOneWarning checks that processes of two versions cause no other warning than mixed-versions.
func TestUpgradeIsOneWarning(t *testing.T) {
	w := rulestest.Healthy()
	rulestest.Modern(w)
	w.Version = model.Version{Text: "2.5.14", From: "sessions", Others: []string{"2.6.4"}}
	w.AddResponses()
	for i, s := range w.Sessions {
		if s.Role == "querynode" || s.Role == "datanode" || s.Role == "proxy" {
			s.Version = "2.5.14"
			w.Runtime.Nodes[i].System.Version = "2.5.14"
			w.Runtime.Nodes[i].Config.Values["queryNodex"] = "an older default"
		}
	}
	for _, f := range check.Run(w.Build(), w.Now, metadataChecks()).Findings {
		if f.Severity >= check.Warning && f.Check != "mixed-versions" {
			t.Errorf("%s: %s", f.Check, f.Message)
		}
	}
}

// TestDamagedFigures checks that impossible numbers, as in a damaged record, break no check and no figure.
func TestDamagedFigures(t *testing.T) {
	numbers := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	stamps := []model.TSO{0, 1, rulestest.TSOAgo(0), model.MaxTSO - 1, model.MaxTSO}
	for seed := range int64(300) {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		number := func() int64 { return numbers[r.IntN(len(numbers))] }
		stamp := func() model.TSO { return stamps[r.IntN(len(stamps))] }
		w := rulestest.Healthy()
		w.AddResponses()
		rulestest.Members(3, func(m []model.EtcdMember) {
			m[r.IntN(3)].DBSize, m[0].DBQuota, m[1].DBInUse = number(), number(), number()
		})(w)
		w.Etcd.Activity = &model.EtcdActivity{
			Over: time.Duration(number()), Revisions: number(), Hot: []model.KeyWrites{{Key: "x", Writes: number()}},
		}
		w.AddSmallSegments(20, 2*time.Hour)
		for i, s := range w.Segments {
			s.State, s.Level = model.SegmentState(r.IntN(model.SegmentStates)), model.SegmentLevel(r.IntN(4))
			s.Rows, s.MaxRows, s.DeletedRows, s.Bytes, s.IndexBytes = number(), number(), number(), number(), number()
			s.StartAt, s.PositionAt, s.ExpireAt, s.DroppedAt = stamp(), stamp(), stamp(), stamp()
			if i < 4 {
				s.Indexes[0].State, s.Indexes[0].Rows, s.Indexes[0].EngineVersion, s.Indexes[0].Node = model.IndexState(
					r.IntN(9),
				), number(), int32(number()), model.NodeID(number())
			}
		}
		for _, v := range w.VChannels {
			v.Checkpoint.At, v.Watcher = stamp(), model.NodeID(number())
		}
		w.Collections[0].Shards, w.Collections[0].CreatedAt = int(number()), stamp()
		w.Collections[0].Fields[1].Dim = number()
		w.ResourceGroups[0].Requests, w.ResourceGroups[0].Capacity = int32(number()), int32(number())
		w.Tasks = []*model.Task{
			{
				ID: number(), Type: "compaction", State: "executing", Collection: rulestest.CollID,
				StartedAt: stamp().Time(), Node: model.NodeID(number()),
			},
		}
		report := check.Run(w.Build(), w.Now, rules.All())
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
