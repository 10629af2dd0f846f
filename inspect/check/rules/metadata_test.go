package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// The tests of the checks of metadata, configuration and etcd build a small cluster that is well, and
// change one thing of it.

// world is a cluster to be changed before it is built.
type world struct {
	model.Parts
	runtime *model.RuntimeParts
	storage *model.Storage
	now     time.Time
}

// Ids of the small cluster.
const (
	wellColl  = model.CollectionID(1000)
	wellPart  = model.PartitionID(1001)
	wellIndex = model.IndexID(1500)
	wellField = model.FieldID(101)
	wellCh0   = "by-dev-rootcoord-dml_0_1000v0"
	wellCh1   = "by-dev-rootcoord-dml_1_1000v1"
)

func back(d time.Duration) model.TSO  { return model.TSOFromTime(modeltest.Now.Add(-d)) }
func backT(d time.Duration) time.Time { return modeltest.Now.Add(-d) }

// well is a cluster in which nothing is wrong: a loaded collection of two shards with four indexed segments,
// one session of each role, Milvus 2.4.5.
func well() *world {
	w := &world{now: modeltest.Now}
	w.Origin = model.Origin{Kind: "etcd-snapshot", Root: "by-dev", MetaPath: "meta", Taken: modeltest.Now}
	w.Loaded = model.PartAll
	w.Version = model.Version{Text: "2.4.5", From: "sessions"}
	w.Databases = []*model.Database{{ID: 1, Name: "default", State: "Created"}}
	w.Collections = []*model.Collection{{
		ID: wellColl, Database: 1, Name: "docs", State: "Created", Shards: 2, CreatedAt: back(48 * time.Hour), VChannels: []string{wellCh0, wellCh1}, Layout: "2.2.9",
		Fields: []*model.Field{
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true}, {ID: wellField, Name: "vec", Type: "FloatVector", Dim: 128}, {ID: 102, Name: "tag", Type: "VarChar"},
		},
	}}
	w.Partitions = []*model.Partition{{ID: wellPart, Collection: wellColl, Name: "_default", State: "Created"}}
	w.Indexes = []*model.Index{{
		ID: wellIndex, Collection: wellColl, Field: wellField, Name: "vec_idx", Type: "HNSW", Metric: "L2", CreatedAt: backT(47 * time.Hour), Layout: "2.2",
	}}
	for i := range 4 {
		w.Segments = append(w.Segments, wellSegment(model.SegmentID(2000+i), []string{wellCh0, wellCh1}[i%2]))
	}
	for i, name := range []string{wellCh0, wellCh1} {
		w.VChannels = append(w.VChannels, &model.VChannel{
			Name: name, PChannel: fmt.Sprintf("by-dev-rootcoord-dml_%d", i), Collection: wellColl, Shard: i, Watched: true, Watcher: 5, WatchState: "WatchSuccess", WatchedAt: backT(40 * time.Hour),
			Checkpoint: model.Checkpoint{At: back(30 * time.Second), Message: []byte{0x88, 0x13, 0, 0, 0, 0, 0, 0}}, Removal: "non-removed",
		})
		w.PChannels = append(w.PChannels, &model.PChannel{Name: fmt.Sprintf("by-dev-rootcoord-dml_%d", i)})
	}
	w.LoadStates = []*model.LoadState{{Collection: wellColl, Status: "Loaded", Percent: new(int32(100)), Replicas: 1, Indexes: map[model.FieldID]model.IndexID{wellField: wellIndex}, Key: "load/1000"}}
	w.Replicas = []*model.Replica{{ID: 3000, Collection: wellColl, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{4}}}
	w.ResourceGroups = []*model.ResourceGroup{{Name: facts.DefaultGroup, Capacity: 1000000, Nodes: []model.NodeID{4}, Requests: -1, Limits: -1}}
	for i, role := range []string{"rootcoord", "datacoord", "querycoord", "querynode", "datanode", "indexnode", "proxy"} {
		w.Sessions = append(w.Sessions, &model.Session{Node: model.NodeID(i + 1), Role: role, Address: fmt.Sprintf("10.0.0.%d:1", i+1), Version: "2.4.5", IndexEngine: engineOf(role)})
	}
	w.Allocators = []*model.Allocator{{Name: "gid/timestamp", At: modeltest.Now}}
	w.KeysByKind = map[string]int64{"collection": 1, "index": 1, "segment-index": 4, "collection-load": 1, "target": 1, "binlog": 4}
	w.Keys = 20
	return w
}

func engineOf(role string) model.EngineRange {
	if role == "querynode" {
		return model.EngineRange{Minimal: 0, Current: 6}
	}
	return model.EngineRange{}
}

