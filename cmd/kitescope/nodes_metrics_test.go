package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// TestMemoryIsOneFigure checks that a node's memory is the same in every table, even if both the node and the
// operating system report it.
func TestMemoryIsOneFigure(t *testing.T) {
	flags := captureFlags(t, "cluster-2.3.5-t7")
	got := map[string]string{}
	for node, n := range listItems(t, "id", append([]string{"nodes", "role=querynode"}, flags...)...) {
		got[node] = fmt.Sprint(n["memory_bytes"])
	}
	want := map[string]string{}
	var b struct{ Nodes []map[string]any }
	decodeJSON(t, kitescope(t, cli.ExitOK, append([]string{"balance", "-o", "json"}, flags...)...).stdout, &b)
	for _, n := range b.Nodes {
		want[str(n["node"])] = fmt.Sprint(n["memory_use_bytes"])
	}
	same(t, "memory", got, want)
}

// TestNodesOfOneProcess checks the nodes of a standalone process with eight sessions. Its metrics name seven
// sessions. The eighth belongs to the same process and was not queried either. The output must warn not to
// add up the memory of the sessions.
func TestNodesOfOneProcess(t *testing.T) {
	var text strings.Builder
	text.WriteString("# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 2.85827072e+08\n# " +
		"TYPE milvus_num_node gauge\n")
	for _, role := range []string{
		"datacoord", "datanode", "indexnode", "proxy", "querycoord", "querynode", "rootcoord",
	} {
		fmt.Fprintf(&text, "milvus_num_node{node_id=\"1\",role_name=%q} 1\n", role)
	}
	file := filepath.Join(t.TempDir(), "metrics.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--from", capture("standalone-2.3.5", "etcd_snapshot.db.gz"), "--runtime", file}
	got := listItems(t, "name", append([]string{"nodes"}, flags...)...)
	if len(got) != 8 {
		t.Fatalf("%d sessions", len(got))
	}
	for name, n := range got {
		if n["answer"] != "not asked" || fmt.Sprint(n["memory_bytes"]) != "285827072" || str(n["answer_reason"]) == "" {
			t.Errorf("%s: answer %v (%v), memory %v", name, n["answer"], n["answer_reason"], n["memory_bytes"])
		}
	}
	t7 := []string{
		"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"), "--runtime",
		capture("cluster-2.3.5-t7", "metrics"),
	}
	for _, c := range []struct {
		args, flags []string
		want        string // "" means no warning
	}{
		{[]string{"get", "nodes"}, flags, "the 8 sessions of id 1 are one process: do not add up their CPU and MEMORY"},
		{[]string{"get", "nodes", "-o", "json"}, flags, ""},
		{[]string{"get", "nodes", "role=querynode"}, flags, ""},
		{[]string{"get", "nodes", "--columns", "id,role,answer"}, flags, ""},
		// DataCoord registers as IndexCoord too
		{[]string{"get", "nodes"}, t7, "the 2 sessions of id 11 are one process: do not add up their CPU and MEMORY"},
		{[]string{"get", "nodes", "role=querynode"}, t7, ""},
	} {
		out := kitescope(t, cli.ExitOK, append(c.args, c.flags...)...)
		if strings.Contains(out.err, "one process") != (c.want != "") || !strings.Contains(out.err, c.want) {
			t.Errorf("%s: stderr %q, want %q", c.args, out.err, c.want)
		}
	}
}

// TestRowsByMetricsAreUpperBound checks that growing rows from metrics are marked "up to", because metrics may count
// them twice, and that rows from node responses are not.
func TestRowsByMetricsAreUpperBound(t *testing.T) {
	from := []string{"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz")}
	metrics := append(slices.Clone(from), "--runtime", capture("cluster-2.3.5-t7", "metrics"))
	text := kitescope(t, cli.ExitOK, append([]string{"balance"}, metrics...)...).stdout
	if want := "metrics do not name segments: up to 19,200 of 139,900 growing rows"; strings.Count(text, want) != 1 {
		t.Errorf("%q is not in\n%s", want, text)
	}
	if text := kitescope(t, cli.ExitOK,
		append([]string{"balance"}, captureFlags(t, "cluster-2.3.5-t7")...)...).stdout; strings.Contains(text,
		"up to") {
		t.Errorf("of answers:\n%s", text)
	}
	var r struct {
		Items []struct {
			Check, Message string
			Evidence       []struct{ Name, Value string }
		}
	}
	decodeJSON(t,
		kitescope(t, cli.ExitOK,
			append([]string{"diagnose", "--only", "imbalance-rows,node-idle", "-o", "json"}, metrics...)...).stdout, &r)
	if len(r.Items) == 0 {
		t.Fatal("nothing found")
	}
	for _, f := range r.Items {
		if all := fmt.Sprint(f.Message, f.Evidence); !strings.Contains(all, "up to ") {
			t.Errorf("%s: %s", f.Check, all)
		}
	}
}
