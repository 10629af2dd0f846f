package preflight

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
)

const snapshots = "../../../testdata/snapshots"

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// capture returns a cluster decoded from a captured etcd.
func capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	return capturedtest.Cluster(t, meta.Want{Parts: model.PartAll}, snapshots, name, capturedtest.Snapshot)
}

// runPlan returns the report about a change of version. The running version is the cluster's own if from is empty.
func runPlan(t *testing.T, c *model.Cluster, from, to string, back bool) *check.Report {
	t.Helper()
	plan := Plan{Back: back, From: Running(c)}
	var err error
	if plan.To, err = ParseVersion(to); err != nil {
		t.Fatal(err)
	}
	if from != "" {
		if plan.From, err = ParseVersion(from); err != nil {
			t.Fatal(err)
		}
	}
	r := check.Run(c, now, changeChecks(plan))
	for _, x := range r.Results {
		if x.Status == check.Broken {
			t.Errorf("%s: %s", x.Check.ID, x.Reason)
		}
	}
	return r
}

// findings returns the findings of one check.
func findings(r *check.Report, id string) (list []*check.Finding) {
	for _, f := range r.Findings {
		if f.Check == id {
			list = append(list, f)
		}
	}
	return list
}

// clientView returns the collections of a captured server as seen by a client.
func clientView(t *testing.T, name string) map[string]struct{ Indexes []any } {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(snapshots, name, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		DBs map[string]map[string]struct{ Indexes []any }
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.DBs["default"]) > 0 {
		return all.DBs["default"]
	}
	flat := map[string]struct{ Indexes []any }{}
	if err := json.Unmarshal(text, &flat); err != nil {
		t.Fatal(err)
	}
	return flat
}

// TestRealUpgrade checks the findings for 2.2.16 started on the data of 2.1.0 without the migration tool: they
// cover the losses that a client then saw.
func TestRealUpgrade(t *testing.T) {
	c := capture(t, "standalone-2.1.0")
	r := runPlan(t, c, "", "2.2.16", false)
	lost := findings(r, "upgrade-records")
	if len(lost) != 1 || lost[0].Severity != check.Error {
		t.Fatalf("lost records: %v", lost)
	}
	named := map[string]bool{}
	for _, ref := range lost[0].Objects {
		for _, x := range c.Collections {
			if x.ID.String() == ref.ID {
				named[x.Name] = true
			}
		}
	}
	before, after := clientView(t, "standalone-2.1.0"), clientView(t, "upgrade-2.2.16")
	indexes := 0
	for name, x := range before {
		if len(x.Indexes) == 0 || len(after[name].Indexes) > 0 {
			continue
		}
		indexes++
		if !named[name] {
			t.Errorf("%s lost its index, and is not named", name)
		}
	}
	if indexes != 4 ||
		!strings.Contains(lost[0].Message, "the indexes of 4 collections and the load states of 6 collections") {
		t.Errorf("%d collections lost an index; said: %s", indexes, lost[0].Message)
	}
	if len(findings(r, "upgrade-path")) != 1 || len(findings(r, "upgrade-order")) != 1 {
		t.Error("the migration tool or the order is not named")
	}
}

// TestCurrentChecks checks that a cluster whose metadata the running version cannot use is not ready for another
// version.
func TestCurrentChecks(t *testing.T) {
	c := capture(t, "livelock-2.2.16")
	r := check.Run(c, now, Checks(Plan{From: Running(c), To: Version{release(2, 3), 5}}))
	found := map[string]bool{}
	for _, f := range r.Findings {
		found[f.Check] = true
		if !strings.HasPrefix(f.Check, "upgrade-") && f.Severity != check.Error {
			t.Errorf("%s: %s is no error of the cluster as it is: %s", f.Check, f.Severity, f.Message)
		}
	}
	if !found["layout-older"] || !found["watch-livelock"] || !found["upgrade-order"] ||
		r.Findings[0].Severity != check.Error {
		t.Errorf("findings of %v", found)
	}
}

