package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/view"
)

// truth holds the responses of a server to the official client (pymilvus; shared/milvus/truth.py). For a call
// that the version does not have, the value is an object with "error".
type truth struct {
	DBs map[string]map[string]struct {
		Describe struct {
			CollectionID json.Number `json:"collection_id"`
			Shards       int         `json:"num_shards"`
			Fields       []struct {
				ID      int             `json:"field_id"`
				Name    string          `json:"name"`
				Primary json.RawMessage `json:"is_primary"`
			} `json:"fields"`
		} `json:"describe"`
		Rows       json.RawMessage `json:"num_entities"`
		Partitions json.RawMessage `json:"partitions"`
		Indexes    json.RawMessage `json:"indexes"`
		Aliases    json.RawMessage `json:"aliases"`
		LoadState  json.RawMessage `json:"load_state"`
		Persistent json.RawMessage `json:"persistent_segments"`
		Replicas   json.RawMessage `json:"replicas"`
	} `json:"dbs"`
}

// TestTruth compares the output of commands with the responses that the official client got from the same server.
// KITESCOPE_E2E_FROM and KITESCOPE_E2E_TRUTH add a running server (make e2e).
func TestTruth(t *testing.T) {
	sources := map[string]string{}
	snapshots, err := filepath.Glob("../../testdata/snapshots/*/truth.json")
	if err != nil || len(snapshots) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range snapshots {
		sources[filepath.Join(filepath.Dir(file), "etcd_snapshot.db.gz")] = file
	}
	if from := os.Getenv("KITESCOPE_E2E_FROM"); from != "" {
		sources[from] = os.Getenv("KITESCOPE_E2E_TRUTH")
	}
	for from, file := range sources {
		t.Run(strings.ReplaceAll(strings.TrimPrefix(filepath.Dir(from), "../../testdata/snapshots/"), "/", "_"),
			func(t *testing.T) {
				moving := map[string]bool{}
				for _, name := range []string{"t3", "t7", "healthy-load"} {
					if strings.Contains(from, "cluster-2.3.5-"+name+"/") {
						// Inserts continued between the client's calls and the snapshot.
						moving["items_hnsw_l2"], moving["docs_hnsw_cos"], moving["users_flat_ip"] = true, true, true
					}
				}
				compareTruth(t, from, readTruth(t, file), moving)
				listEverything(t, from)
			})
	}
}

// listEverything lists every resource and checks that all metadata of a real server were decoded.
func listEverything(t *testing.T, from string) {
	t.Helper()
	once := &readOnce{}
	for _, r := range view.Resources {
		items := once.getItems(t, from, r.Name)
		if r.Name == "undecoded" && len(items) > 0 {
			t.Errorf("undecoded: %v", items)
		}
		t.Logf("%s: %d", r.Name, len(items))
	}
}

