package check_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/shellquote"
)

// TestPymilvus checks that Python steps can be pasted as they are: they import the names that they use, and
// select the database.
func TestPymilvus(t *testing.T) {
	c := modeltest.Small()
	for _, x := range []struct {
		step check.Step
		want string
	}{
		{
			check.Pymilvus(c, 1, "Collection(%s).flush()", "bo\"ks"),
			"from pymilvus import Collection\nCollection(\"bo\\\"ks\").flush()",
		},
		{
			check.PymilvusIn(c, "shop", "c = Collection(%s)\nc.release()\nutility.drop_alias(%s)", "books", "b"),
			"from pymilvus import Collection, db, utility\ndb.using_database(\"shop\")\nc = Collection(\"books\")\n" +
				"c.release()\nutility.drop_alias(\"b\")",
		},
		{
			check.PymilvusIn(c, "", "utility.list_collections()"),
			"from pymilvus import utility\nutility.list_collections()",
		},
	} {
		if diff := cmp.Diff(x.want, string(x.step.Command)); diff != "" || !x.step.Python {
			t.Error(diff)
		}
	}
}

// TestPymilvusConnects checks that a step connects if a proxy reported its client port, unless clients need
// more than an address.
func TestPymilvusConnects(t *testing.T) {
	config := map[string]string{"proxyport": "19530"}
	proxy := &model.LiveNode{Role: "proxy", Node: 5, Address: "10.0.0.5:19529", Config: &model.Config{Values: config}}
	parts := modeltest.SmallParts()
	c := model.Build(parts)
	c.Runtime = model.BuildRuntime(model.RuntimeParts{Kind: "live", Nodes: []*model.LiveNode{proxy}})
	const want = "from pymilvus import Collection, connections\nconnections.connect(uri=\"http://10.0.0.5:19530\")\n" +
		"Collection(\"books\").flush()"
	line := func() string { return string(check.Pymilvus(c, 1, "Collection(%s).flush()", "books").Command) }
	if diff := cmp.Diff(want, line()); diff != "" {
		t.Error(diff)
	}
	for key, value := range map[string]string{
		"commonsecurityauthorizationenabled": "true", "commonsecuritytlsmode": "1",
	} {
		config[key] = value
		if got := line(); got != "from pymilvus import Collection\nCollection(\"books\").flush()" {
			t.Errorf("with %s: %s", key, got)
		}
		delete(config, key)
	}
}