// TestRealRollback checks the rollback of 2.2.16, which had rewritten one segment before 2.1.0 ran again: the
// finding names the one collection that could not be searched.
func TestRealRollback(t *testing.T) {
	c := capture(t, "upgrade-2.2.16")
	var names []string
	for _, f := range findings(runPlan(t, c, "", "2.1.0", true), "upgrade-logs") {
		for _, x := range c.Collections {
			if x.ID.String() == f.Object.ID {
				names = append(names, x.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"hnsw_sim"}, names); diff != "" {
		t.Errorf("collections that 2.1.0 cannot search (-want +got):\n%s", diff)
	}
}

// TestCleanUpgrade checks that nothing breaks from 2.2.16 to 2.3.5 and within 2.3.
func TestCleanUpgrade(t *testing.T) {
	for name, to := range map[string]string{
		"standalone-2.2.16": "2.3.5", "standalone-2.3.5": "2.3.22", "cluster-2.3.5-t1": "2.4.17",
	} {
		for _, f := range runPlan(t, capture(t, name), "", to, false).Findings {
			if f.Severity == check.Error {
				t.Errorf("%s to %s: %s: %s", name, to, f.Check, f.Message)
			}
		}
	}
}

// TestFreshUpgrade checks a 2.2.16 with collections, users, grants and growing rows that was upgraded to 2.3.5; a
// client found everything unchanged. After the rollback, 2.2.16 stopped because it could not open RocksMQ's files.
// Without them it had all collections.
func TestFreshUpgrade(t *testing.T) {
	for _, f := range runPlan(t, capture(t, "fresh-2.2.16"), "", "2.3.5", false).Findings {
		if f.Severity != check.Info {
			t.Errorf("before the upgrade: %s: %s", f.Check, f.Message)
		}
	}
	before, after := clientView(t, "fresh-2.2.16"), clientView(t, "fresh-upgrade-2.3.5")
	for name, x := range before {
		if y, ok := after[name]; !ok || len(x.Indexes) != len(y.Indexes) {
			t.Errorf("the client lost something of %s: %+v, %+v", name, x, y)
		}
	}
	var found []string
	for _, f := range runPlan(t, capture(t, "fresh-upgrade-2.3.5"), "", "2.2.16", true).Findings {
		found = append(found, f.Severity.String()+" "+f.Check)
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{"warning upgrade-path", "warning upgrade-queue"}, found); diff != "" {
		t.Errorf("on the way back (-want +got):\n%s", diff)
	}
}

func TestPath(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t1")
	for _, x := range []struct {
		from, to, want string
		back           bool
	}{
		{"2.3.5", "3.0.2", "no direct upgrade from 2.3.5 to 3.0.2: go through 2.5.16 and 2.6.22", false},
		{"2.3.5", "2.6.22", "no direct upgrade from 2.3.5 to 2.6.22: go through 2.5.16", false},
		{"2.5.15", "2.6.22", "no direct upgrade from 2.5.15 to 2.6.22: go through 2.5.16", false},
		{"2.5.16", "3.0.2", "no direct upgrade from 2.5.16 to 3.0.2: go through 2.6.22", false},
		{"2.5.16", "2.6.22", "", false},
		{"2.6.22", "3.0.2", "", false},
		{"2.3.5", "2.5.14", "", false},
		{"3.0.2", "2.6.22", "", true},
		{
			"3.0.2", "2.6.18", "coordinators of 2.6.18 may refuse to start after 3.0.2: builds before 2026-06-30 do",
			true,
		},
		{
			"2.6.22", "2.5.16",
			"coordinators of 2.5.16 refuse to start after 2.6.22, and do not know the streaming nodes' WAL", true,
		},
		{"2.3.5", "2.2.16", "Milvus does not test rollbacks from 2.3 to 2.2", true},
	} {
		got := ""
		if list := findings(runPlan(t, c, x.from, x.to, x.back), "upgrade-path"); len(list) > 0 {
			got = list[0].Message
		}
		if got != x.want {
			t.Errorf("%s to %s: %q, want %q", x.from, x.to, got, x.want)
		}
	}
}

// TestQueueInUse checks that each kind of evidence for the queue counts, in both directions, and that the check is
// not ok without any.
func TestQueueInUse(t *testing.T) {
	base := capture(t, "standalone-2.3.5").Parts
	base.VChannels, base.PChannels = nil, []*model.PChannel{{Name: "by-dev-rootcoord-dml_0"}}
	ids := func(size int) func(*model.Parts) {
		return func(p *model.Parts) {
			p.VChannels = []*model.VChannel{{Name: "a", Checkpoint: model.Checkpoint{Message: make([]byte, size)}}}
		}
	}
	logs := func(names ...string) func(*model.Parts) {
		return func(p *model.Parts) {
			p.Woodpecker = &model.Woodpecker{}
			for _, name := range names {
				p.Woodpecker.Logs = append(p.Woodpecker.Logs, &model.Log{Name: name})
			}
		}
	}
	set := func(key, value string) func(*model.Parts) {
		return func(p *model.Parts) { p.Config = append(p.Config, &model.ConfigEntry{Name: key, Value: value}) }
	}
	noted := func(queue string) func(*model.Parts) {
		return func(p *model.Parts) {
			p.PChannels = []*model.PChannel{
				{Name: "by-dev-rootcoord-dml_0", Checkpoint: model.Checkpoint{Queue: queue}},
			}
		}
	}
	kafkaAnswered := &model.Queue{Kind: "kafka", Outcome: model.Answered, Topics: []model.Topic{{}}}
	for _, x := range []struct {
		name        string
		change      []func(*model.Parts)
		queue       *model.Queue
		forth, back string // severity and a part of the message, "skipped", or "ok"
	}{
		{"nothing", nil, nil, "skipped", "skipped"},
		{
			"default alone",
			[]func(*model.Parts){set("mq/type", "default")},
			nil, "warning mq.type is default",
			"skipped",
		},
		{
			"Woodpecker's logs, default",
			[]func(*model.Parts){set("mq/type", "default"), logs("by-dev-rootcoord-dml_0")},
			nil,
			"warning woodpecker is the queue", "error Woodpecker is the queue",
		},
		{
			"Woodpecker's logs alone",
			[]func(*model.Parts){logs("by-dev-rootcoord-dml_0")},
			nil,
			"info woodpecker is the queue", "error Woodpecker is the queue",
		},
		{
			"logs of another Milvus",
			[]func(*model.Parts){logs("other-rootcoord-dml_0"), ids(24)},
			nil,
			"info pulsar is the queue", "ok",
		},
		{
			"checkpoints that name it",
			[]func(*model.Parts){noted("woodpecker"), set("mq/type", "pulsar")},
			nil, "ok",
			"error Woodpecker is the queue",
		},
		{
			"brokers",
			[]func(*model.Parts){set("kafka/brokerList", "10.0.0.9:9092"), ids(8)},
			nil,
			"info kafka is the queue", "ok",
		},
		{
			"brokers, default",
			[]func(*model.Parts){set("mq/type", "default"), set("kafka/brokerList", "10.0.0.9:9092"), ids(8)},
			nil,
			"warning kafka is the queue, and mq.type is default", "ok",
		},
		{
			"brokers, without ids",
			[]func(*model.Parts){set("kafka/brokerList", "10.0.0.9:9092")},
			nil,
			"info apparently kafka", "ok",
		},
		{"Kafka answered", nil, kafkaAnswered, "info kafka is the queue", "ok"},
		{"Pulsar's ids", []func(*model.Parts){ids(24)}, nil, "info pulsar is the queue", "ok"},
		{"numbers", []func(*model.Parts){ids(8)}, nil, "info apparently rocksmq", "ok"},
		{"kafka by name", []func(*model.Parts){set("mq/type", "kafka")}, nil, "ok", "ok"},
	} {
		p := base
		p.Config, p.Woodpecker = nil, nil
		for _, change := range x.change {
			change(&p)
		}
		c := model.Build(p)
		if x.queue != nil {
			c = c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Queue: x.queue}))
		}
		for _, way := range []struct {
			from, to, want string
			back           bool
		}{{"2.5.16", "2.6.22", x.forth, false}, {"2.6.22", "2.5.16", x.back, true}} {
			r := runPlan(t, c, way.from, way.to, way.back)
			got := ""
			for _, result := range r.Results {
				if result.Check.ID == "upgrade-queue" {
					got = result.Status.String()
					for _, f := range result.Findings {
						got = f.Severity.String() + " " + f.Message
					}
				}
			}
			if !strings.HasPrefix(got, way.want) {
				t.Errorf("%s, to %s: %q, want %q", x.name, way.to, got, way.want)
			}
		}
	}
}

