package layout_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/object"
	"kitescope/inspect/model"
	"kitescope/replay"
	"kitescope/replay/layout"
)

// TestStandalone compares the layouts of a standalone server's metadata with the ground truth of the captures, and
// every file with storage.
func TestStandalone(t *testing.T) {
	// By collection: metric, dimensions, index, segments and rows by state, files; from testdata/storage and the
	// seeding script.
	collections := []string{
		"truth_small", "types_all", "hnsw_l2_parts", "hnsw_sim", "ivf_cold", "binvec", "str_pk", "auto_id", "empty_one",
		"growing_mix",
	}
	plain := map[string]string{
		"truth_small":   "L2 8 FLAT; sealed, row by row 1 1200; 6 files",
		"types_all":     "L2 4 FLAT; sealed, row by row 1 300; 12 files",
		"hnsw_l2_parts": "L2 16 HNSW M=8 ef=100; indexed 6 9000; 36 files",
		"hnsw_sim":      "IP 16 HNSW M=16 ef=200; indexed 1 3000; 5 files",
		"ivf_cold":      "L2 16 IVF_FLAT nlist=32; indexed 1 3000; 5 files",
		"binvec":        "JACCARD 64 BIN_FLAT; sealed, row by row 1 1500; 4 files",
		"str_pk":        "L2 4 ; sealed, row by row 2 1100; 8 files",
		"auto_id":       "L2 4 ; sealed, row by row 1 500; 4 files",
		"empty_one":     "L2 4 ; 0 files",
		"growing_mix":   "L2 8 FLAT; growing 2 -2, sealed, row by row 2 1500; 8 files",
	}
	for _, x := range []struct {
		version, root string
		differ        map[string]string
	}{
		{"2.1.0", "files", map[string]string{ // does not record FLAT, and has files of BIN_FLAT
			"truth_small": "L2 8 ; sealed, row by row 1 1200; 6 files",
			"types_all":   "L2 4 ; sealed, row by row 1 300; 11 files",
			"growing_mix": "L2 8 ; growing 2 -2, sealed, row by row 2 1500; 8 files",
			"binvec":      "JACCARD 64 BIN_FLAT; sealed, row by row 1 1500; 5 files",
		}},
		{"2.2.16", "", nil},
		{
			"2.3.5", "",
			map[string]string{
				"hnsw_sim":  "COSINE 16 HNSW M=16 ef=200; indexed 1 3000; 6 files",
				"types_all": "L2 4 FLAT; sealed, row by row 1 300; 13 files",
			},
		},
	} {
		t.Run(x.version, func(t *testing.T) {
			c := capture(t, "standalone-"+x.version)
			store := folder(t, x.version)
			for _, name := range collections {
				l := layoutOf(t, c, name)
				want := plain[name]
				if x.differ[name] != "" {
					want = x.differ[name]
				}
				if got := summary(l); got != want {
					t.Errorf("%s: %s\nwant %s", name, got, want)
				}
				if len(l.Segments) > 0 && l.Root != x.root {
					t.Errorf("%s: root %q, want %q", name, l.Root, x.root)
				}
				checkFiles(t, store, l)
			}
		})
	}
}

// summary returns a layout as one line.
func summary(l *replay.Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s", l.Collection.Metric, l.Collection.Dim, l.Collection.Index.Type)
	if x := l.Collection.Index; x.M > 0 {
		fmt.Fprintf(&b, " M=%d ef=%d", x.M, x.EFConstruction)
	} else if x.NList > 0 {
		fmt.Fprintf(&b, " nlist=%d", x.NList)
	}
	separator := "; "
	for _, state := range []replay.State{replay.Growing, replay.Unindexed, replay.Indexed} {
		n, rows := 0, int64(0)
		for i := range l.Segments {
			if l.Segments[i].State == state {
				n, rows = n+1, rows+l.Segments[i].Rows
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "%s%s %d %d", separator, state, n, rows)
			separator = ", "
		}
	}
	fmt.Fprintf(&b, "; %d files", len(files(l)))
	return b.String()
}

