// Package rulestest provides a small healthy cluster for the tests of checks to change, and compares the results of
// checks with expected ones.
package rulestest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// World is a cluster that can be changed before it is built.
type World struct {
	model.Parts
	Runtime *model.RuntimeParts
	Storage *model.Storage
	Now     time.Time
}

// IDs of the small cluster.
const (
	CollID   = model.CollectionID(1000)
	PartID   = model.PartitionID(1001)
	IndexID  = model.IndexID(1500)
	FieldID  = model.FieldID(101)
	Channel0 = "by-dev-rootcoord-dml_0_1000v0"
	Channel1 = "by-dev-rootcoord-dml_1_1000v1"
)

// TSOAgo returns the timestamp of d before the cluster was read.
func TSOAgo(d time.Duration) model.TSO { return model.TSOFromTime(modeltest.Now.Add(-d)) }

// TimeAgo returns the time d before the cluster was read.
func TimeAgo(d time.Duration) time.Time { return modeltest.Now.Add(-d) }

// Healthy returns a healthy cluster: a loaded collection of two shards with four indexed segments, one session of each
// role, Milvus 2.4.5.
func Healthy() *World {
	w := &World{Now: modeltest.Now}
	w.Origin = model.Origin{Kind: "etcd-snapshot", Root: "by-dev", MetaPath: "meta", Taken: modeltest.Now}
	w.Loaded = model.PartAll
	w.Version = model.Version{Text: "2.4.5", From: "sessions"}
	w.Databases = []*model.Database{{ID: 1, Name: "default", State: "Created"}}
	w.Collections = []*model.Collection{{
		ID: CollID, Database: 1, Name: "docs", State: "Created", Shards: 2, CreatedAt: TSOAgo(48 * time.Hour),
		VChannels: []string{Channel0, Channel1}, Layout: "2.2.9",
		Fields: []*model.Field{
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true},
			{ID: FieldID, Name: "vec", Type: "FloatVector", Dim: 128},
			{ID: 102, Name: "tag", Type: "VarChar"},
		},
	}}
	w.Partitions = []*model.Partition{{ID: PartID, Collection: CollID, Name: "_default", State: "Created"}}
	w.Indexes = []*model.Index{{
		ID: IndexID, Collection: CollID, Field: FieldID, Name: "vec_idx", Type: "HNSW", Metric: "L2",
		CreatedAt: TimeAgo(47 * time.Hour), Layout: "2.2",
	}}
	for i := range 4 {
		w.Segments = append(w.Segments, HealthySegment(model.SegmentID(2000+i), []string{Channel0, Channel1}[i%2]))
	}
	for i, name := range []string{Channel0, Channel1} {
		w.VChannels = append(w.VChannels, &model.VChannel{
			Name: name, PChannel: fmt.Sprintf("by-dev-rootcoord-dml_%d", i), Collection: CollID, Shard: i,
			Watched: true, Watcher: 5, WatchState: "WatchSuccess", WatchedAt: TimeAgo(40 * time.Hour),
			Checkpoint: model.Checkpoint{At: TSOAgo(30 * time.Second), Message: []byte{0x88, 0x13, 0, 0, 0, 0, 0, 0}},
			Removal:    "non-removed",
		})
		w.PChannels = append(w.PChannels, &model.PChannel{Name: fmt.Sprintf("by-dev-rootcoord-dml_%d", i)})
	}
	w.LoadStates = []*model.LoadState{
		{
			Collection: CollID, Status: "Loaded", Percent: new(int32(100)), Replicas: 1,
			Indexes: map[model.FieldID]model.IndexID{FieldID: IndexID}, Key: "load/1000",
		},
	}
	w.Replicas = []*model.Replica{
		{ID: 3000, Collection: CollID, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{4}},
	}
	w.ResourceGroups = []*model.ResourceGroup{
		{Name: facts.DefaultGroup, Capacity: 1000000, Nodes: []model.NodeID{4}, Requests: -1, Limits: -1},
	}
	for i, role := range []string{
		"rootcoord", "datacoord", "querycoord", "querynode", "datanode", "indexnode", "proxy",
	} {
		w.Sessions = append(w.Sessions, &model.Session{
			Node: model.NodeID(i + 1), Role: role, Address: fmt.Sprintf("10.0.0.%d:1", i+1), Version: "2.4.5",
			IndexEngine: EngineOf(role),
		})
	}
	w.Allocators = []*model.Allocator{{Name: "gid/timestamp", At: modeltest.Now}}
	w.KeysByKind = map[string]int64{
		"collection": 1, "index": 1, "segment-index": 4, "collection-load": 1, "target": 1, "binlog": 4,
	}
	w.Keys = 20
	return w
}

