package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// A step of Python can be pasted as it is: it imports what it uses, and chooses the database.
func TestPymilvus(t *testing.T) {
	c := modeltest.Small()
	for _, x := range []struct {
		step check.Step
		want string
	}{
		{check.Pymilvus(c, 1, "Collection(%s).flush()", "bo\"ks"), "from pymilvus import Collection\nCollection(\"bo\\\"ks\").flush()"},
		{
			check.PymilvusIn(c, "shop", "c = Collection(%s)\nc.release()\nutility.drop_alias(%s)", "books", "b"),
			"from pymilvus import Collection, db, utility\ndb.using_database(\"shop\")\nc = Collection(\"books\")\nc.release()\nutility.drop_alias(\"b\")",
		},
		{check.PymilvusIn(c, "", "utility.list_collections()"), "from pymilvus import utility\nutility.list_collections()"},
	} {
		if diff := cmp.Diff(x.want, string(x.step.Command)); diff != "" || !x.step.Python {
			t.Error(diff)
		}
	}
}

// It is connected where a proxy told the port that clients use, unless they need more than an address.
func TestPymilvusConnects(t *testing.T) {
	config := map[string]string{"proxyport": "19530"}
	proxy := &model.LiveNode{Role: "proxy", Node: 5, Address: "10.0.0.5:19529", Config: &model.Config{Values: config}}
	parts := modeltest.SmallParts()
	c := model.Build(parts)
	c.Runtime = model.BuildRuntime(model.RuntimeParts{Kind: "live", Nodes: []*model.LiveNode{proxy}})
	const want = "from pymilvus import Collection, connections\nconnections.connect(uri=\"http://10.0.0.5:19530\")\nCollection(\"books\").flush()"
	line := func() string { return string(check.Pymilvus(c, 1, "Collection(%s).flush()", "books").Command) }
	if diff := cmp.Diff(want, line()); diff != "" {
		t.Error(diff)
	}
	for key, value := range map[string]string{"commonsecurityauthorizationenabled": "true", "commonsecuritytlsmode": "1"} {
		config[key] = value
		if got := line(); got != "from pymilvus import Collection\nCollection(\"books\").flush()" {
			t.Errorf("with %s: %s", key, got)
		}
		delete(config, key)
	}
}

// Steps that say nothing are no steps; the command of a finding is its first, whatever comes before it.
func TestSteps(t *testing.T) {
	f := check.Finding{Fix: check.Fix(
		check.Step{},
		check.Do("look at the log of %s", "node;1"),
		check.Shell(check.Etcdctl("put").Arg("a b", "true")).Does("turns %s on", "it"),
		check.Pymilvus(&model.Cluster{}, 0, "Collection(%s).flush()", "x"),
	)}
	if n := len(f.Steps()); n != 3 {
		t.Errorf("%d steps", n)
	}
	if got, want := string(f.Command()), "etcdctl put 'a b' true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const want = `look at the log of 'node;1'; etcdctl put 'a b' true: turns it on; from pymilvus import Collection; Collection("x").flush()`
	if diff := cmp.Diff(want, f.Advice()); diff != "" {
		t.Error(diff)
	}
}
