package view

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// cacheEnv returns a cluster with a query node that has a cache, one without cache metrics, one with a
// truncated scrape, one that refused the connection, and a data node.
func cacheEnv(t *testing.T) *Env {
	t.Helper()
	of := func(name, session string) *model.Process {
		return loadScrapes(t, name, model.Ref{Resource: "nodes", ID: session})
	}
	cut := of("coordinator.txt", "querynode-7")
	cut.Metrics.Partial = true
	nodes := []*model.LiveNode{
		{Role: "querynode", Node: 5, Process: of("querynode-cache.txt", "querynode-5")},
		{Role: "querynode", Node: 6, Process: of("coordinator.txt", "querynode-6")},
		{Role: "querynode", Node: 7, Process: cut},
		{Role: "querynode", Node: 8, Outcome: model.Refused},
		{Role: "datanode", Node: 9, Process: of("querynode-cache.txt", "datanode-9")},
	}
	var sessions []*model.Session
	var processes []*model.Process
	for _, n := range nodes {
		sessions = append(sessions, &model.Session{Role: n.Role, Node: n.Node})
		if n.Process != nil {
			processes = append(processes, n.Process)
		}
	}
	c := model.Build(model.Parts{Origin: model.Origin{Kind: "etcd"}, Loaded: model.PartAll, Sessions: sessions}).
		WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: nodes, Processes: processes}))
	return NewEnv(c, time.Unix(1_764_000_061, 0))
}

// TestNodeCache checks the cache columns of a node with a cache, of a release without one, of a truncated
// scrape, of a node without metrics, and of another role.
func TestNodeCache(t *testing.T) {
	env := cacheEnv(t)
	rows := nodes.Table(env)
	for name, is := range map[string]table.Cell{
		"cache_memory_bytes":             {Int: 7 << 20},
		"cache_memory_limit_bytes":       {Int: 10 << 20},
		"cache_disk_bytes":               {Int: 20 << 20},
		"cache_disk_limit_bytes":         {Int: 100 << 20},
		"cache_loading_bytes":            {Int: 1 << 20},
		"cache_cells":                    {Int: 200},
		"cache_loaded_cells":             {Int: 50},
		"cache_types":                    {List: []string{"scalar_field", "21.0 MiB", "vector_index", "6.0 MiB"}},
		"cache_hit_percent":              {Float: 75},
		"cache_missed_bytes_per_second":  {Int: 3_000_000},
		"cache_evicted_bytes_per_second": {Int: 2_500_000},
		"cache_load_ms":                  {Float: 20},
		"cache_failed_loads":             {Int: 5},
	} {
		for node, want := range map[model.NodeID]table.Cell{5: is, 6: none(), 7: unknown(), 8: unknown(), 9: none()} {
			row := slices.IndexFunc(env.Cluster.Sessions, func(s *model.Session) bool { return s.Node == node })
			if diff := cmp.Diff(want, rows.Cell(row, nodes.Column(name))); diff != "" {
				t.Errorf("node %d: %s (-want +got):\n%s", node, name, diff)
			}
		}
	}
}

// TestCacheWithoutLimits checks that the limit is none if eviction is off, and that the hit rate is by cells
// in releases that do not count bytes.
func TestCacheWithoutLimits(t *testing.T) {
	env := cacheEnv(t)
	at := slices.IndexFunc(env.Cluster.Sessions, func(s *model.Session) bool { return s.Node == 5 })
	p := env.Cluster.Runtime.LiveNode("querynode", 5).Process
	p.Before = nil
	for _, name := range []string{
		"internal_cache_capacity_bytes", "internal_cache_cell_access_hit_bytes_total",
		"internal_cache_cell_access_miss_bytes_total",
	} {
		delete(p.Metrics.Families, name)
	}
	cell := func(name string) table.Cell { return nodes.Table(env).Cell(at, nodes.Column(name)) }
	if limit, share, missed := cell("cache_memory_limit_bytes"), cell("cache_hit_percent"),
		cell("cache_missed_bytes_per_second"); limit.Absent != table.None || share.Absent != table.Unknown ||
		missed.Absent != table.Unknown {
		t.Errorf("limit %v, share %v, missed %v", limit, share, missed)
	}
	for name, v := range map[string]float64{
		"internal_cache_cell_access_hit_total": 9, "internal_cache_cell_access_miss_total": 1,
	} {
		p.Metrics.Families[name] = &model.Family{
			Name: name, Kind: model.MetricCounter, Series: []model.Series{{Value: v}},
		}
	}
	if share := cell("cache_hit_percent"); share.Float != 90 {
		t.Errorf("by cells: %v", share)
	}
}

func TestOverviewOfCaches(t *testing.T) {
	env := cacheEnv(t)
	bytesOf := func(v int64) table.Cell { return table.Cell{Int: v << 20} }
	want := &CacheLine{
		Nodes: 1, UnknownNodes: 2, Memory: bytesOf(7), MemoryLimit: bytesOf(10), Disk: bytesOf(20),
		DiskLimit: bytesOf(100),
	}
	if diff := cmp.Diff(want, NewOverview(env).Cache); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	sum := tierSum{}
	sum.add(model.CacheTier{Loaded: 1, Capacity: 9})
	sum.add(model.CacheTier{Loaded: 2, Capacity: math.NaN()})
	if loaded, limit := sum.cells(); loaded.Int != 3 || limit.Absent != table.Unknown {
		t.Errorf("one has a limit, one has none: %v of %v", loaded, limit)
	}
	delete(env.Cluster.Runtime.LiveNode("querynode", 5).Process.Metrics.Families, "internal_cache_capacity_bytes")
	if o := NewOverview(env); o.Cache.MemoryLimit.Absent != table.None || o.Cache.Memory.Int != 7<<20 {
		t.Errorf("eviction is off: %+v", o.Cache)
	}
	if o := NewOverview(streamingEnv(t)); o.Cache != nil {
		t.Errorf("no cache is told: %+v", o.Cache)
	}
}