// TestNextStop checks that all checks agree on the next step, and that no check goes beyond a version that another
// cannot skip.
func TestNextStop(t *testing.T) {
	for _, x := range []struct{ name, from, to, next string }{
		{"standalone-2.1.0", "", "3.0.2", "2.2.16"},
		{"standalone-2.1.0", "", "2.2.9", "2.2.9"},
		{"standalone-2.1.0", "", "2.3.5", "2.2.16"},
		{"cluster-2.3.5-t1", "", "3.0.2", "2.5.16"},
		{"cluster-2.3.5-t1", "2.5.16", "3.0.2", "2.6.22"},
		{"cluster-2.3.5-t1", "2.5.16", "2.6.10", "2.6.10"},
		{"standalone-2.3.5", "2.6.22", "3.0.2", "3.0.2"},
	} {
		r := runPlan(t, capture(t, x.name), x.from, x.to, false)
		told := 0
		for _, f := range r.Findings {
			if f.Check != "upgrade-order" && f.Check != "upgrade-records" {
				continue
			}
			for _, s := range f.Fix {
				text := string(s.Text)
				if strings.Contains(text, "registered with") || strings.HasPrefix(text, "start ") {
					if told++; !strings.Contains(text, x.next) {
						t.Errorf("%s to %s: %s says %q, next is %s", x.name, x.to, f.Check, text, x.next)
					}
				}
			}
		}
		if told == 0 {
			t.Errorf("%s to %s: nothing is to be done", x.name, x.to)
		}
		for _, f := range findings(r, "upgrade-path") {
			if first := string(f.Fix[1].Text); !strings.Contains(first, x.next) {
				t.Errorf("%s to %s: upgrade-path begins with %q, next is %s", x.name, x.to, first, x.next)
			}
		}
	}
}

