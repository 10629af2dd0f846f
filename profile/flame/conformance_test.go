package flame_test

import (
	"path/filepath"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/profiletest"
	"kitescope/profile/report"
)

func decode(t testing.TB, name string) *profile.Profile {
	t.Helper()
	return profiletest.Read(t, filepath.Join("..", "..", "testdata", "profiles", name))
}

// TestTreeMatchesTop checks that the sums of each function in a tree, counted once per stack, equal
// those of report.NewTop, for regular and inverted trees. NewTop itself is compared with `go tool pprof`.
func TestTreeMatchesTop(t *testing.T) {
	for _, name := range []string{
		"milvus-cpu-flat.pb.gz", "milvus-cpu-hnsw.pb.gz", "milvus-cpu-idle.pb.gz", "milvus-heap.pb.gz",
		"milvus-goroutine.pb.gz",
	} {
		p := decode(t, name)
		for kind := range p.Types {
			index := p.Types[kind].Type
			top, err := report.NewTop(p, report.Options{SampleIndex: index})
			if err != nil {
				t.Fatal(err)
			}
			tree, err := flame.New(p, flame.Options{SampleIndex: index})
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, tree)
			upside, err := flame.New(p, flame.Options{SampleIndex: index, Inverted: true})
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, upside)
			if tree.Root().Total != top.Total || upside.Root().Total != top.Total {
				t.Errorf("%s %s: the roots are %d and %d, the total is %d", name, index, tree.Root().Total,
					upside.Root().Total, top.Total)
			}
			flat, cum := flatAndCum(tree)
			for _, entry := range top.Entries {
				if flat[entry.Function] != entry.Flat || cum[entry.Function] != entry.Cum {
					t.Errorf("%s %s: %s is %d, %d, in top %d, %d", name, index, entry.Function, flat[entry.Function],
						cum[entry.Function], entry.Flat, entry.Cum)
				}
				if at := upside.Find([]string{entry.Function}); entry.Flat != 0 &&
					upside.Frames[at].Total != entry.Flat {
					t.Errorf("%s %s: inverted, %s is %d, not %d", name, index, entry.Function, upside.Frames[at].Total,
						entry.Flat)
				}
			}
			var leaves int64
			for _, leaf := range tree.Leaves {
				leaves += leaf.Value
			}
			if leaves != top.Total {
				t.Errorf("%s %s: leaves are worth %d of %d", name, index, leaves, top.Total)
			}
		}
	}
}

func flatAndCum(t *flame.Tree) (flat, cum map[string]int64) {
	flat, cum = map[string]int64{}, map[string]int64{}
	open := map[uint32]int{}
	var path []int32
	for i := int32(1); int(i) < len(t.Frames); i++ {
		f := &t.Frames[i]
		for len(path) > 0 && t.Frames[path[len(path)-1]].Next <= i {
			open[t.Frames[path[len(path)-1]].Name]--
			path = path[:len(path)-1]
		}
		flat[t.NameOf(f)] += f.Self
		if open[f.Name] == 0 {
			cum[t.NameOf(f)] += f.Total
		}
		open[f.Name]++
		path = append(path, i)
	}
	return flat, cum
}

// TestDiffHasBothSides checks that each side of a difference equals the tree of its profile.
func TestDiffHasBothSides(t *testing.T) {
	base, p := decode(t, "milvus-cpu-flat.pb.gz"), decode(t, "milvus-cpu-hnsw.pb.gz")
	diff, err := flame.NewDiff(base, p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, diff)
	for side, q := range map[string]*profile.Profile{"base": base, "new": p} {
		tree, err := flame.New(q, flame.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range tree.Frames {
			path := tree.Path(int32(i))
			f, in := &tree.Frames[i], &diff.Frames[diff.Find(path)]
			total, self := in.Total, in.Self
			if side == "base" {
				total, self = in.Base, in.BaseSelf
			}
			if int(in.Depth) != len(path) || total != f.Total || self != f.Self {
				t.Fatalf("%s: %v is %d, %d in the difference, not %d, %d", side, path, total, self, f.Total, f.Self)
			}
		}
	}
}