// wellSegment is a flushed segment of an hour ago, with a finished index.
func wellSegment(id model.SegmentID, channel string) *model.Segment {
	return &model.Segment{
		ID: id, Collection: wellColl, Partition: wellPart, VChannel: channel, State: model.SegmentFlushed, Level: model.LevelL1, Rows: 90_000, MaxRows: 100_000, Bytes: 50 << 20,
		StartAt: back(5 * time.Hour), PositionAt: back(4 * time.Hour), ExpireAt: back(4 * time.Hour),
		Indexes: []model.SegmentIndex{{
			Segment: id, Collection: wellColl, Partition: wellPart, Index: wellIndex, Build: model.BuildID(id + 5000), State: model.IndexFinished, Rows: 90_000, Files: 3, Node: 6,
			EngineVersion: 6, CreatedAt: backT(4 * time.Hour), FinishedAt: backT(3 * time.Hour),
		}},
	}
}

// segment is the i-th segment, index the record of its index.
func (w *world) segment(i int) *model.Segment    { return w.Segments[i] }
func (w *world) index(i int) *model.SegmentIndex { return &w.Segments[i].Indexes[0] }

// asked lets every process answer, with an empty configuration.
func (w *world) asked() *model.RuntimeParts {
	if w.runtime != nil {
		return w.runtime
	}
	w.runtime = &model.RuntimeParts{Kind: "live", From: modeltest.Now.Add(-time.Second), To: modeltest.Now}
	for _, s := range w.Sessions {
		w.runtime.Nodes = append(w.runtime.Nodes, &model.LiveNode{
			Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered, Config: &model.Config{Values: map[string]string{}, Names: map[string]string{}},
			System: &model.System{Name: s.Name(), CPUs: 8, Version: "2.4.5", BuildTime: "Monday"},
		})
	}
	return w.runtime
}

// live is the answer of a role.
func (w *world) live(role string) *model.LiveNode {
	i := slices.IndexFunc(w.asked().Nodes, func(n *model.LiveNode) bool { return n.Role == role })
	return w.runtime.Nodes[i]
}

// another adds a session of a role, and its answer if processes were asked.
func (w *world) another(role string, id model.NodeID) *model.LiveNode {
	s := &model.Session{Node: id, Role: role, Address: fmt.Sprintf("10.0.0.%d:1", id), Version: "2.4.5", IndexEngine: engineOf(role)}
	w.Sessions = append(w.Sessions, s)
	n := &model.LiveNode{
		Role: role, Node: id, Address: s.Address, Outcome: model.Answered, Config: &model.Config{Values: map[string]string{}, Names: map[string]string{}},
		System: &model.System{CPUs: 8, Version: "2.4.5", BuildTime: "Monday"},
	}
	if w.runtime != nil {
		w.runtime.Nodes = append(w.runtime.Nodes, n)
	}
	return n
}

func (w *world) build() *model.Cluster {
	c := model.Build(w.Parts)
	if w.runtime != nil {
		c = c.WithRuntime(model.BuildRuntime(*w.runtime))
	}
	if w.storage != nil {
		c = c.WithStorage(w.storage)
	}
	return c
}

// judged runs one check over a changed world.
func judged(t *testing.T, x *check.Check, change func(*world)) *check.Result {
	t.Helper()
	w := well()
	if change != nil {
		change(w)
	}
	r := check.Run(w.build(), w.now, []*check.Check{x})
	if r.Results[0].Status == check.Broken {
		t.Fatalf("%s broke: %s", x.ID, r.Results[0].Reason)
	}
	return r.Results[0]
}

// named is the check of an id.
func named(id string) *check.Check {
	x := check.Find(rules.All(), id)
	if x == nil {
		panic("there is no check " + id)
	}
	return x
}

func keysOf(list []*check.Finding) []string {
	keys := []string{}
	for _, f := range list {
		keys = append(keys, f.Key())
	}
	return keys
}

// verdict is a case: a change of the well cluster, and what a check says of it. want are "severity resource/id
// words of the message"; none means ok, and skipped the words of the reason.
type verdict struct {
	name    string
	change  func(*world)
	want    []string
	skipped string
}

// hold runs a check over cases. Every finding has to be complete: evidence, impact, hint.
func hold(t *testing.T, x *check.Check, cases []verdict) {
	t.Helper()
	for _, v := range cases {
		t.Run(x.ID+"/"+v.name, func(t *testing.T) {
			result := judged(t, x, v.change)
			if v.skipped != "" {
				if result.Status != check.Skipped || !strings.Contains(result.Reason, v.skipped) {
					t.Fatalf("%s %q, want skipped: %q", result.Status, result.Reason, v.skipped)
				}
				return
			}
			holdFindings(t, x, result, v.want)
		})
	}
}

// configured are cases in which every process was asked and told an empty configuration: each setting has its default.
func configured(cases []verdict) []verdict {
	for i := range cases {
		change := cases[i].change
		cases[i].change = func(w *world) {
			w.asked()
			if change != nil {
				change(w)
			}
		}
	}
	return cases
}