// EngineOf returns the range of index file versions that a session of a role reports.
func EngineOf(role string) model.EngineRange {
	if role == "querynode" {
		return model.EngineRange{Minimal: 0, Current: 6}
	}
	return model.EngineRange{}
}

// HealthySegment returns a segment that was flushed four hours ago, with an index finished three hours ago.
func HealthySegment(id model.SegmentID, channel string) *model.Segment {
	return &model.Segment{
		ID: id, Collection: CollID, Partition: PartID, VChannel: channel, State: model.SegmentFlushed,
		Level: model.LevelL1, Rows: 90_000, MaxRows: 100_000, Bytes: 50 << 20,
		StartAt: TSOAgo(5 * time.Hour), PositionAt: TSOAgo(4 * time.Hour), ExpireAt: TSOAgo(4 * time.Hour),
		Logs: []model.FieldLogs{{Kind: model.InsertLog, Field: 100, Files: 1, Rows: 90_000, Bytes: 50 << 20}},
		Indexes: []model.SegmentIndex{{
			Segment: id, Collection: CollID, Partition: PartID, Index: IndexID, Build: model.BuildID(id + 5000),
			State: model.IndexFinished, Rows: 90_000, Files: 3, Node: 6,
			EngineVersion: 6, CreatedAt: TimeAgo(4 * time.Hour), FinishedAt: TimeAgo(3 * time.Hour),
		}},
	}
}

// Segment returns the i-th segment.
func (w *World) Segment(i int) *model.Segment { return w.Segments[i] }

// Index returns the first index record of the i-th segment.
func (w *World) Index(i int) *model.SegmentIndex { return &w.Segments[i].Indexes[0] }

// AddResponses adds a response of every process, with an empty configuration.
func (w *World) AddResponses() *model.RuntimeParts {
	if w.Runtime != nil {
		return w.Runtime
	}
	w.Runtime = &model.RuntimeParts{Kind: "live", From: modeltest.Now.Add(-time.Second), To: modeltest.Now}
	for _, s := range w.Sessions {
		w.Runtime.Nodes = append(w.Runtime.Nodes, &model.LiveNode{
			Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered,
			Config: &model.Config{Values: map[string]string{}, Names: map[string]string{}},
			System: &model.System{Name: s.Name(), CPUs: 8, Version: "2.4.5", BuildTime: "Monday"},
		})
	}
	return w.Runtime
}

// Live returns the response of a role.
func (w *World) Live(role string) *model.LiveNode {
	i := slices.IndexFunc(w.AddResponses().Nodes, func(n *model.LiveNode) bool { return n.Role == role })
	return w.Runtime.Nodes[i]
}

// Another adds a session of a role, and its response if processes were asked.
func (w *World) Another(role string, id model.NodeID) *model.LiveNode {
	s := &model.Session{
		Node: id, Role: role, Address: fmt.Sprintf("10.0.0.%d:1", id), Version: "2.4.5", IndexEngine: EngineOf(role),
	}
	w.Sessions = append(w.Sessions, s)
	n := &model.LiveNode{
		Role: role, Node: id, Address: s.Address, Outcome: model.Answered,
		Config: &model.Config{Values: map[string]string{}, Names: map[string]string{}},
		System: &model.System{CPUs: 8, Version: "2.4.5", BuildTime: "Monday"},
	}
	if w.Runtime != nil {
		w.Runtime.Nodes = append(w.Runtime.Nodes, n)
	}
	return n
}