// TestOneProcess checks that all roles of one process are replaced with it.
func TestOneProcess(t *testing.T) {
	sessions := func(roles ...string) (list []*model.Session) { // "role id"
		for _, r := range roles {
			role, id, _ := strings.Cut(r, " ")
			list = append(list, &model.Session{
				Role: role, Node: model.NodeID(id[0] - '0'), Address: "10.0.0." + id + ":1", Version: "2.5.16",
			})
		}
		return list
	}
	split := []string{
		"rootcoord 1", "datacoord 2", "indexcoord 2", "querycoord 3", "datanode 4", "indexnode 5", "querynode 6",
		"proxy 7",
	}
	for _, x := range []struct {
		name     string
		sessions []*model.Session
		to, want string
	}{
		{
			"standalone",
			sessions("rootcoord 1", "datacoord 1", "querycoord 1", "datanode 1", "indexnode 1", "querynode 1",
				"proxy 1"),
			"2.6.22", "replace the single process, which has all roles",
		},
		{
			"split", sessions(split...), "2.6.22",
			"upgrade in this order: mixcoord, streamingnode, datanode, querynode, proxy; new: mixcoord and " +
				"streamingnode; removed: rootcoord, datacoord, indexcoord and 2 more",
		},
		{
			"split, within 2.5", sessions(split...), "2.5.17",
			"upgrade in this order: rootcoord, process of datacoord and indexcoord, querycoord, indexnode, datanode, " +
				"querynode, proxy",
		},
		{
			"one MixCoord",
			sessions("rootcoord 1", "datacoord 1", "querycoord 1", "datanode 4", "indexnode 5", "querynode 6",
				"proxy 7"), "2.6.22",
			"upgrade in this order: process of rootcoord, datacoord and querycoord, streamingnode, datanode, " +
				"querynode, proxy; new: streamingnode; removed: indexnode",
		},
	} {
		p := capture(t, "standalone-2.3.5").Parts
		p.Sessions, p.Version = x.sessions, model.Version{Text: "2.5.16", From: "sessions"}
		list := findings(runPlan(t, model.Build(p), "", x.to, false), "upgrade-order")
		if len(list) != 1 || list[0].Message != x.want {
			t.Errorf("%s: %+v", x.name, list[0].Message)
		}
		for _, s := range list[0].Fix {
			if x.name == "standalone" &&
				(strings.Contains(string(s.Text), "add ") || strings.Contains(string(s.Text), "streamingnode")) {
				t.Errorf("%s: %s", x.name, s.Text)
			}
		}
	}
}

