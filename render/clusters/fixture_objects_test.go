// These tests have no concurrent code, so the race detector would find nothing and take up to ten times as long.

//go:build !race

package clusters

import (
	"bytes"
	"slices"
	"testing"

	"kitescope/inspect/view"
	"kitescope/render"
)

// TestEveryObject describes all objects of captured clusters, draws all trees, and checks that each object has its
// records.
func TestEveryObject(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-t6", "standalone-2.1.0", "standalone-2.2.16"} {
		t.Run(name, func(t *testing.T) {
			env := read(t, name)
			for _, r := range view.Resources {
				describeAll(t, env, r)
			}
			for _, c := range env.Cluster.Collections {
				n, err := view.NewTree(env, c.ID.String(), view.TreeOptions{All: true})
				if err != nil {
					t.Fatal(err)
				}
				if want := len(env.Cluster.SegmentsOf(c.ID)); countKind(n, "segment") != want {
					t.Errorf("the tree of %s has %d segments, not %d", c.Name, countKind(n, "segment"), want)
				}
			}
		})
	}
}

func countKind(n *view.Node, kind string) int {
	sum := 0
	if n.Kind == kind {
		sum = 1
	}
	for _, c := range n.Children {
		sum += countKind(c, kind)
	}
	return sum
}

// withoutRecord holds the resources whose objects are derived: etcd has no record for such an object alone.
var withoutRecord = []string{
	"pchannels", "databases", "vchannels", "load-states", "segment-indexes", "etcd-usage", "etcd-prefixes", "impact",
}

func describeAll(t *testing.T, env *view.Env, r *view.Resource) {
	t.Helper()
	table := r.Table(env)
	for row := range table.Len() {
		d := table.Describe(row)
		if len(d.Records) == 0 && !slices.Contains(withoutRecord, r.Name) {
			t.Errorf("%s %s has no record", r.Name, d.Ref.ID)
		}
		for _, key := range d.Records {
			if _, ok := env.Cluster.Keyspace.Find(key); !ok {
				t.Errorf("%s %s: there is no key %s", r.Name, d.Ref.ID, key)
			}
		}
		for _, f := range []render.Format{{}, format(t, "json")} {
			var b bytes.Buffer
			if err := Description(&b, d, env, nil, render.Options{Format: f}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := view.Lookup(table, d.Ref.ID); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}
