package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// load reads a profile of testdata/profiles.
func load(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p := profiletest.Read(t, filepath.Join("..", "..", "testdata", "profiles", name))
	p.Origin.Name = name
	p.Origin.Node, _, _ = strings.Cut(filepath.Base(name), ".")
	return p
}

// cluster reads the CPU profiles of all processes of a state of the cluster.
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

func nodesOf(t *testing.T, state string) *Nodes {
	t.Helper()
	n, err := NewNodes(cluster(t, state), NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A rolling record has several profiles of each process: none of them is another node.
func TestNodesOfRecord(t *testing.T) {
	once := nodesOf(t, "t5")
	twice, err := NewNodes(append(cluster(t, "t5"), cluster(t, "t5")...), NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range twice.Roles {
		if len(r.Nodes) != len(once.Roles[i].Nodes) {
			t.Fatalf("%d nodes of role %s, not %d", len(r.Nodes), r.Role, len(once.Roles[i].Nodes))
		}
		for j, x := range r.Nodes {
			o := once.Roles[i].Nodes[j]
			if x.Node != o.Node || x.Load != o.Load || x.Samples != 2*o.Samples || math.Abs(x.Cores-o.Cores) > 1e-9 || x.Origin.Merged != 2 {
				t.Errorf("%s: %s, %d samples, %v cores, of %d profiles; once: %s, %d, %v", x.Node, x.Load, x.Samples, x.Cores, x.Origin.Merged, o.Load, o.Samples, o.Cores)
			}
		}
	}
	part := cluster(t, "t5")
	unknown := *part[0]
	unknown.Duration = 0
	n, err := NewNodes([]*profile.Profile{part[0], &unknown}, NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x := n.Roles[0].Nodes[0]; !math.IsNaN(x.Cores) {
		t.Errorf("%v cores busy, though nothing tells how long half of it took", x.Cores)
	}
}

// TestNodesOfCluster: what was true of a real cluster shows in its profiles, without being told. In t3 rows were inserted all the
// time; in t5 and t7 they had been, and in t7 they were. In t5 querynode2 served nothing; in t7 querynode4 had 3 of 33
// segments and led no shard, so that it had nothing growing to search by brute force.
func TestNodesOfCluster(t *testing.T) {
	type state struct {
		loads   map[string]Load
		inserts []string
		differs []string
	}
	even := map[string]Load{"querynode1": LoadEven, "querynode2": LoadEven, "querynode3": LoadEven, "querynode4": LoadEven}
	with := func(node string, l Load) map[string]Load {
		m := maps.Clone(even)
		m[node] = l
		return m
	}
	want := map[string]state{
		"t3": {loads: even, inserts: []string{"datanode", "proxy", "querynode1", "querynode2", "querynode3"}},
		"t5": {loads: with("querynode2", LoadIdle)},
		"t7": {loads: with("querynode4", LoadLow), inserts: []string{"datanode", "proxy"}, differs: []string{"querynode4 less search through OpenMP", "querynode4 more load"}},
	}
	for name, w := range want {
		got := state{loads: make(map[string]Load)}
		for _, r := range nodesOf(t, name).Roles {
			for _, x := range r.Nodes {
				if r.Role == "querynode" {
					got.loads[x.Node] = x.Load
				} else if x.Load != LoadUnknown {
					t.Errorf("%s: %s is alone, and its load is %s", name, x.Node, x.Load)
				}
				if i := slices.IndexFunc(x.Activities, func(p Part) bool { return p.Name == "insert" }); x.Activities[i].Events > 0 {
					got.inserts = append(got.inserts, x.Node)
				}
			}
			for _, d := range r.Differences {
				if d.Kind == ofActivity {
					got.differs = append(got.differs, fmt.Sprintf("%s %s %s", d.Node, d.Verdict, d.Name))
				}
			}
		}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(state{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestNodesRemarks: the same in words.
func TestNodesRemarks(t *testing.T) {
	got := map[string][]string{}
	for _, state := range []string{"t3", "t5", "t7"} {
		got[state] = nodesOf(t, state).Remarks()
	}
	want := map[string][]string{
		"t3": {"rows are being inserted: 10.3% of datanode (3 of 29 samples), 3.3% of proxy (6 of 180 samples), 0.3% of querynode1 (1 of 367 samples), 0.5% of querynode2 (2 of 401 samples), 0.7% of querynode3 (3 of 404 samples)"},
		"t5": {"querynode2 is idle: it uses 0.00 cores, the others of its role 0.29 on average"},
		"t7": {
			"querynode4 does little: it uses 0.09 cores, the others of its role 0.40 on average",
			"rows are being inserted: 3.1% of datanode (1 of 32 samples), 2.9% of proxy (4 of 139 samples)",
			"segments are being flushed: 40.6% of datanode (13 of 32 samples)",
			"indexes are being built: 13.6% of indexnode (3 of 22 samples)",
		},
	}
	for state, lines := range want {
		if len(got[state]) < len(lines) || !slices.Equal(got[state][:len(lines)], lines) {
			t.Errorf("%s:\n%s", state, strings.Join(got[state], "\n"))
		}
	}
	if len(got["t3"]) > 1 || len(got["t5"]) > 1 {
		t.Errorf("noise is told as well: %q %q", got["t3"], got["t5"])
	}
}

// TestNodesSpend: what libraries and the collector take, of the standalone's loads.
func TestNodesSpend(t *testing.T) {
	type spends struct {
		Knowhere, OpenMP, GC, Search int64
		Known                        bool
	}
	got := make(map[string]spends)
	for _, name := range []string{"flat", "hnsw", "hnswcos-nq1-20s", "idle"} {
		n, err := NewNodes([]*profile.Profile{load(t, "milvus-cpu-"+name+".pb.gz")}, NodesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x := n.Roles[0].Nodes[0]
		s := spends{Knowhere: x.BruteForce.Knowhere.Events, OpenMP: x.BruteForce.Exhaustive.Events, Known: x.BruteForce.Known}
		for _, a := range x.Activities {
			switch a.Name {
			case "gc":
				s.GC = a.Events
			case "search":
				s.Search = a.Events
			}
		}
		var all int64
		for _, c := range x.Classes {
			all += c.Events
		}
		if all != x.Samples {
			t.Errorf("%s: classes add up to %d of %d samples", name, all, x.Samples)
		}
		got[name] = s
	}
	want := map[string]spends{
		"flat":            {543, 298, 58, 207, false},
		"hnsw":            {466, 0, 46, 73, false},
		"hnswcos-nq1-20s": {274, 0, 446, 186, false},
		"idle":            {0, 0, 4, 0, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// querynodes are profiles of query nodes with the same load: of each, what it does per 100 samples.
func querynodes(t *testing.T, seconds int, lists ...[]string) []*profile.Profile {
	t.Helper()
	var ps []*profile.Profile
	for i, list := range lists {
		p := *stacks(t, list...)
		p.Duration = time.Duration(seconds) * time.Second
		p.Origin.Node = fmt.Sprintf("querynode-%d", i+1)
		ps = append(ps, &p)
	}
	return ps
}

func TestNodesBruteForce(t *testing.T) {
	const omp = "libgomp.so.1!GOMP_parallel;"
	brute := "libknowhere.so!faiss::fvec_L2sqr_avx512;libknowhere.so!faiss::exhaustive_L2sqr_seq [clone ._omp_fn.0];" + omp + "libknowhere.so!faiss::knn_L2sqr;libknowhere.so!knowhere::BruteForce::Search "
	centroids := "libknowhere.so!faiss::fvec_L2sqr_avx512;" + omp + "libknowhere.so!faiss::knn_L2sqr;libknowhere.so!faiss::IndexFlat::search;libknowhere.so!faiss::IndexIVF::search "
	lists := "libknowhere.so!faiss::fvec_L2sqr_avx512;" + omp + "libknowhere.so!faiss::IndexIVF::search_preassigned "
	graph := "libknowhere.so!hnswlib::HierarchicalNSW<float>::searchBaseLayerST "
	fallback := "libknowhere.so!hnswlib::HierarchicalNSW<float>::searchKnnBF "
	few, many := []string{brute + "120", centroids + "100", lists + "200", graph + "480", "main.work 100"}, []string{brute + "600", fallback + "110", graph + "190", "main.work 100"}
	n, err := NewNodes(querynodes(t, 30, few, few, many, few), NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := n.Roles[0]
	for i, want := range []string{"12.0", "12.0", "71.0", "12.0"} {
		b := r.Nodes[i].BruteForce
		if got := fmt.Sprintf("%.1f", 100*b.Part.Part); got != want || !b.Known {
			t.Errorf("node %d: %s%% %v %s, want %s", i+1, got, b.Known, b.Why, want)
		}
	}
	if got := n.Remarks(); len(got) == 0 || !slices.Contains(got, "querynode-3 spends 71.0% (68.1 to 73.8%) in brute force, the others 12.0%") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	for _, d := range r.Differences {
		if d.Node != "querynode-3" {
			t.Errorf("%+v: the others are not odd", d)
		}
	}
}

// TestNodesNoise: nodes with the same work differ by chance only, whatever is busy or not, and however few samples there are.
func TestNodesNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, samples := range []int{1, 36, 1000} {
		for range 20 {
			var lists [][]string
			for range 4 {
				counts := map[string]int{}
				for range samples {
					counts[fmt.Sprintf("f%d;g%d;main", r.IntN(40), r.IntN(5))]++
				}
				var list []string
				for name, n := range counts {
					list = append(list, fmt.Sprintf("%s %d", name, n))
				}
				lists = append(lists, list)
			}
			n, err := NewNodes(querynodes(t, 10, lists...), NodesOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := n.Remarks(); len(got) > 0 {
				t.Errorf("%d samples: %q", samples, got)
			}
		}
	}
}

// TestNodesIdleCluster: where all are idle, none is idle beside the others.
func TestNodesIdleCluster(t *testing.T) {
	n, err := NewNodes(querynodes(t, 10, []string{"a;main 36"}, []string{"a;main 1"}, []string{"a;main 40"}), NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Remarks(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestNodesLabelled: a merged profile is taken apart again; how busy each was, it does not say.
func TestNodesLabelled(t *testing.T) {
	merged, err := profile.Merge(cluster(t, "t7"), profile.MergeOptions{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNodes([]*profile.Profile{merged}, NodesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apart := nodesOf(t, "t7")
	if len(n.Roles) != len(apart.Roles) {
		t.Fatalf("%d roles, want %d", len(n.Roles), len(apart.Roles))
	}
	for i, r := range n.Roles {
		if len(r.Nodes) != len(apart.Roles[i].Nodes) || len(r.Differences) != len(apart.Roles[i].Differences) {
			t.Errorf("%s: %d nodes, %d differences", r.Role, len(r.Nodes), len(r.Differences))
		}
		for j, x := range r.Nodes {
			if x.Load != LoadUnknown || x.Samples != apart.Roles[i].Nodes[j].Samples {
				t.Errorf("%s: %s, %d samples", x.Node, x.Load, x.Samples)
			}
		}
	}
}

func TestNodesMismatch(t *testing.T) {
	_, err := NewNodes([]*profile.Profile{load(t, "milvus-cpu-idle.pb.gz"), load(t, "milvus-heap.pb.gz")}, NodesOptions{})
	if _, ok := errors.AsType[*Mismatch](err); !ok {
		t.Errorf("%v", err)
	}
}
