package meta

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/model"
)

// The tests in this file compare clusters with the output of the official client for the same server (truth.json),
// and with an independent decoding of its segments (segments_etcd.json) and sessions (sessions.json).

type truthCollection struct {
	Describe struct {
		ID          int64  `json:"collection_id"`
		Name        string `json:"collection_name"`
		Description string
		AutoID      bool `json:"auto_id"`
		Shards      *int `json:"num_shards"`
		Consistency int  `json:"consistency_level"`
		Fields      []struct {
			ID      int64 `json:"field_id"`
			Name    string
			Type    int
			Params  map[string]any
			Primary bool `json:"is_primary"`
			AutoID  bool `json:"auto_id"`
		}
	}
	Rows       int64 `json:"num_entities"`
	Partitions []struct {
		Name string
		Rows int64 `json:"num_entities"`
	}
	Indexes []struct {
		Field, Name string
		Params      struct {
			Type   string `json:"index_type"`
			Metric string `json:"metric_type"`
			Params map[string]any
		}
	}
	Aliases   []string
	LoadState *string `json:"load_state"`
	Progress  struct {
		Percent string `json:"loading_progress"`
	} `json:"loading_progress"`
	Persistent []struct {
		ID        string `json:"segmentID"`
		Partition string `json:"partitionID"`
		Rows      int64  `json:"num_rows"`
		State     string
	} `json:"persistent_segments"`
	Replicas json.RawMessage
}