// TestPymilvusLoopback checks that a step does not connect to a loopback address.
func TestPymilvusLoopback(t *testing.T) {
	c := model.Build(modeltest.SmallParts())
	for _, address := range []string{"127.0.0.1:19529", "[::1]:19529", "localhost:19529"} {
		c.Runtime = model.BuildRuntime(model.RuntimeParts{
			Nodes: []*model.LiveNode{
				{
					Role: "proxy", Node: 5, Address: address,
					Config: &model.Config{Values: map[string]string{"proxyport": "19530"}},
				},
			},
		})
		if got := string(check.Pymilvus(c, 1, "utility.list_collections()").Command); got != "from pymilvus import "+
			"utility\nutility.list_collections()" {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestSteps checks that empty steps are removed, and that the command of a finding is the first command among
// its steps.
func TestSteps(t *testing.T) {
	f := check.Finding{Fix: check.Fix(
		check.Step{},
		check.Do("look at the log of %s", "node;1"),
		check.Shell(check.Etcdctl("put").Arg("a b", "true")).Does("turns %s on", "it"),
		check.Pymilvus(&model.Cluster{}, 0, "Collection(%s).release()", "x").Interrupting(30*time.Second,
			"searches of %s", "x y"),
		check.Do("restart %s", "proxy-3").Interrupting(0, "nothing"),
	)}
	if n := len(f.Steps()); n != 4 {
		t.Errorf("%d steps", n)
	}
	if got, want := string(f.Command().Command), "etcdctl put 'a b' true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const want = `look at the log of 'node;1'; etcdctl put 'a b' true (changes the cluster): turns it on; ` +
		`from pymilvus import Collection; Collection("x").release() (changes the cluster, interrupts searches of 'x y', helps within 30 s); ` +
		`restart proxy-3 (changes the cluster, interrupts nothing)`
	if diff := cmp.Diff(want, f.Advice()); diff != "" {
		t.Error(diff)
	}
}

// TestReload checks that a collection is loaded again with the same partitions and replicas.
func TestReload(t *testing.T) {
	parts := modeltest.SmallParts()
	x := parts.Collections[0]
	state := &model.LoadState{Collection: x.ID, Status: "Loaded", Replicas: 2}
	parts.LoadStates, parts.Replicas = []*model.LoadState{state}, nil
	call := func() string { c := model.Build(parts); return string(check.LoadCall(c, x)) }
	if got := call(); got != "load(replica_number=2)" {
		t.Error(got)
	}
	state.LoadType, state.Replicas = "LoadPartition", 1
	var names []string
	for _, p := range parts.Partitions {
		if p.Collection == x.ID {
			state.Partitions = append(state.Partitions, model.PartitionLoad{Partition: p.ID, Status: "Loaded"})
			names = append(names, strconv.Quote(p.Name))
		}
	}
	if got, want := call(), "load(partition_names=["+strings.Join(names, ", ")+"])"; got != want || len(names) == 0 {
		t.Errorf("%s, want %s", got, want)
	}
	state.Replicas = 3
	if got, want := call(), "load(partition_names=["+strings.Join(names, ", ")+"], replica_number=3)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c := model.Build(parts)
	if got, want := string(check.LoadPartitionCall(c, x)), "load(replica_number=3)"; got != want {
		t.Errorf("a partition: %s, want %s", got, want)
	}
	if got, want := string(check.Reload(c, x).Command), "c.release()\nc."+call(); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want it to end in %s", got, want)
	}
}

// TestTopOf checks that a process is profiled by the URL of its own address. "profile top" takes an address
// without a scheme for a file name.
func TestTopOf(t *testing.T) {
	n := &model.LiveNode{Process: &model.Process{Address: "10.0.0.4:9091"}}
	if got, want := check.TopCommand(n).String(), "kitescope profile top http://10.0.0.4:9091"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := check.TopCommand(&model.LiveNode{}).String(), "kitescope profile top"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestIDsInHints checks that an id prints in a hint as it does elsewhere, with a verb for numbers and with
// one for text, and that other Stringers do too.
func TestIDsInHints(t *testing.T) {
	for _, x := range []struct{ got, want check.Hint }{
		{check.Advise("node %d, %s and %v", model.NodeID(7), model.NodeID(7), model.NodeID(-7)), "node 7, 7 and -7"},
		{check.Python("f(%d, %s)", model.SegmentID(7), model.SegmentID(7)), "f(7, 7)"},
		{check.Advise("%d of %s", 3, model.LogPosition{Segment: 1, Entry: 2}), "3 of 1/2"},
		{check.Advise("%s", model.SegmentState(200)), check.Advise("%s", model.SegmentState(200).String())},
	} {
		if x.got != x.want {
			t.Errorf("%q; want %q", x.got, x.want)
		}
	}
}

// TestChanges checks that a command changes the cluster unless it is known to only read.
func TestChanges(t *testing.T) {
	c := modeltest.Small()
	for _, x := range []struct {
		step    check.Step
		changes bool
	}{
		{check.Shell(check.Etcdctl("put").Arg("k", "true")), true},
		{check.Shell(check.Etcdctl("compact 7")), true},
		{check.Shell(check.Etcdctl("endpoint status --cluster")), false},
		{check.Shell(check.Etcdctl("getaway")), true},
		{check.Shell(check.Kitescope("balance --plan")), false},
		{check.Shell(shellquote.Shell("rm", "-r", "x")), true},
		{check.Pymilvus(c, 1, "Collection(%s).flush()", "books"), true},
		{check.Pymilvus(c, 1, "print(Collection(%s).num_entities)", "books"), false},
		{check.Do("look at it"), false},
		{check.Do("restart it").Interrupting(0, "nothing"), true},
	} {
		if x.step.Changes != x.changes {
			t.Errorf("%s%s: changes is %v", x.step.Command, x.step.Text, x.step.Changes)
		}
	}
}
