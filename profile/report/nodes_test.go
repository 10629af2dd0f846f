package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// load reads a profile from testdata/profiles.
func load(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p := profiletest.Read(t, filepath.Join("..", "..", "testdata", "profiles", name))
	p.Origin.Name = name
	p.Origin.Node, _, _ = strings.Cut(filepath.Base(name), ".")
	p.Origin.Role = RoleOf(p.Origin.Node)
	return p
}

// cluster reads the CPU profiles of all processes of the cluster in a given state.
func cluster(t *testing.T, state string) []*profile.Profile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "profiles", state, "*.cpu.pb.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(state, err)
	}
	var list []*profile.Profile
	for _, f := range files {
		list = append(list, load(t, filepath.Join(state, filepath.Base(f))))
	}
	return list
}

// TestNodesOfCluster checks the loads of a real cluster. In t5, querynode2 served nothing. In t7, querynode4
// had 3 of 33 segments and led no shard.
func TestNodesOfCluster(t *testing.T) {
	for state, odd := range map[string]map[string]Load{
		"t3": {}, "t5": {"querynode2": LoadIdle}, "t7": {"querynode4": LoadLow},
	} {
		n, err := NewNodes(cluster(t, state))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range n {
			want := LoadUnknown // the only one of its role
			if RoleOf(x.Node) == "querynode" {
				want = LoadEven
			}
			if l, ok := odd[x.Node]; ok {
				want = l
			}
			if x.Load != want {
				t.Errorf("%s: %s is %s, want %s", state, x.Node, x.Load, want)
			}
		}
	}
}

// TestNodeShares checks the shares of libraries and of the collector for a standalone under known loads.
func TestNodeShares(t *testing.T) {
	type spends struct {
		Knowhere, OpenMP, GC int64
		Known                bool
	}
	got := make(map[string]spends)
	for _, name := range []string{"flat", "hnsw", "hnswcos-nq1-20s", "idle"} {
		n, err := NewNodes([]*profile.Profile{load(t, "milvus-cpu-"+name+".pb.gz")})
		if err != nil {
			t.Fatal(err)
		}
		b := n[0].BruteForce
		got[name] = spends{Knowhere: b.Knowhere.Events, OpenMP: b.Exhaustive.Events, GC: n[0].GC.Events, Known: b.Known}
	}
	want := map[string]spends{
		"flat": {543, 298, 58, false}, "hnsw": {466, 0, 46, false}, "hnswcos-nq1-20s": {274, 0, 446, false},
		"idle": {0, 0, 4, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// querynodes returns profiles of query nodes. Each list holds the stacks of a node with their numbers of
// samples.
func querynodes(t *testing.T, seconds int, lists ...[]string) []*profile.Profile {
	t.Helper()
	var ps []*profile.Profile
	for i, list := range lists {
		p := *stacks(t, list...)
		p.Duration = time.Duration(seconds) * time.Second
		p.Origin.Node, p.Origin.Role = fmt.Sprintf("querynode-%d", i+1), "querynode"
		ps = append(ps, &p)
	}
	return ps
}

func TestNodesBruteForce(t *testing.T) {
	const omp = "libgomp.so.1!GOMP_parallel;"
	brute := "libknowhere.so!faiss::fvec_L2sqr_avx512;libknowhere.so!faiss::exhaustive_L2sqr_seq [clone ._omp_fn.0];" +
		omp + "libknowhere.so!faiss::knn_L2sqr;libknowhere.so!knowhere::BruteForce::Search "
	centroids := "libknowhere.so!faiss::fvec_L2sqr_avx512;" + omp +
		"libknowhere.so!faiss::knn_L2sqr;libknowhere.so!faiss::IndexFlat::search;libknowhere.so!faiss::IndexIVF::search "
	lists := "libknowhere.so!faiss::fvec_L2sqr_avx512;" + omp + "libknowhere.so!faiss::IndexIVF::search_preassigned "
	graph := "libknowhere.so!hnswlib::HierarchicalNSW<float>::searchBaseLayerST "
	fallback := "libknowhere.so!hnswlib::HierarchicalNSW<float>::searchKnnBF "
	few, many := []string{brute + "120", centroids + "100", lists + "200", graph + "480", "main.work 100"}, []string{
		brute + "600", fallback + "110", graph + "190", "main.work 100",
	}
	n, err := NewNodes(querynodes(t, 30, few, few, many, few))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"12.0", "12.0", "71.0", "12.0"} {
		b := n[i].BruteForce
		if got := fmt.Sprintf("%.1f", 100*b.Part.Part); got != want || !b.Known {
			t.Errorf("node %d: %s%% %v %s, want %s", i+1, got, b.Known, b.Reason, want)
		}
	}
}

// TestNodesIdleCluster checks the loads of nodes that are all idle.
func TestNodesIdleCluster(t *testing.T) {
	n, err := NewNodes(querynodes(t, 10, []string{"a;main 36"}, []string{"a;main 1"}, []string{"a;main 40"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range n {
		if x.Load != LoadEven {
			t.Errorf("%s is %s", x.Node, x.Load)
		}
	}
	if _, err := NewNodes([]*profile.Profile{load(t, "milvus-heap.pb.gz")}); err == nil {
		t.Error("a heap profile has no CPU time")
	}
}

// stacks returns a profile of stacks, each with a number of samples, e.g. "f;main 3".
func stacks(t *testing.T, list ...string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{
		Type: "cpu", Unit: "nanoseconds",
	})
	for _, s := range list {
		at := strings.LastIndexByte(s, ' ')
		var n int64
		if _, err := fmt.Sscan(s[at+1:], &n); err != nil {
			t.Fatal(err)
		}
		var stack []uint32
		for name := range strings.SplitSeq(s[:at], ";") {
			stack = append(stack, frame(b, name))
		}
		if err := b.Sample(stack, []int64{n, n * 10_000_000}); err != nil {
			t.Fatal(err)
		}
	}
	b.Meta().PeriodType, b.Meta().Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 10_000_000
	return b.Profile()
}

// frame returns the frame for a name with an optional library, e.g. "libknowhere.so!faiss::knn_L2sqr",
// "libgomp.so.1!".
func frame(b *profile.Builder, name string) uint32 {
	lib, name, in := strings.Cut(name, "!")
	if !in {
		return b.Frame(lib, profile.NoMapping)
	}
	m := b.Mapping(profile.Mapping{Start: 1 << 30, Limit: 2 << 30, File: "/opt/milvus/lib/" + lib})
	if name == "" {
		return b.Location(m, 1<<30+64)
	}
	return b.Frame(name, m)
}