func readTruth(t *testing.T, name, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(fixturePath(name, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func TestClusterEqualsClient(t *testing.T) {
	for _, name := range fixtures() {
		t.Run(name, func(t *testing.T) {
			var truth struct {
				DBs map[string]map[string]truthCollection
			}
			readTruth(t, name, "truth.json", &truth)
			c := loadFixture(t, name, Want{Parts: model.PartAll})
			live := make(map[string]*model.Collection)
			for _, x := range c.Collections {
				if !x.Dropped() {
					live[c.DatabaseName(x.Database)+"/"+x.Name] = x
				}
			}
			var want []string
			for db, collections := range truth.DBs {
				for collection := range collections {
					want = append(want, db+"/"+collection)
				}
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(live))); diff != "" {
				t.Fatalf("collections (-client +ours):\n%s", diff)
			}
			for db, collections := range truth.DBs {
				for collection, tc := range collections {
					t.Run(collection,
						func(t *testing.T) { compareCollection(t, name, c, live[db+"/"+collection], &tc) })
				}
			}
		})
	}
}

func compareCollection(t *testing.T, fixture string, c *model.Cluster, x *model.Collection, truth *truthCollection) {
	t.Helper()
	d := &truth.Describe
	// The client of 2.1 never reports AutoID for a collection.
	if int64(x.ID) != d.ID || x.Description != d.Description || d.AutoID && !x.AutoID {
		t.Errorf("id %d description %q auto id %v, client says %d %q %v", x.ID, x.Description, x.AutoID, d.ID,
			d.Description, d.AutoID)
	}
	if d.Shards != nil && x.Shards != *d.Shards {
		t.Errorf("%d shards, client says %d", x.Shards, *d.Shards)
	}
	if levels := []string{"Strong", "Session", "Bounded", "Eventually", "Customized"}; x.ConsistencyLevel !=
		levels[d.Consistency] &&
		// a default level is recorded as 0, and the client shows its own default
		!(x.ConsistencyLevel == "Strong" && d.Consistency == 2) {
		t.Errorf("consistency %s, client says %d", x.ConsistencyLevel, d.Consistency)
	}
	compareFields(t, x, truth)
	compareIndexes(t, c, x, truth)
	compareRows(t, fixture, c, x, truth)
	compareServing(t, c, x, truth)
	var aliases []string
	for _, a := range c.AliasesOf(x.ID) {
		aliases = append(aliases, a.Name)
	}
	if diff := cmp.Diff(truth.Aliases, aliases, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("aliases (-client +ours):\n%s", diff)
	}
}

func compareFields(t *testing.T, x *model.Collection, truth *truthCollection) {
	t.Helper()
	types := map[int]string{
		1: "Bool", 2: "Int8", 3: "Int16", 4: "Int32", 5: "Int64", 10: "Float", 11: "Double", 21: "VarChar", 22: "Array",
		23: "JSON", 100: "BinaryVector", 101: "FloatVector",
	}
	var want, got []string
	for _, f := range truth.Describe.Fields {
		want = append(want, fmt.Sprintln(f.ID, f.Name, types[f.Type], f.Primary, f.AutoID, fmt.Sprint(f.Params)))
	}
	for _, f := range x.Fields {
		if f.System() {
			continue
		}
		params := make(map[string]any)
		for _, p := range f.Params {
			params[p.Key] = p.Value
		}
		got = append(got, fmt.Sprintln(f.ID, f.Name, f.Type, f.PrimaryKey, f.AutoID, fmt.Sprint(params)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-client +ours):\n%s", diff)
	}
}

func compareIndexes(t *testing.T, c *model.Cluster, x *model.Collection, truth *truthCollection) {
	t.Helper()
	var want, got []string
	for _, i := range truth.Indexes {
		want = append(want, fmt.Sprintln(i.Field, i.Params.Type, i.Params.Metric, fmt.Sprint(i.Params.Params)))
	}
	for _, i := range c.IndexesOf(x.ID) {
		if i.Deleted {
			continue
		}
		params := make(map[string]any)
		for _, p := range i.Params {
			params[p.Key] = p.Value
		}
		got = append(got, fmt.Sprintln(x.Field(i.Field).Name, i.Type, i.Metric, fmt.Sprint(params)))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("indexes (-client +ours):\n%s", diff)
	}
}

func compareRows(t *testing.T, fixture string, c *model.Cluster, x *model.Collection, truth *truthCollection) {
	t.Helper()
	if fixture == "cluster-2.3.5-t7" { // rows were being inserted between the two readings
		return
	}
	if got := c.CollectionTotals(x.ID).Rows; got != truth.Rows {
		t.Errorf("%d rows, client says %d", got, truth.Rows)
	}
	want, got := make(map[string]int64), make(map[string]int64)
	for _, p := range truth.Partitions {
		want[p.Name] = p.Rows
	}
	for _, p := range c.PartitionsOf(x.ID) {
		got[p.Name] = c.PartitionTotals(p.ID).Rows
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of partitions (-client +ours):\n%s", diff)
	}
	var persistent, flushed []string
	for _, s := range truth.Persistent {
		persistent = append(persistent, fmt.Sprintln(s.ID, s.Partition, s.Rows, s.State))
	}
	for _, s := range c.SegmentsOf(x.ID) {
		if s.State == model.SegmentFlushed {
			flushed = append(flushed, fmt.Sprintln(s.ID, s.Partition, s.Rows, s.State))
		}
	}
	slices.Sort(persistent)
	if diff := cmp.Diff(persistent, flushed, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("segments (-client +ours):\n%s", diff)
	}
}

func compareServing(t *testing.T, c *model.Cluster, x *model.Collection, truth *truthCollection) {
	t.Helper()
	loaded := truth.Progress.Percent == "100%"
	if truth.LoadState != nil {
		loaded = *truth.LoadState == "Loaded"
	}
	state := c.LoadState(x.ID)
	if (state != nil && state.Status == "Loaded") != loaded {
		t.Errorf("load state %+v, client says loaded %v", state, loaded)
	}
	var replicas []struct {
		ID     string
		Nodes  []int64
		Shards []struct{ Channel string }
	}
	if json.Unmarshal(truth.Replicas, &replicas) != nil {
		replicas = nil // the client's error: not loaded
	}
	var want, got []string
	for _, r := range replicas {
		slices.Sort(r.Nodes)
		want = append(want, fmt.Sprintln(r.ID, r.Nodes))
		var shards []string
		for _, s := range r.Shards {
			shards = append(shards, s.Channel)
		}
		slices.Sort(shards)
		ours := slices.Sorted(slices.Values(x.VChannels))
		if diff := cmp.Diff(shards, ours); diff != "" {
			t.Errorf("shards (-client +ours):\n%s", diff)
		}
	}
	for _, r := range c.ReplicasOf(x.ID) {
		got = append(got, fmt.Sprintln(r.ID, r.Nodes))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replicas (-client +ours):\n%s", diff)
	}
}

func TestSegmentsEqualDump(t *testing.T) {
	for _, name := range fixtures() {
		t.Run(name, func(t *testing.T) {
			var dump []struct {
				ID, CollectionID, PartitionID string
				Channel                       string          `json:"insert_channel"`
				Rows                          int64           `json:"num_of_rows"`
				State                         string          `json:"state_name"`
				MaxRows                       int64           `json:"max_row_num"`
				ExpireAt                      uint64          `json:"last_expire_time"`
				From                          json.RawMessage `json:"compactionFrom"`
				ByCompaction                  int             `json:"createdByCompaction"`
				Compacted                     int
				DroppedAt                     int64 `json:"dropped_at"`
			}
			readTruth(t, name, "segments_etcd.json", &dump)
			c := loadFixture(t, name, Want{Parts: model.PartAll})
			var want, got []string
			for _, s := range dump {
				from := 0
				if len(s.From) > 0 && string(s.From) != "null" {
					from = 1
				}
				want = append(want,
					fmt.Sprintln(s.ID, s.CollectionID, s.PartitionID, s.Channel, s.Rows, s.State, s.MaxRows, s.ExpireAt,
						s.ByCompaction == 1, s.Compacted == 1, from, s.DroppedAt/1e6))
			}
			for _, s := range c.Segments {
				dropped := int64(0)
				if !s.DroppedAt.Time().IsZero() {
					dropped = s.DroppedAt.Time().UnixMilli()
				}
				got = append(got,
					fmt.Sprintln(s.ID, s.Collection, s.Partition, s.VChannel, s.Rows, s.State, s.MaxRows,
						uint64(s.ExpireAt),
						s.ByCompaction, s.Compacted, min(len(s.CompactedFrom), 1), dropped))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("segments (-dump +ours):\n%s", diff)
			}
		})
	}
}

func TestSessionsEqualDump(t *testing.T) {
	for _, name := range fixtures() {
		t.Run(name, func(t *testing.T) {
			var dump map[string]json.RawMessage
			readTruth(t, name, "sessions.json", &dump)
			var want, got []string
			for key, raw := range dump {
				var s struct {
					ServerID            int64
					ServerName, Address string
					Version, HostName   string
					Exclusive           bool
				}
				if json.Unmarshal(raw, &s) != nil || s.ServerName == "" {
					continue // session/id
				}
				want = append(want,
					fmt.Sprintln(key, s.ServerID, s.ServerName, s.Address, s.Version, s.HostName, s.Exclusive))
			}
			for _, s := range loadFixture(t, name, Want{Parts: model.PartCatalog}).Sessions {
				got = append(got, fmt.Sprintln(s.Key, s.Node, s.Role, s.Address, s.Version, s.HostName, s.Exclusive))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sessions (-dump +ours):\n%s", diff)
			}
		})
	}
}

// TestEveryKeyIsDecoded compares the undecoded keys with the golden list, which is empty.
func TestEveryKeyIsDecoded(t *testing.T) {
	for _, name := range fixtures() {
		c := loadFixture(t, name, Want{Parts: model.PartAll})
		var got []byte
		for _, u := range c.Undecoded {
			got = fmt.Appendf(got, "%s: %s\n", u.Key, u.Reason)
		}
		golden := "testdata/" + name + ".undecoded.golden"
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: undecoded (-golden +ours):\n%s", name, diff)
		}
		var raw struct {
			KVs []json.RawMessage `json:"kvs"`
		}
		readGzip(t, fixturePath(name, "etcd_raw.json.gz"), &raw)
		if c.Keys != int64(len(raw.KVs)) {
			t.Errorf("%s: %d keys, etcd has %d", name, c.Keys, len(raw.KVs))
		}
	}
}

func TestVersions(t *testing.T) {
	want := map[string][2]string{
		"standalone-2.1.0": {"2.1", "key layout"}, "standalone-2.2.16": {"2.2.16", "sessions"},
		"standalone-2.3.5": {"2.3.5", "sessions"},
		"cluster-2.3.5-t1": {"2.3.5", "sessions"}, "cluster-2.3.5-t7": {"2.3.5", "sessions"},
		"upgrade-2.2.16": {"2.2.16", "sessions"}, "rollback-2.1.0": {"2.1", "key layout"},
	}
	notes := map[string]int{"upgrade-2.2.16": 4, "rollback-2.1.0": 2}
	for _, name := range fixtures() {
		v := loadFixture(t, name, Want{Parts: model.PartAll}).Version
		if got := [2]string{v.Text, v.From}; got != want[name] {
			t.Errorf("%s: version %v, want %v", name, got, want[name])
		}
		if len(v.Notes) != notes[name] {
			t.Errorf("%s: notes %s, want %d", name, strconv.Quote(fmt.Sprint(v.Notes)), notes[name])
		}
	}
}