// TestMixCoordFirst checks that separate coordinators are merged first, because 2.6 takes over only from one
// MixCoord.
func TestMixCoordFirst(t *testing.T) {
	const joins = "as one MixCoord"
	for _, x := range []struct {
		name, from, to string
		want           bool
	}{
		{"cluster-2.3.5-t1", "2.3.5", "3.0.2", true},
		{"cluster-2.3.5-t1", "2.5.16", "2.6.22", true},
		{"cluster-2.3.5-t1", "2.3.5", "2.5.16", false},
		{"standalone-2.3.5", "2.5.16", "2.6.22", false},
		{"standalone-2.3.5", "2.3.5", "2.6.22", false},
	} {
		list := findings(runPlan(t, capture(t, x.name), x.from, x.to, false), "upgrade-order")
		if len(list) != 1 || strings.Contains(list[0].Advice(), joins) != x.want {
			t.Errorf("%s from %s to %s: %s", x.name, x.from, x.to, list[0].Advice())
		}
	}
}

// TestSettings checks removed keys, keys that are still read under an older name, and changed defaults.
func TestSettings(t *testing.T) {
	parts := capture(t, "standalone-2.3.5").Parts
	set := func(pairs ...string) *model.Cluster {
		p := parts
		p.Config = nil
		for i := 0; i < len(pairs); i += 2 {
			p.Config = append(p.Config, &model.ConfigEntry{Name: pairs[i], Value: pairs[i+1]})
		}
		return model.Build(p)
	}
	c := set("indexNode/workerSlotUnit", "16", "dataNode/import/maxConcurrentTaskNum", "2",
		"dataCoord/jsonStatsTriggerCount", "10", "natsmq/server/port", "4222", "queryCoord/balancer",
		"RowCountBasedBalancer")
	list := findings(runPlan(t, c, "2.5.16", "2.6.22", false), "upgrade-settings")
	if len(list) != 1 ||
		list[0].Message != "2 settings that 2.6.22 does not have: dataNode.import.maxConcurrentTaskNum and "+
			"natsmq.server.port" {
		t.Errorf("gone: %+v", list)
	}
	list = findings(runPlan(t, c, "2.5.16", "2.6.22", false), "upgrade-defaults")
	if len(list) != 1 {
		t.Fatalf("defaults: %+v", list)
	}
	names := make([]string, len(list[0].Evidence))
	for i, e := range list[0].Evidence {
		names[i] = e.Name
	}
	if !slices.Contains(names, "autoIndex.params.build") || slices.Contains(names, "queryCoord.balancer") ||
		slices.Contains(names, "natsmq.server.port") {
		t.Errorf("defaults that change: %v", names)
	}
	if list := findings(runPlan(t, c, "2.3.5", "2.4.17", false), "upgrade-settings"); len(list) != 0 {
		t.Errorf("2.4, whose keys are not known: %+v", list)
	}
	for _, x := range []struct{ key, value string }{
		{"common/storage/useLoonFFI", "true"},
		{"dataCoord/targetVecIndexVersion", "10"},
		{"dataCoord/index/storePathVersion", "1"},
	} {
		if list := findings(runPlan(t, set(x.key, x.value), "2.6.22", "3.0.2", false), "upgrade-one-way"); len(list) !=
			1 {
			t.Errorf("%s=%s: %+v", x.key, x.value, list)
		}
		if list := findings(runPlan(t, set(x.key, x.value), "2.6.22", "2.6.23", false), "upgrade-one-way"); len(list) !=
			0 {
			t.Errorf("%s=%s within 2.6: %+v", x.key, x.value, list)
		}
	}
	for value, want := range map[string]check.Severity{"natsmq": check.Error, "default": check.Warning} {
		if list := findings(runPlan(t, set("mq/type", value), "2.5.16", "2.6.22", false), "upgrade-queue"); len(list) !=
			1 || list[0].Severity != want {
			t.Errorf("mq.type %s: %+v", value, list)
		}
	}
	if list := findings(runPlan(t, set("mq/type", "pulsar"), "2.5.16", "2.6.22", false), "upgrade-queue"); len(list) !=
		0 {
		t.Errorf("mq.type pulsar: %+v", list)
	}
	if list := findings(runPlan(t, set("mq/type", "woodpecker"), "2.6.22", "2.5.16", true), "upgrade-queue"); len(
		list,
	) != 1 || list[0].Severity != check.Error {
		t.Errorf("back with Woodpecker: %+v", list)
	}
}