func readTruth(t *testing.T, file string) truth {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tr truth
	if err := json.Unmarshal(text, &tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func compareTruth(t *testing.T, from string, tr truth, moving map[string]bool) {
	t.Helper()
	var each *readOnce // nil: each command reads its data itself
	collections := map[string]map[string]any{}
	for _, c := range each.getItems(t, from, "collections", "state!=Dropping,Dropped") {
		collections[str(c["database"])+"/"+str(c["name"])] = c
	}
	segments := map[string][]map[string]any{}
	for _, s := range each.getItems(t, from, "segments") {
		segments[str(s["collection_id"])] = append(segments[str(s["collection_id"])], s)
	}
	partitions := map[string][]map[string]any{}
	for _, p := range each.getItems(t, from, "partitions") {
		partitions[str(p["collection_id"])] = append(partitions[str(p["collection_id"])], p)
	}
	indexes := map[string][]map[string]any{}
	for _, x := range each.getItems(t, from, "indexes", "deleted!=true") {
		indexes[str(x["collection_id"])] = append(indexes[str(x["collection_id"])], x)
	}
	replicas := map[string][]map[string]any{}
	for _, r := range each.getItems(t, from, "replicas") {
		replicas[str(r["collection_id"])] = append(replicas[str(r["collection_id"])], r)
	}
	fields := map[string][]map[string]any{}
	for _, f := range each.getItems(t, from, "fields") {
		fields[str(f["collection_id"])] = append(fields[str(f["collection_id"])], f)
	}
	known := 0
	for db, list := range tr.DBs {
		for name, want := range list {
			known++
			got := collections[db+"/"+name]
			if got == nil {
				t.Errorf("%s/%s is missing", db, name)
				continue
			}
			id := want.Describe.CollectionID.String()
			same(t, db+"/"+name+" id", str(got["id"]), id)
			if want.Describe.Shards > 0 { // pymilvus 2.1 does not return it
				same(t, db+"/"+name+" shards", str(got["shards"]), strconv.Itoa(want.Describe.Shards))
			}
			if moving[name] {
				continue
			}
			decodeAny(want.Rows, func(n int64) {
				same(t, db+"/"+name+" rows", str(got["rows"]), strconv.FormatInt(n, 10))
			})
			decodeAny(want.Aliases, func(a []string) {
				same(t, db+"/"+name+" aliases", strings1(got["aliases"]), sorted(a))
			})
			decodeAny(want.LoadState, func(s string) {
				same(t, db+"/"+name+" load state", str(got["load_state"]), s)
			})
			decodeAny(want.Partitions, func(list []struct {
				Name string `json:"name"`
				Rows int64  `json:"num_entities"`
			},
			) {
				var w, g []string
				for _, p := range list {
					w = append(w, fmt.Sprintf("%s=%d", p.Name, p.Rows))
				}
				for _, p := range partitions[id] {
					g = append(g, str(p["name"])+"="+str(p["rows"]))
				}
				same(t, db+"/"+name+" partitions", sorted(g), sorted(w))
			})
			decodeAny(want.Persistent, func(list []struct {
				ID        string `json:"segmentID"`
				Partition string `json:"partitionID"`
				Rows      int64  `json:"num_rows"`
				State     string `json:"state"`
			},
			) {
				var w, g []string
				for _, s := range list {
					w = append(w, s.ID+" "+s.Partition+" "+s.State+" "+strconv.FormatInt(s.Rows, 10))
				}
				for _, s := range segments[id] {
					// The client's call lists only flushed segments.
					if state := str(s["state"]); state == "Flushed" || state == "Flushing" {
						g = append(g, str(s["id"])+" "+str(s["partition_id"])+" "+state+" "+str(s["rows"]))
					}
				}
				same(t, db+"/"+name+" segments", sorted(g), sorted(w))
			})
			decodeAny(want.Indexes, func(list []struct {
				Field  string         `json:"field"`
				Name   string         `json:"name"`
				Params map[string]any `json:"params"`
			},
			) {
				var w, g []string
				for _, x := range list {
					w = append(w,
						fmt.Sprintf("%s %v %v %v", x.Field, x.Params["index_type"], x.Params["metric_type"],
							x.Params["params"]))
				}
				for _, x := range indexes[id] {
					g = append(g, fmt.Sprintf("%v %v %v %v", x["field"], x["type"], x["metric"], numbers(x["params"])))
				}
				same(t, db+"/"+name+" indexes", sorted(g), sorted(w))
			})
			decodeAny(want.Replicas, func(list []struct {
				ID    string  `json:"id"`
				Nodes []int64 `json:"nodes"`
			},
			) {
				var w, g []string
				for _, r := range list {
					slices.Sort(r.Nodes)
					w = append(w, fmt.Sprint(r.ID, r.Nodes))
				}
				for _, r := range replicas[id] {
					var nodes []int64
					for _, n := range r["nodes"].([]any) {
						var id int64
						if _, err := fmt.Sscan(str(n), &id); err != nil {
							t.Errorf("node %v: %v", n, err)
						}
						nodes = append(nodes, id)
					}
					slices.Sort(nodes)
					g = append(g, fmt.Sprint(str(r["id"]), nodes))
				}
				same(t, db+"/"+name+" replicas", sorted(g), sorted(w))
			})
			var w, g []string
			for _, f := range want.Describe.Fields {
				w = append(w, fmt.Sprint(f.ID, f.Name))
			}
			for _, f := range fields[id] {
				if str(f["system"]) != "true" {
					g = append(g, str(f["id"])+str(f["name"]))
				}
			}
			same(t, db+"/"+name+" fields", sorted(g), sorted(w))
		}
	}
	same(t, "number of collections", len(collections), known)
}

// decodeAny decodes raw and calls use with the value, unless the client returned no value.
func decodeAny[T any](raw json.RawMessage, use func(T)) {
	var v T
	if len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &v) == nil {
		use(v)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-client +kitescope):\n%s", what, d)
	}
}

// getItems runs "kitescope get ... -o json" and returns its items.
func (l *readOnce) getItems(t *testing.T, from string, words ...string) []map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	s := scriptStreams(&out, &errs, nil)
	if l != nil {
		s.Loads = l.load
	}
	if code := run(t.Context(), s, append([]string{"get", "-o", "json", "--from", from, "-q"}, words...)); code != 0 {
		t.Fatalf("kitescope get %v: exit %d: %s", words, code, errs.String())
	}
	var list struct{ Items []map[string]any }
	d := json.NewDecoder(&out)
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func str(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func strings1(v any) []string {
	list, _ := v.([]any)
	var s []string
	for _, x := range list {
		s = append(s, str(x))
	}
	return sorted(s)
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	sort.Strings(s)
	if s == nil {
		s = []string{}
	}
	return s
}

// numbers converts numeric values of index params to numbers, as the client does.
func numbers(v any) map[string]any {
	m, _ := v.(map[string]any)
	out := map[string]any{}
	for k, x := range m {
		var n float64
		if _, err := fmt.Sscan(str(x), &n); err == nil {
			out[k] = n
		} else {
			out[k] = x
		}
	}
	return out
}