// files returns all names in a layout, including folders of indexes.
func files(l *replay.Layout) (names []string) {
	for i := range l.Segments {
		if f := l.Segments[i].Files; f != nil {
			for _, list := range f.Insert {
				names = append(names, list...)
			}
			names = append(append(names, f.Delta...), f.Indexes...)
		}
	}
	for _, d := range l.L0 {
		names = append(names, d.Files...)
	}
	return names
}

func folder(t *testing.T, name string) object.Store {
	t.Helper()
	store, err := object.OpenFolder(filepath.Join("..", "..", "testdata", "storage", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// checkFiles checks that each file exists, and that the layout has all insert logs of the collection.
func checkFiles(t *testing.T, store object.Store, l *replay.Layout) {
	t.Helper()
	named := map[string]bool{}
	for _, name := range files(l) {
		named[name] = true
		list, err := store.List(t.Context(), name)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %s is not in storage: %v", l.Collection.Name, name, err)
		}
	}
	prefix := strings.TrimPrefix(l.Root+"/insert_log/"+strconv.FormatInt(l.Collection.ID, 10)+"/", "/")
	list, err := store.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if !named[f.Name] {
			t.Errorf("%s: %s is in storage and not in the layout", l.Collection.Name, f.Name)
		}
	}
}

// TestAssignedByRecords checks that nodes and leaders come from the records of 2.1, without assumptions.
func TestAssignedByRecords(t *testing.T) {
	l := layoutOf(t, capture(t, "standalone-2.1.0"), "hnsw_l2_parts")
	if l.Assumed || l.Version != "2.1" || len(l.Replicas) != 1 || len(l.Replicas[0].Leaders) != 2 {
		t.Errorf("assumed %v, version %s, replicas %+v", l.Assumed, l.Version, l.Replicas)
	}
	for _, s := range l.Segments {
		if s.On[0] != 1 || s.PartitionName == "" || s.Channel == "" {
			t.Errorf("segment %+v", s)
		}
	}
	// After a rollback one segment is recorded on a node that is gone. According to the capture's README every search
	// fails.
	l = layoutOf(t, capture(t, "rollback-2.1.0"), "hnsw_sim")
	if n := l.Node(l.Segments[0].On[0]); n == nil || n.ID != 20 || !hasNote(l, "outside every replica") {
		t.Errorf("after a rollback: on %v, notes %q", l.Segments[0].On, l.Notes)
	}
}

func hasNote(l *replay.Layout, text string) bool {
	return strings.Contains(strings.Join(l.Notes, "\n"), text)
}

// loaded returns the layouts of all loaded collections.
func loaded(t *testing.T, c *model.Cluster) (list []*replay.Layout) {
	t.Helper()
	for _, s := range c.LoadStates {
		list = append(list, layoutOf(t, c, s.Collection.String()))
	}
	return list
}

type share struct {
	Segments int
	Rows     int64
}

func shares(list []*replay.Layout, state func(replay.State) bool) map[int64]share {
	found := map[int64]share{}
	for _, l := range list {
		for _, s := range l.Segments {
			if state(s.State) {
				x := found[s.On[0]]
				found[s.On[0]] = share{x.Segments + 1, x.Rows + s.Rows}
			}
		}
	}
	return found
}

func sealed(s replay.State) bool  { return s != replay.Growing }
func growing(s replay.State) bool { return s == replay.Growing }

// TestUnderloadedNode compares t7 with the segments by node in its capture's README.
func TestUnderloadedNode(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t7", "runtime.jsonl.gz")
	list := loaded(t, c)
	got := map[int64]int{}
	for n, x := range shares(list, sealed) {
		got[n] = x.Segments
	}
	// Node 14 serves ten segments: one was compacted, and the result is on another node.
	if diff := cmp.Diff(map[int64]int{10: 10, 13: 10, 14: 9, 19: 3}, got); diff != "" {
		t.Errorf("sealed segments by node (-want +got):\n%s", diff)
	}
	want := map[int64]share{10: {1, 1697}, 13: {3, 3500 + 1672 + 1802}, 14: {2, 1631 + 1698}}
	if diff := cmp.Diff(want, shares(list, growing)); diff != "" {
		t.Errorf("growing segments by node (-want +got):\n%s", diff)
	}
	for _, l := range list {
		if l.Assumed || len(l.Nodes) != 4 {
			t.Errorf("%s: assumed %v, %d nodes", l.Collection.Name, l.Assumed, len(l.Nodes))
		}
		for channel, n := range l.Replicas[0].Leaders {
			if n == 19 || l.Node(n) == nil {
				t.Errorf("%s leads %s", l.Node(n).Name, channel)
			}
		}
	}
	l := list[0]
	if diff := cmp.Diff(replay.Storage{Kind: "local", Folder: "/opt/milvus-labs/run/data"}, l.Storage); diff != "" ||
		l.Root != "" {
		t.Errorf("root %q, storage (-want +got):\n%s", l.Root, diff)
	}
	n := l.Node(19)
	if n.Name != "querynode-19" || n.Cores != 2 {
		t.Errorf("node %+v", n)
	}
}

type clientSegment struct {
	ID    string  `json:"segmentID"`
	Nodes []int64 `json:"nodeIds"`
	Rows  int64   `json:"num_rows"`
}

func clientSegments(t *testing.T, name string) (list []clientSegment) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "snapshots", name, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Databases map[string]map[string]struct {
			Segments []clientSegment `json:"query_segments"`
		} `json:"dbs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, collections := range file.Databases {
		for _, c := range collections {
			list = append(list, c.Segments...)
		}
	}
	return list
}

// TestServedMatchesClient checks that if the nodes were queried and no segment moved, each segment has the node
// and the rows that the client reports.
func TestServedMatchesClient(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-healthy", "cluster-2.3.5-unflushed"} {
		want, got := map[string]string{}, map[string]string{}
		for _, s := range clientSegments(t, name) {
			want[s.ID] = fmt.Sprint(s.Nodes, s.Rows)
		}
		for _, l := range loaded(t, capture(t, name, "runtime.jsonl.gz")) {
			for _, s := range l.Segments {
				if s.State != replay.Growing {
					got[strconv.FormatInt(s.ID, 10)] = fmt.Sprint(s.On, s.Rows)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func existsIn(store object.Store) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		list, err := store.List(ctx, name)
		return len(list) > 0, err
	}
}

// TestLocate checks that the root of a cluster with metadata only is found from the files.
func TestLocate(t *testing.T) {
	l := layoutOf(t, capture(t, "cluster-2.3.5-t1"), "small_truth")
	if l.Root != "" || !hasNote(l, "the path of the files is not in the configuration") {
		t.Errorf("root %q, notes %q", l.Root, l.Notes)
	}
	store := folder(t, "cluster-2.3.5")
	at, found, err := layout.Locate(t.Context(), existsIn(store), l)
	if err != nil || !found || at.Root != "files" || !strings.HasPrefix(files(l)[0], "insert_log/") {
		t.Fatalf("root %q, found %v: %v", at.Root, found, err)
	}
	if names := files(at); len(names) != 5 {
		t.Errorf("files %q", names)
	}
	for _, name := range files(at) {
		if list, err := store.List(t.Context(), name); err != nil || len(list) != 1 {
			t.Errorf("%s: %v %v", name, list, err)
		}
	}
	if same, found, err := layout.Locate(t.Context(), existsIn(folder(t, "2.1.0")), l); err != nil || found ||
		same != l {
		t.Errorf("in a store of another cluster: found %v, %v", found, err)
	}
}