// Build returns the cluster.
func (w *World) Build() *model.Cluster {
	c := model.Build(w.Parts)
	if w.Runtime != nil {
		c = c.WithRuntime(model.BuildRuntime(*w.Runtime))
	}
	if w.Storage != nil {
		c = c.WithStorage(w.Storage)
	}
	return c
}

// RunCheck runs one check on a changed world.
func RunCheck(t *testing.T, x *check.Check, change func(*World)) *check.Result {
	t.Helper()
	w := Healthy()
	if change != nil {
		change(w)
	}
	r := check.Run(w.Build(), w.Now, []*check.Check{x})
	if r.Results[0].Status == check.Broken {
		t.Fatalf("%s broke: %s", x.ID, r.Results[0].Reason)
	}
	return r.Results[0]
}

// ByID returns the check with an id. It panics if there is none.
func ByID(id string) *check.Check {
	x := check.Find(rules.All(), id)
	if x == nil {
		panic("no such check: " + id)
	}
	return x
}

// KeysOf returns the keys of findings.
func KeysOf(list []*check.Finding) []string {
	keys := []string{}
	for _, f := range list {
		keys = append(keys, f.Key())
	}
	return keys
}

// Case is a change of the healthy cluster and the expected result of a check. Want holds "severity resource/id
// words of the message"; if it is empty, the check must be ok. Skipped is a part of the reason of a skipped check.
// Advice is a part of the fix of each finding.
type Case struct {
	Name    string
	Change  func(*World)
	Want    []string
	Skipped string
	Advice  string
}

// RunCases runs a check on cases. Every finding must be complete: evidence, impact, fix.
func RunCases(t *testing.T, x *check.Check, cases []Case) {
	t.Helper()
	for _, v := range cases {
		t.Run(x.ID+"/"+v.Name, func(t *testing.T) {
			result := RunCheck(t, x, v.Change)
			if v.Skipped != "" {
				if result.Status != check.Skipped || !strings.Contains(result.Reason, v.Skipped) {
					t.Fatalf("%s %q, want skipped: %q", result.Status, result.Reason, v.Skipped)
				}
				return
			}
			CompareFindings(t, x, result, v.Want)
			for _, f := range result.Findings {
				if !strings.Contains(f.Advice(), v.Advice) {
					t.Errorf("%s: advises %q, want %q", f.Message, f.Advice(), v.Advice)
				}
			}
		})
	}
}

// Configured changes the cases so that every process reports an empty configuration: each setting has its default.
func Configured(cases []Case) []Case {
	for i := range cases {
		change := cases[i].Change
		cases[i].Change = func(w *World) {
			w.AddResponses()
			if change != nil {
				change(w)
			}
		}
	}
	return cases
}