// TestOneWayFormats checks that formats that a version always writes are reported whatever is set, and that a setting
// counts only if the version has it.
func TestOneWayFormats(t *testing.T) {
	base := capture(t, "standalone-2.3.5").Parts
	const byItself = " always writes formats that "
	for _, x := range []struct {
		from, to, key, value string
		back                 bool
		want                 []string // parts of the messages
	}{
		{"2.5.16", "2.6.22", "", "", false, []string{byItself + "2.5.16 cannot read: a write-ahead log"}},
		{
			"2.5.16", "2.6.22", "common/storage/enablev2", "false", false,
			[]string{"segments in storage version 2, including existing ones"},
		},
		{
			"2.5.16", "2.6.22", "common/storage/enablev2", "true", false,
			[]string{"segments in storage version 2, including existing ones"},
		},
		{
			"2.5.16", "2.6", "common/storage/enablev2", "false", false,
			[]string{"segments in storage version 2, including existing ones"},
		},
		{"2.5.16", "2.6.8", "common/storage/enablev2", "true", false, []string{"enableV2 is true", byItself}},
		{"2.5.16", "2.6.8", "", "", false, []string{"enableV2 is true", byItself}},
		{"2.5.16", "2.6.8", "common/storage/enablev2", "false", false, []string{byItself}},
		{"2.3.5", "2.4.17", "", "", false, []string{"level 0"}},
		{"2.3.5", "2.3.22", "", "", false, nil},
		{"2.6.8", "2.6.22", "", "", false, nil},
		{"2.6.22", "3.0.2", "", "", false, nil},
		{"2.6.22", "3.0.2", "common/storage/useLoonFFI", "true", false, []string{"useLoonFFI is true"}},
		{"2.6.22", "2.5.16", "common/storage/enablev2", "true", true, nil},
		{"3.0.2", "2.6.22", "dataCoord/targetScalarIndexVersion", "4", true, []string{"targetScalarIndexVersion is 4"}},
	} {
		p := base
		if p.Config = nil; x.key != "" {
			p.Config = []*model.ConfigEntry{{Name: x.key, Value: x.value}}
		}
		list := findings(runPlan(t, model.Build(p), x.from, x.to, x.back), "upgrade-one-way")
		slices.SortFunc(list, func(a, b *check.Finding) int { return strings.Compare(b.Object.ID, a.Object.ID) })
		if len(list) != len(x.want) {
			t.Errorf("%s to %s with %s=%s: %d findings", x.from, x.to, x.key, x.value, len(list))
		}
		for i, f := range list {
			if i < len(x.want) && !strings.Contains(f.Message, x.want[i]) {
				t.Errorf("%s to %s with %s=%s: %s", x.from, x.to, x.key, x.value, f.Message)
			}
			if strings.Contains(f.Advice(), "enableV2") && x.to != "2.6.8" {
				t.Errorf("%s to %s: a key that is gone is to be set: %s", x.from, x.to, f.Advice())
			}
			if slices.ContainsFunc(f.Evidence, func(e check.Evidence) bool { return e.Source == "" }) {
				t.Errorf("%s to %s: a fact without a source: %+v", x.from, x.to, f.Evidence)
			}
		}
	}
}

