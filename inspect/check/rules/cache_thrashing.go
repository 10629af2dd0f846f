package rules

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of cache-thrashing. They come from the cost of misses, because no capture has these metrics.
const (
	// thrashMisses is the minimum share of requested bytes that had to be loaded. If every tenth byte comes from
	// object storage, searches are as slow as object storage.
	thrashMisses = 0.1
	// thrashEvicted is the minimum share of the cache that was evicted in the window, and thrashBytes the minimum
	// size of that in bytes: less is only a few cells.
	thrashEvicted = 0.05
	thrashBytes   = 64 << 20
)

// cacheThrashing reports query nodes that evict cells and load them again soon.
var cacheThrashing = &check.Check{
	ID:       "cache-thrashing",
	Title:    "A query node's cache is too small for the searched data",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "collection_loading collection_loaded node_lost:querynode | config_changed:tieredStorage replica_changed",
	Parts:    model.PartServing,
	Needs:    check.NeedMetrics,
	Doc: `Searches wait for object storage because the node evicts data that the next search needs. With tiered
storage (2.6 and later, ` + "`queryNode.segcore.tieredStorage.evictionEnabled`" + `) a query node loads cells of fields
and indexes on demand and evicts others. The check compares two scrapes of ` + "`/metrics`" + `:
` + "`internal_cache_evicted_bytes_total`" + `, and the requested bytes,
` + "`internal_cache_cell_access_hit_bytes_total`" + ` and ` + "`_miss_bytes_total`" + `.

Warning: a tenth of the requested bytes had to be loaded, 5% of the cache (at least 64 MiB) was evicted at the same
time, and the cache is not below its low-water mark, in memory or on disk. Info while cells, a collection or a
partition are being loaded: first loads evict unneeded data.

Not reported: a full cache that hits, because it is full by design; misses without evictions, e.g. after a load or in
the first searches; a single scrape, because it includes the first loads. Never seen on a live Milvus.`,
	Remedy: `Give the node more memory or disk for the cache
(` + "`queryNode.segcore.tieredStorage.memoryHighWatermarkRatio`" + `, ` + "`diskHighWatermarkRatio`" + `), add query
nodes to share the segments, or release collections that are not searched. If all of a collection is searched all the
time, tiered storage gains nothing: turn eviction off to load segments whole.`,
	Slowness: true,
	Run:      runCacheThrashing,
	FollowsFrom: []check.Cause{
		{Check: "replica-short", Applies: check.Serves}, {Check: "imbalance-memory", Applies: check.Shares("nodes")},
	},
}

func runCacheThrashing(p *check.Pass) {
	eachCache(p, func(n *model.LiveNode, c *model.Cache, w *metrics.Window) {
		if !c.Evicts() {
			return
		}
		evicted, told := w.Counter(metrics.CacheEvicted)
		missed, toldMissed := w.Counter(metrics.CacheMissBytes)
		hit, toldHit := w.Counter(metrics.CacheHitBytes)
		switch {
		case !told || !toldMissed || !toldHit:
			p.NoteUnseen("hits and evictions of the cache of " + n.Name() + ": not in its metrics")
		case w.SinceStart:
			p.NoteUnseen("hits and evictions of the cache of " + n.Name() + ": " + w.Reason)
		case missed <= 0 || missed < thrashMisses*(hit+missed) || evicted < thrashBytes ||
			evicted < thrashEvicted*loadedBytes(c):
		case math.IsNaN(c.Memory.LowWater) && math.IsNaN(c.Disk.LowWater):
			p.NoteUnseen("how full the cache of " + n.Name() + " is: its low-water mark is not in its metrics")
		case c.Memory.Loaded >= c.Memory.LowWater || c.Disk.Loaded >= c.Disk.LowWater:
			// below it, the evicted segments were released
			reportThrashing(p, n, c, w, evicted, missed, hit)
		}
	})
}

// eachCache calls f for each query node whose process has a cache. A process with several roles counts once.
func eachCache(p *check.Pass, f func(*model.LiveNode, *model.Cache, *metrics.Window)) {
	seen := map[*model.Process]bool{}
	for _, n := range p.Runtime.QueryNodes() {
		if n.Process == nil || n.Process.Metrics == nil || seen[n.Process] {
			continue
		}
		seen[n.Process] = true
		if c := n.Process.Metrics.Cache(); c != nil {
			f(n, c, metrics.NewWindow(n.Process.Before, n.Process.Metrics))
		} else if n.Process.Metrics.Partial {
			p.NoteUnseen("cache of " + n.Name() + ": its metrics were read only in part")
		}
	}
}

// loadedBytes returns the size of the content of a cache, in memory and on disk.
func loadedBytes(c *model.Cache) float64 {
	sum := 0.0
	for _, v := range []float64{c.Memory.Loaded, c.Disk.Loaded} {
		if !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}

func reportThrashing(
	p *check.Pass, n *model.LiveNode, c *model.Cache, w *metrics.Window, evicted, missed, hit float64,
) {
	source := n.Name() + " /metrics"
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(),
		Message: fmt.Sprintf("the cache of %s evicted %s and loaded %s in %s: %s of the requested bytes were not in it",
			n.Name(), words.Bytes(int64(evicted)), words.Bytes(int64(missed)),
			words.Span(w.To.Sub(w.From)), words.Percent(100*missed/(hit+missed))),
		Evidence: append([]check.Evidence{
			check.Size("evicted", int64(evicted), source),
			check.Size("requested and missed", int64(missed), source),
			check.Size("requested and hit", int64(hit), source),
		}, cacheFill(c, source)...),
		Impact: "Searches and queries wait until cells are loaded from object storage.",
		Fix: check.Fix(
			check.Do("give %s more room for the cache, add query nodes, or release collections that are not searched",
				n.Name()).
				Restarting(p.Cluster, 5*time.Minute, "querynode"),
			check.Shell(check.Kitescope("get nodes --columns "+
				"id,cache_hit_percent,cache_memory_bytes,cache_memory_limit_bytes,cache_evicted_bytes_per_second").
				Arg("role=querynode")).Does("shows hits and evictions of all query nodes"),
		),
	}
	loading := slices.ContainsFunc(p.LoadStates, func(l *model.LoadState) bool { return len(loadsOf(l)) > 0 })
	if loading || c.LoadingCells > 0 {
		f.Severity = check.Info
		f.Message += ", while data is being loaded"
	}
	p.Report(f)
}

// cacheFill returns the size and capacity of a cache as evidence.
func cacheFill(c *model.Cache, source string) (list []check.Evidence) {
	for _, x := range []struct {
		name string
		tier model.CacheTier
	}{{"memory", c.Memory}, {"disk", c.Disk}} {
		if !math.IsNaN(x.tier.Loaded) && !math.IsNaN(x.tier.Capacity) {
			list = append(list,
				check.Factf("in "+x.name, source, "%s of %s", check.Bytes(int64(x.tier.Loaded)),
					check.Bytes(int64(x.tier.Capacity))))
		}
	}
	return list
}