// CompareFindings compares the findings of a check with "severity resource/id words of the message". Each finding must
// be complete.
func CompareFindings(t *testing.T, x *check.Check, result *check.Result, want []string) {
	t.Helper()
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%s %s/%s %s", f.Severity, f.Object.Resource, f.Object.ID, f.Message))
		if len(f.Evidence) == 0 || f.Impact == "" || len(f.Steps()) == 0 || f.Severity > x.Severity || f.Cost < 0 ||
			f.Cost > 1 {
			t.Errorf("incomplete finding: %+v", f)
		}
		for _, e := range f.Evidence {
			if e.Name == "" {
				t.Errorf("evidence without a name: %+v", f)
			}
		}
	}
	seen := make(map[string]bool)
	for _, f := range result.Findings {
		if seen[f.Key()] {
			t.Errorf("two findings with key %s", f.Key())
		}
		seen[f.Key()] = true
	}
	for i := range want {
		if i < len(got) && ContainsWords(got[i], want[i]) {
			got[i] = want[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status %s %s %v (-want +got):\n%s", result.Status, result.Reason, result.Unseen, diff)
	}
	if len(want) == 0 && result.Status != check.OK {
		t.Errorf("status %s: %s", result.Status, result.Reason)
	}
}

// ContainsWords reports whether text begins with the first two words of pattern and contains the rest.
func ContainsWords(text, pattern string) bool {
	parts := strings.SplitN(pattern, " ", 3)
	head := strings.Join(parts[:2], " ") + " "
	return strings.HasPrefix(text, head) && (len(parts) < 3 || strings.Contains(text, parts[2]))
}

// Modern changes the healthy cluster to Milvus 2.6: one coordinator and its standby, streaming nodes with an
// embedded query node each, data nodes that build indexes, sorted segments.
func Modern(w *World) {
	w.Version = model.Version{Text: "2.6.4", From: "sessions"}
	w.Sessions = nil
	for _, s := range []struct {
		Role string
		ID   model.NodeID
	}{
		{"mixcoord", 1},
		{"mixcoord", 11},
		{"proxy", 2},
		{"proxy", 3},
		{"querynode", 4},
		{"querynode", 14},
		{"datanode", 5},
		{"datanode", 6},
		{"streamingnode", 7},
		{"querynode", 7},
		{"streamingnode", 8},
		{"querynode", 8},
	} {
		x := &model.Session{
			Node: s.ID, Role: s.Role, Address: fmt.Sprintf("10.0.0.%d:1", s.ID), Version: "2.6.4",
			IndexEngine: EngineOf(s.Role), Standby: s.ID == 11,
		}
		if s.Role == "querynode" && s.ID < 14 && s.ID > 4 {
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
		s.Logs = []model.FieldLogs{
			{Kind: model.InsertLog, Field: 100, Files: 1, Rows: s.Rows, Bytes: s.Bytes, MemoryBytes: 2 * s.Bytes},
		}
	}
	w.Replicas[0].Nodes, w.Replicas[0].StreamingNodes = []model.NodeID{4, 14}, []model.NodeID{7, 8}
	w.ResourceGroups = []*model.ResourceGroup{
		{Name: facts.DefaultGroup, Capacity: 1000000, Nodes: []model.NodeID{4, 14}, Requests: 0, Limits: 1000000},
	}
	w.KeysByKind = map[string]int64{
		"collection": 1, "index": 1, "segment-index": 4, "collection-load": 1, "target": 1, "binlog": 4, "pchannel": 2,
		"streaming-version": 1, "stats-task": 2, "compaction-task": 4,
	}
}

// Collection adds a collection of one shard, without rows, that is not loaded.
func (w *World) Collection(id model.CollectionID, database model.DatabaseID) *model.Collection {
	channel := fmt.Sprintf("by-dev-rootcoord-dml_0_%dv0", id)
	x := &model.Collection{
		ID: id, Database: database, Name: fmt.Sprintf("c%d", id), State: "Created", Shards: 1,
		CreatedAt: TSOAgo(48 * time.Hour), VChannels: []string{channel}, Layout: "2.2.9",
		Fields: []*model.Field{
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true}, {ID: 101, Name: "vec", Type: "FloatVector", Dim: 8},
		},
	}
	w.Collections = append(w.Collections, x)
	w.Partitions = append(w.Partitions, &model.Partition{
		ID: model.PartitionID(id) + 1_000_000, Collection: id, Name: "_default", State: "Created",
	})
	v := *w.VChannels[0]
	v.Name, v.Collection, v.Shard = channel, id, 0
	w.VChannels = append(w.VChannels, &v)
	return x
}

// AddAllFieldTypes adds fields of all vector types and some scalar types to the collection, each with a suitable index.
func (w *World) AddAllFieldTypes() {
	for i, x := range []struct{ Kind, Index, Metric string }{
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
		w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{
			ID: field, Name: fmt.Sprintf("f%d", i), Type: x.Kind, FuncOutput: x.Metric == "BM25", Dim: 8,
		})
		w.Indexes = append(w.Indexes, &model.Index{
			ID: id, Collection: CollID, Field: field, Name: fmt.Sprintf("i%d", i), Type: x.Index, Metric: x.Metric,
			CreatedAt: TimeAgo(40 * time.Hour), Layout: "2.2",
		})
		for _, s := range w.Segments {
			files := int32(1)
			if x.Index == "FLAT" {
				files = 0
			}
			s.Indexes = append(s.Indexes, model.SegmentIndex{
				Segment: s.ID, Collection: CollID, Partition: PartID, Index: id,
				Build: model.BuildID(int64(s.ID)*100 + int64(i)), State: model.IndexFinished, Rows: s.Rows,
				Files:         files,
				EngineVersion: 6, FinishedAt: TimeAgo(3 * time.Hour),
			})
		}
	}
	w.LoadStates[0].Indexes[112] = 1602
}

