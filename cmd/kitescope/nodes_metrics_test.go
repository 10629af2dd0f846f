package main

import (
	"fmt"
	"testing"
)

// TestNodesByMetrics: where only metrics are known, get nodes tells of query nodes what balance counts in the same text.
func TestNodesByMetrics(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-healthy-load", "cluster-2.3.5-t1", "cluster-2.3.5-t7"} {
		flags := []string{"--from", capture(name, "etcd_snapshot.db.gz"), "--runtime", capture(name, "metrics")}
		got := map[string]string{}
		for node, n := range listed(t, "id", append([]string{"nodes", "role=querynode"}, flags...)...) {
			got[node] = fmt.Sprint(n["sealed_segments"], " ", n["growing_segments"], " ", n["growing_rows"])
		}
		want := map[string]string{}
		var b struct{ Nodes []map[string]any }
		decodeJSON(t, kitescope(t, exitOK, append([]string{"balance", "-o", "json"}, flags...)...).stdout, &b)
		for _, n := range b.Nodes {
			want[str(n["node"])] = fmt.Sprint(n["sealed_segments"], " ", n["growing_segments"], " ", n["growing_rows"])
		}
		if len(want) == 0 {
			t.Fatalf("%s: no query nodes", name)
		}
		same(t, name, got, want)
	}
}

// TestMemoryIsOneFigure: a node's memory is the same in every table, also where both the node and the operating system tell one.
func TestMemoryIsOneFigure(t *testing.T) {
	flags := ofCapture(t, "cluster-2.3.5-t7")
	got := map[string]string{}
	for node, n := range listed(t, "id", append([]string{"nodes", "role=querynode"}, flags...)...) {
		got[node] = fmt.Sprint(n["memory_bytes"])
	}
	want := map[string]string{}
	var b struct{ Nodes []map[string]any }
	decodeJSON(t, kitescope(t, exitOK, append([]string{"balance", "-o", "json"}, flags...)...).stdout, &b)
	for _, n := range b.Nodes {
		want[str(n["node"])] = fmt.Sprint(n["memory_use_bytes"])
	}
	same(t, "memory", got, want)
}
