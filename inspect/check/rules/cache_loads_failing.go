package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of cache-loads-failing, equal to those of storage-failing.
const (
	minLoadFailsWarning, minLoadFailsError   = 2, 3
	loadFailShareWarning, loadFailShareError = 0.1, 0.5
)

// cacheLoadsFailing reports query nodes that fail to load cells into their cache.
var cacheLoadsFailing = &check.Check{
	ID:       "cache-loads-failing",
	Title:    "A query node fails to load cells into its cache",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang},
	Starts:   "collection_loading config_changed:tieredStorage | config_changed:minio node_lost:querynode",
	Needs:    check.NeedMetrics,
	Doc: `Searches fail because a query node's cache is full. With tiered storage (2.6 and later) segments are loaded
cell by cell, at loading (warmup) or when a search needs them. A load fails if storage fails, or if the cache has no
room within ` + "`queryNode.segcore.tieredStorage.loadingTimeoutMs`" + ` (warmup: ` + "`warmupLoadingTimeoutMs`" + `, at
once). The check compares two scrapes of ` + "`internal_cache_load_event_fail_total`" + ` with the loads counted by
` + "`internal_cache_load_latency_microseconds`" + `.

Warning: two loads, and a tenth of all, failed between the scrapes. Error: three, and half. Info: fewer, or failures
only before the first scrape. The metric has no reason; the evidence includes how full the cache is. Never seen on a
live Milvus.`,
	Remedy: `Search the node's log for "[MCL]" to find the reason. If the cache is full of cells that searches
hold and that cannot be evicted, give the node more memory or disk, or fewer segments.`,
	Run: runCacheLoadsFailing,
	FollowsFrom: []check.Cause{
		check.StorageFails("querynode"),
		{Check: "files-missing", Applies: check.Serves},
		{Check: "memory-pressure", Applies: check.SharesProcess},
	},
}

func runCacheLoadsFailing(p *check.Pass) {
	eachCache(p, func(n *model.LiveNode, c *model.Cache, w *metrics.Window) {
		failed, told := w.Counter(metrics.CacheLoadFailed)
		if !told {
			p.NoteUnseen("failed cache loads of " + n.Name() + ": not in its metrics")
			return
		}
		loads, _ := w.Histogram(metrics.CacheLoad)
		if severity, bad := judgeLoads(failed, loads.Count, w.SinceStart); bad {
			reportLoads(p, n, c, w, severity, failed, loads.Count)
		}
	})
}

func judgeLoads(failed, done float64, sinceStart bool) (severity check.Severity, bad bool) {
	share := failed / max(1, failed+done)
	switch {
	case sinceStart:
		return check.Info, failed >= minLoadFailsError
	case failed >= minLoadFailsError && share >= loadFailShareError:
		return check.Error, true
	case failed >= minLoadFailsWarning && share >= loadFailShareWarning:
		return check.Warning, true
	}
	return check.Info, failed > 0
}

func reportLoads(
	p *check.Pass, n *model.LiveNode, c *model.Cache, w *metrics.Window, severity check.Severity, failed, done float64,
) {
	source := n.Name() + " /metrics"
	when := "since it started"
	if !w.SinceStart {
		when = "in " + words.Span(w.To.Sub(w.From))
	}
	f := check.Finding{
		Severity: severity, Object: n.Ref(),
		Message: fmt.Sprintf("%s failed %s of %s into its cache %s",
			n.Name(), words.Number(int64(failed)), words.Plural(int64(failed+done), "load"), when),
		Evidence: append([]check.Evidence{
			check.Count("failed", int64(failed), source), check.Count("loaded", int64(done), source),
		}, cacheFill(c, source)...),
		Impact: "Searches that need these cells fail, or segments do not load.",
		Fix: check.Fix(
			check.Do("search the log of %s for \"[MCL]\": it has the reason", n.Name()),
			check.Shell(check.Kitescope("get nodes --columns "+
				"id,cache_failed_loads,cache_memory_bytes,cache_memory_limit_bytes,cache_disk_bytes,cache_disk_limit_bytes").
				Arg("id="+n.Node.String())).Does("shows how full the cache is"),
		),
	}
	if severity == check.Info {
		f.Fix = check.Fix(check.Shell(check.Kitescope("diagnose --watch --only cache-loads-failing")).
			Does("shows whether it continues; no action is needed if it does not"))
	}
	p.Report(f)
}