// AddSmallSegments adds n flushed segments of few rows to one partition and channel.
func (w *World) AddSmallSegments(n int, age time.Duration) []*model.Segment {
	var list []*model.Segment
	for i := range n {
		s := HealthySegment(model.SegmentID(4000+i), Channel0)
		s.Rows, s.Bytes = 100, 1000
		s.StartAt, s.PositionAt, s.ExpireAt = TSOAgo(age), TSOAgo(age), TSOAgo(age)
		list = append(list, s)
	}
	w.Segments = append(w.Segments, list...)
	return list
}

// AddLaggingCollections adds n collections with a channel each. All channels are consumed by one node and are behind by
// age.
func (w *World) AddLaggingCollections(n int, age time.Duration) {
	for i := range n {
		id := model.CollectionID(7000 + i)
		name := fmt.Sprintf("by-dev-rootcoord-dml_2_%dv0", id)
		w.Collections = append(w.Collections, &model.Collection{
			ID: id, Database: 1, Name: fmt.Sprintf("c%d", i), State: "Created", VChannels: []string{name},
			CreatedAt: TSOAgo(48 * time.Hour),
		})
		w.VChannels = append(w.VChannels, &model.VChannel{
			Name: name, PChannel: "by-dev-rootcoord-dml_2", Collection: id, Watched: true, Watcher: 5,
			WatchState: "WatchSuccess", Checkpoint: model.Checkpoint{At: TSOAgo(age)},
		})
	}
}

// Members returns a change that adds an etcd of n members, the first of them the leader, and then applies change.
func Members(n int, change func([]model.EtcdMember)) func(*World) {
	return func(w *World) {
		w.Etcd = &model.Etcd{At: modeltest.Now}
		for i := range n {
			w.Etcd.Members = append(w.Etcd.Members, model.EtcdMember{
				Name: []string{"a", "b", "c"}[i], Endpoint: "e:" + model.NodeID(i).String(), Leader: i == 0,
				DBSize: 100 << 20, DBInUse: 90 << 20, DBQuota: 2 << 30,
			})
		}
		if change != nil {
			change(w.Etcd.Members)
		}
	}
}

// AddUnservedSegment adds a flushed segment of the first shard that DataCoord wants served but no node serves yet.
func (w *World) AddUnservedSegment(id model.SegmentID, flushed time.Duration) *model.Segment {
	s := HealthySegment(id, Channel0)
	s.PositionAt = TSOAgo(flushed)
	w.Segments = append(w.Segments, s)
	w.Recovery(Channel0).Flushed = append(w.Recovery(Channel0).Flushed, id)
	return s
}

// Offset makes the cluster one that was read live by a machine whose clock is ahead.
func (w *World) Offset(ahead time.Duration) {
	w.Origin.Kind, w.Origin.ByClock = "etcd", true
	w.Now = modeltest.Now.Add(ahead)
	w.Origin.Taken = w.Now
	w.Runtime.From, w.Runtime.To = w.Runtime.From.Add(ahead), w.Runtime.To.Add(ahead)
}