func TestDescribeChange(t *testing.T) {
	for _, x := range [][3]string{
		{"60", "15", "60 becomes 15"},
		{
			"Query,Search,DescribeCollection,RenameCollection,ListAliases,Insert",
			"Query,Search,DescribeCollection,ListAliases,Insert,ListSnapshots",
			"adds ListSnapshots; removes RenameCollection",
		},
	} {
		if got := describeChange(x[0], x[1]); got != x[2] {
			t.Errorf("%s and %s: %q, want %q", x[0], x[1], got, x[2])
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{"3.0.2": "3.0.2", "v2.6.22": "2.6.22", "2.6": "2.6"} {
		if v, err := ParseVersion(text); err != nil || v.String() != want {
			t.Errorf("%s: %v %v", text, v, err)
		}
	}
	for _, text := range []string{"", "3", "3.x", "3.0.2.1", "3.-1.0", "latest"} {
		if v, err := ParseVersion(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
	for text, want := range map[string]string{
		"2.6.1-dev": "2.6.1", "2.2.9 to 2.3": "2.2.9", "2.1": "2.1", "v2.3.5": "2.3.5", "2.6 or newer": "2.6",
	} {
		if got := versionIn(text).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestUnknownVersions checks that no rule is ok for an unknown version, and that rules that do not depend on the
// version run.
func TestUnknownVersions(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t1")
	for _, x := range []struct {
		from, to, why string
		back          bool
	}{
		{"3.0.2", "4.0", "4.0 is not covered: the checks end with 3.0", false},
		{"3.0.2", "3.1.0", "3.1.0 is not covered: the checks end with 3.0", false},
		{"2.5.16", "2.7.1", "release 2.7 is not covered", false},
		{"3.1.0", "3.0.2", "3.1.0 is not covered: the checks end with 3.0", true},
		{"2.3.5", "1.9.0", "release 1.9 is not covered", true},
		{"3.0.2", "3.0.3", "", false},
	} {
		for _, r := range runPlan(t, c, x.from, x.to, x.back).Results {
			switch id := r.Check.ID; {
			case id == "upgrade-space" || id == "upgrade-tasks":
				if strings.Contains(r.Reason, "not covered") {
					t.Errorf("%s to %s: %s is skipped: %s", x.from, x.to, id, r.Reason)
				}
			case x.why != "" && (r.Status != check.Skipped || r.Reason != x.why):
				t.Errorf("%s to %s: %s is %s: %s", x.from, x.to, id, r.Status, r.Reason)
			case x.why == "" && strings.Contains(r.Reason, "not covered"):
				t.Errorf("%s to %s: %s: %s", x.from, x.to, id, r.Reason)
			}
		}
	}
}

// TestSettingsTable checks that the table is complete, sorted and free of secrets.
func TestSettingsTable(t *testing.T) {
	if n := len(keys()); n < 400 {
		t.Errorf("%d keys", n)
	}
	for folded, k := range keys() {
		if k.values[0] == k.values[1] && k.values[1] == k.values[2] {
			t.Errorf("%s is everywhere the same", k.name)
		}
		for _, v := range k.values {
			if of, ok := strings.CutPrefix(v, replaced); ok && of == "" {
				t.Errorf("%s is read for no key", k.name)
			}
		}
		if strings.Contains(folded, "password") || strings.Contains(folded, "secret") {
			t.Errorf("%s is in the table", k.name)
		}
	}
}

// TestSettingsOfOldReleases checks that reported settings are not compared with unknown defaults, and that the
// check is not ok in that case.
func TestSettingsOfOldReleases(t *testing.T) {
	base := model.Build(capture(t, "standalone-2.3.5").Parts)
	node := &model.LiveNode{
		Role: "rootcoord", Node: 9,
		Config: &model.Config{Values: map[string]string{model.FoldConfigKey("natsmq.server.port"): "4223"}},
	}
	c := base.WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{node}}))
	for _, r := range runPlan(t, c, "2.0.2", "2.6.22", false).Results {
		if r.Check.ID == "upgrade-settings" &&
			(r.Status != check.Skipped || !strings.Contains(r.Reason, "the defaults of 2.0 are unknown")) {
			t.Errorf("%s: %s", r.Status, r.Reason)
		}
	}
}

// TestSettingsOfMixCoord checks a MixCoord, which reports its keys one by one: the whole configuration of a proxy
// replaces keys that no session reported. Keys that neither reported are unknown.
func TestSettingsOfMixCoord(t *testing.T) {
	config := func(pairs ...string) *model.Config {
		c := &model.Config{Values: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			c.Values[model.FoldConfigKey(pairs[i])] = pairs[i+1]
		}
		return c
	}
	base := model.Build(capture(t, "standalone-2.3.5").Parts)
	node := &model.LiveNode{Role: "mixcoord", Node: 9, Config: config("natsmq.server.port", "4223")}
	whole := &model.Process{
		ConfigOf: "proxy-4", Config: config("natsmq.server.port", "4222", "dataNode.import.maxConcurrentTaskNum", "2"),
	}
	for name, x := range map[string]struct {
		processes []*model.Process
		want      string
		unseen    bool
	}{
		"and a proxy": {
			[]*model.Process{whole},
			"2 settings that 2.6.22 does not have: dataNode.import.maxConcurrentTaskNum and natsmq.server.port", false,
		},
		"alone": {nil, "1 setting that 2.6.22 does not have: natsmq.server.port", true},
	} {
		report := runPlan(t,
			base.WithRuntime(model.BuildRuntime(model.RuntimeParts{
				Nodes: []*model.LiveNode{node}, Processes: x.processes,
			})), "2.5.16", "2.6.22", false)
		list := findings(report, "upgrade-settings")
		if len(list) != 1 || list[0].Message != x.want {
			t.Fatalf("%s: %+v", name, list)
		}
		if i := slices.IndexFunc(list[0].Evidence,
			func(e check.Evidence) bool { return e.Name == "natsmq.server.port" }); i < 0 ||
			list[0].Evidence[i].Value != "4223" {
			t.Errorf("%s: %+v", name, list[0].Evidence)
		}
		unseen := false
		for _, r := range report.Results {
			unseen = unseen ||
				slices.ContainsFunc(r.Unseen, func(s string) bool {
					return strings.Contains(s, "MixCoord reports only a few")
				})
		}
		if unseen != x.unseen {
			t.Errorf("%s: unseen is %v", name, unseen)
		}
	}
}