func holdFindings(t *testing.T, x *check.Check, result *check.Result, want []string) {
	t.Helper()
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%s %s/%s %s", f.Severity, f.Object.Resource, f.Object.ID, f.Message))
		if len(f.Evidence) == 0 || f.Impact == "" || len(f.Steps()) == 0 || f.Severity > x.Severity || f.Cost < 0 || f.Cost > 1 {
			t.Errorf("a finding lacks something: %+v", f)
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
			t.Errorf("two findings have the key %s", f.Key())
		}
		seen[f.Key()] = true
	}
	for i := range want {
		if i < len(got) && containsWords(got[i], want[i]) {
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

// containsWords reports whether text begins with the first two words of pattern and contains the rest.
func containsWords(text, pattern string) bool {
	parts := strings.SplitN(pattern, " ", 3)
	head := strings.Join(parts[:2], " ") + " "
	return strings.HasPrefix(text, head) && (len(parts) < 3 || strings.Contains(text, parts[2]))
}

// TestWellIsWell: no check finds anything in the cluster that the cases begin with.
func TestWellIsWell(t *testing.T) {
	w := well()
	w.asked()
	r := check.Run(w.build(), w.now, metadataChecks())
	for _, f := range r.Findings {
		t.Errorf("%s: %s", f.Check, f.Message)
	}
	for _, x := range r.Results {
		if x.Status == check.Broken {
			t.Errorf("%s broke: %s", x.Check.ID, x.Reason)
		}
	}
}

// metadataChecks are those that these tests are about.
func metadataChecks() []*check.Check {
	return []*check.Check{
		named("index-failed"), named("index-stuck"), named("index-missing"), named("index-too-new"), named("index-metric-mismatch"), named("index-unfit"), named("collection-unindexed"), named("layout-rollback"), named("layout-older"), named("mixed-versions"), named("etcd-no-leader"), named("etcd-alarm"),
		named("etcd-size"), named("watch-livelock"), named("clock-regression"), named("undecoded-records"), named("queue-unreachable"), named("timetick-lag"), named("channel-unwatched"), named("channel-watched-twice"), named("channel-watch-state"), named("checkpoint-lag"),
		named("checkpoint-missing"), named("checkpoint-stale-dropped"), named("queue-lag"), named("quota-denied"), named("small-segments"), named("delete-heavy"), named("l0-backlog"), named("segments-invisible"), named("dropped-not-collected"), named("import-stuck"), named("compaction-stuck"),
		named("task-failed"), named("config-drift"), named("bad-switches"), named("shard-skew"), named("partition-key-skew"), named("resource-group-short"), named("near-limit"), named("orphan-segments"), named("orphan-binlogs"), named("orphan-index"), named("orphan-load"), named("orphan-alias"), named("orphan-task"),
	}
}

// TestNothingReadIsUnknown: without the parts that it reads, no check is ok.
func TestNothingReadIsUnknown(t *testing.T) {
	for _, x := range metadataChecks() {
		w := well()
		w.Loaded = 0
		if r := check.Run(w.build(), w.now, []*check.Check{x}).Results[0]; r.Status != check.Skipped {
			t.Errorf("%s: %s", x.ID, r.Status)
		}
	}
}

// TestDamageIsNotWell: in a file of which a page could not be read any record may be missing, so that nothing is
// well, and nothing is said to be gone.
func TestDamageIsNotWell(t *testing.T) {
	w := well()
	w.asked()
	members(3, nil)(w)
	w.Etcd.Activity = &model.EtcdActivity{Over: time.Minute}
	w.Gaps = []model.Gap{{Where: "page 17", Reason: "no key-value records", Count: 1, Damage: true}}
	w.Aliases = []*model.Alias{{Name: "gone", Collection: 77}}
	w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 77, Status: "Loaded"})
	w.segment(0).Indexes, w.segment(1).Collection, w.VChannels[0].Checkpoint, w.VChannels[1].Watched = nil, 77, model.Checkpoint{}, false
	for _, result := range check.Run(w.build(), w.now, metadataChecks()).Results {
		if result.Status != check.Skipped || !strings.Contains(result.Reason, "page 17") {
			switch result.Check {
			case named("queue-unreachable"), named("queue-lag"), named("timetick-lag"), named("quota-denied"): // skipped for another reason
			default:
				t.Errorf("%s: %s %s", result.Check.ID, result.Status, result.Reason)
			}
		}
	}
	w.Gaps[0].Damage = false
	if r := check.Run(w.build(), w.now, []*check.Check{named("orphan-alias")}).Results[0]; r.Status != check.Found {
		t.Errorf("keys that may not be read are no damage: %s %s", r.Status, r.Reason)
	}
}