// SetConfig sets a setting in the configuration of processes.
func (w *World) SetConfig(key, value string, nodes ...*model.LiveNode) {
	w.AddResponses()
	for _, n := range nodes {
		n.Config.Values[model.FoldConfigKey(key)] = value
	}
}

// SilenceAll removes all responses of processes.
func (w *World) SilenceAll(o model.Outcome) {
	for _, n := range w.Runtime.Nodes {
		n.Distribution, n.System, n.Config, n.Outcome, n.Reason = nil, nil, nil, o, "set by the test"
	}
}

// FactsOf returns the facts of a cluster whose query node reports a configuration.
func FactsOf(settings map[string]string) *facts.Facts {
	config := &model.Config{Values: make(map[string]string), Names: make(map[string]string)}
	for key, value := range settings {
		config.Values[model.FoldConfigKey(key)], config.Names[model.FoldConfigKey(key)] = value, key
	}
	node := &model.LiveNode{Role: "querynode", Node: 1, Config: config}
	c := model.Build(model.Parts{Loaded: model.PartAll}).
		WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{node}}))
	return &facts.Facts{Cluster: c}
}

// Capture returns a cluster decoded from a captured etcd: a folder of testdata/snapshots at the root of the module.
func Capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	return capturedtest.Cluster(t, meta.Want{Parts: model.PartAll}, root, "testdata", "snapshots", name,
		capturedtest.Snapshot)
}

// Spread returns a scene of query nodes 11, 12 and so on, which serve the given numbers of segments of one
// collection.
func Spread(autoBalance string, segments ...int) *Scene {
	nodes, share := make([]model.NodeID, len(segments)), map[model.NodeID]int{}
	for i, n := range segments {
		nodes[i] = model.NodeID(11 + i)
		share[nodes[i]] = n
	}
	s := NewScene(autoBalance, nodes...)
	s.Load(7, "rg", share)
	return s
}

// Dynamic sets dynamic keys in etcd to false.
func (s *Scene) Dynamic(keys ...string) *Scene {
	for _, key := range keys {
		s.Parts.Config = append(s.Parts.Config, &model.ConfigEntry{Name: key, Value: "false"})
	}
	return s
}

// RepeatedRun is a live cluster that is checked repeatedly.
type RepeatedRun struct {
	*rand.Rand
	Judge check.Judge
	// Random is set if writes arrive at random. Otherwise they come in equal steps.
	Random    bool
	Remainder float64 // fraction of a write carried over from the previous window
}

// WatchWindow is the length of each window in which Run watches etcd.
const WatchWindow = 1500 * time.Millisecond

// Writes returns the number of writes in one window at a rate per second.
func (l *RepeatedRun) Writes(rate float64) int64 {
	mean := rate * WatchWindow.Seconds()
	if !l.Random {
		n := math.Floor(mean + l.Remainder)
		l.Remainder += mean - n
		return int64(n)
	}
	if mean > 100 {
		return int64(math.Max(0, math.Round(mean+math.Sqrt(mean)*l.NormFloat64())))
	}
	n, p := int64(-1), 1.0
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= l.Float64()
	}
	return n
}

// Run runs the check on one window and reports whether it had a finding.
func (l *RepeatedRun) Run(t *testing.T, a *model.EtcdActivity) bool {
	t.Helper()
	w := Healthy()
	Members(1, nil)(w)
	w.Etcd.Activity = a
	c := w.Build()
	found := len(l.Judge.Run(c, w.Now, []*check.Check{ByID("watch-livelock")}).Findings) > 0
	if l.IntN(10) > 0 {
		return found
	}
	// The metadata changes many times between two windows.
	if again := len(l.Judge.Run(c, w.Now, []*check.Check{ByID("watch-livelock")}).Findings) > 0; again != found {
		t.Fatalf("the same window, judged again: %t, then %t", found, again)
	}
	return found
}
