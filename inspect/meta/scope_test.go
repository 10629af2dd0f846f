package meta

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
)

// TestOneCollectionOfMany checks that the output for a collection does not depend on whether the others were read,
// on an etcd and in a file.
func TestOneCollectionOfMany(t *testing.T) {
	stores := map[string]*memory{}
	for _, version := range metatest.Versions() {
		stores["constructed "+version] = newMemory(metatest.Cluster(version))
	}
	for _, name := range fixtures() {
		stores[name] = copyToMemory(t, pinFixture(t, name))
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			all := loadMemory(t, store, Want{Parts: model.PartAll})
			r, err := view.Find("collections")
			if err != nil {
				t.Fatal(err)
			}
			if len(all.Collections) == 0 {
				t.Fatal("no collection")
			}
			for _, c := range all.Collections {
				whole := describeCollection(t, all, c.ID)
				for _, word := range namesOf(all, c) {
					for _, seekable := range []bool{true, false} {
						store.seekable = seekable
						one := loadMemory(t, store, Want{Parts: r.Describes, Collection: word})
						if diff := cmp.Diff(whole, describeCollection(t, one, c.ID)); diff != "" {
							t.Errorf("%s, seekable %t: read with all, and alone:\n%s", word, seekable, diff)
						}
					}
				}
			}
		})
	}
}

func loadMemory(t *testing.T, store *memory, want Want) *model.Cluster {
	t.Helper()
	c, err := Load(context.Background(), store, want)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// namesOf returns names that match a collection. Only the first, the id, is certain to match no other.
func namesOf(c *model.Cluster, x *model.Collection) []string {
	list := []string{x.ID.String(), c.DatabaseName(x.Database) + "." + x.Name}
	for _, a := range c.AliasesOf(x.ID) {
		list = append(list, a.Name)
	}
	return list
}

// copyToMemory returns a seekable snapshot of the same keys.
func copyToMemory(t *testing.T, snap source.Snapshot) *memory {
	t.Helper()
	m := &memory{header: snap.Header(), seekable: true}
	err := snap.Scan(context.Background(), Ranges(snap.Header(), model.PartAll, nil), func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		m.kvs = append(m.kvs, kv)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(m.kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	return m
}

// describeCollection returns the full description and tree of a collection.
func describeCollection(t *testing.T, c *model.Cluster, id model.CollectionID) (lines []string) {
	t.Helper()
	env := view.NewEnv(c, time.Unix(1_800_000_000, 0))
	r, err := view.Find("collections")
	if err != nil {
		t.Fatal(err)
	}
	table := r.Table(env)
	row, err := view.Lookup(table, id.String())
	if err != nil {
		t.Fatal(err)
	}
	d := table.Describe(row)
	add := func(fields []view.Field) {
		for _, f := range fields {
			lines = append(lines, fmt.Sprintf("%s: %+v", f.Column.Name, f.Cell))
		}
	}
	add(d.Fields)
	for _, s := range d.Sections {
		lines = append(lines, fmt.Sprintf("%s, unknown %t", s.Title, s.Unknown))
		for i := range s.Grid.Len() {
			for j, column := range s.Grid.Columns {
				lines = append(lines,
					fmt.Sprintf("%d %s: %+v", i, s.Grid.Table.Resource().Columns[column].Name, s.Grid.Cell(i, j)))
			}
		}
	}
	tree, err := view.NewTree(env, id.String(), view.TreeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *view.Node)
	walk = func(n *view.Node) {
		lines = append(lines, n.Kind+" "+n.Label)
		add(n.Fields())
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(tree)
	return lines
}
