package view

import (
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// These columns of query nodes come from the metrics of segcore's caching layer, i.e. tiered storage (2.6 and
// later). The metrics are per process and have no label for the collection or segment. They were never
// verified against a live server.

// cacheOf returns the cache metrics of a query node and the process that they come from. Without cache
// metrics it returns the cell to show instead: none for other roles and for processes without a cache,
// unknown if the metrics were not read or the scrape was truncated.
func cacheOf(e *Env, s *model.Session) (*model.Cache, *model.Process, table.Cell) {
	if !servesQueries(s) {
		return nil, nil, none()
	}
	n := liveNode(e, s)
	if n == nil {
		n = sameProcess(e, s)
	}
	if n == nil || n.Process == nil || n.Process.Metrics == nil {
		return nil, nil, unknown()
	}
	c := n.Process.Metrics.Cache()
	if c == nil && n.Process.Metrics.Partial {
		return nil, nil, unknown()
	}
	return c, n.Process, none()
}

// cacheColumn returns a column function that computes the cell from the cache of a query node.
func cacheColumn(cell func(*model.Cache) table.Cell) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		c, _, absent := cacheOf(e, s)
		if c == nil {
			return absent
		}
		return cell(c)
	}
}

// limitColumn returns a column function for a limit of a cache. The cell is none if eviction is off, because the
// limit has no effect then.
func limitColumn(of func(*model.Cache) float64) func(*Env, *model.Session) table.Cell {
	return cacheColumn(func(c *model.Cache) table.Cell {
		if !c.Evicts() {
			return none()
		}
		return roundedCount(of(c))
	})
}

// cacheWindow returns a column function that computes the cell from the metrics window of a query node with a
// cache.
func cacheWindow(cell func(*metrics.Window) table.Cell) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		c, p, absent := cacheOf(e, s)
		if c == nil {
			return absent
		}
		return cell(metrics.NewWindow(p.Before, p.Metrics))
	}
}

// cacheRate returns a column function for the increase of a byte counter per second. The cell is unknown in
// releases without the counter.
func cacheRate(name metrics.Name) func(*Env, *model.Session) table.Cell {
	return cacheWindow(func(w *metrics.Window) table.Cell {
		v, c := rate(w, name)
		if c.Absent != table.Present {
			return unknown()
		}
		return roundedCount(v)
	})
}

// hitShare returns the hit rate of the cache in percent: by bytes, or by cells in releases that do not count
// bytes. It is none without accesses.
func hitShare(w *metrics.Window) table.Cell {
	hits, okHits := w.Counter(metrics.CacheHitBytes)
	misses, okMisses := w.Counter(metrics.CacheMissBytes)
	if !okHits || !okMisses {
		hits, okHits = w.Counter(metrics.CacheHits)
		misses, okMisses = w.Counter(metrics.CacheMisses)
	}
	switch {
	case !okHits || !okMisses:
		return unknown()
	case hits+misses <= 0:
		return none()
	}
	return table.Cell{Float: 100 * hits / (hits + misses)}
}

var nodeCache = []column[*model.Session]{
	col(table.Column{
		Name: "cache_memory_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes that the caching layer of a query node has loaded into memory (2.6): cells of fields and " +
			"indexes; " +
			"none if the process has no such metrics.",
	},
		cacheColumn(func(c *model.Cache) table.Cell { return roundedCount(c.Memory.Loaded) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_memory_limit_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Limit of these bytes; none if eviction is off, because segments are then loaded whole.",
	},
		limitColumn(func(c *model.Cache) float64 { return c.Memory.Capacity })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_disk_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes that it has loaded onto the node's disk.",
	},
		cacheColumn(func(c *model.Cache) table.Cell { return roundedCount(c.Disk.Loaded) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_disk_limit_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Limit of these bytes on disk; none if eviction is off.",
	},
		limitColumn(func(c *model.Cache) float64 { return c.Disk.Capacity })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_loading_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes being loaded now, into memory and onto disk: for a request, or to warm up.",
	},
		cacheColumn(func(c *model.Cache) table.Cell { return roundedCount(c.Memory.Loading + c.Disk.Loading) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_cells", Kind: table.Int, Show: table.Hidden,
		Doc: "Cells that its segments consist of, loaded or not.",
	},
		cacheColumn(func(c *model.Cache) table.Cell { return roundedCount(c.Cells) })).withNeeds(model.PartRuntime),
	col(table.Column{Name: "cache_loaded_cells", Kind: table.Int, Show: table.Hidden, Doc: "Loaded cells among these."},
		cacheColumn(func(c *model.Cache) table.Cell { return roundedCount(c.LoadedCells) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_types", Kind: table.Pairs, Show: table.Hidden,
		Doc: "Loaded bytes by type of data, in memory and on disk: vector_field, vector_index, scalar_field, " +
			"scalar_index, other.",
	},
		cacheColumn(func(c *model.Cache) table.Cell {
			var flat []string
			for _, t := range c.Types {
				flat = append(flat, t.Name, words.Bytes(int64(t.Bytes)))
			}
			return list(flat)
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_hit_percent", Kind: table.Percent, Show: table.Hidden,
		Doc: "Share of the requested bytes that were in the cache, between two scrapes, else since the process " +
			"started; share of cells in releases that do not count bytes.",
	},
		cacheWindow(hitShare)).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_missed_bytes_per_second", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Requested bytes per second that had to be loaded.",
	},
		cacheRate(metrics.CacheMissBytes)).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_evicted_bytes_per_second", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes evicted per second.",
	},
		cacheRate(metrics.CacheEvicted)).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_load_ms", Kind: table.Number, Show: table.Hidden,
		Doc: "Mean time to load cells, in milliseconds; none if none were loaded.",
	},
		cacheWindow(func(w *metrics.Window) table.Cell {
			h, ok := w.Histogram(metrics.CacheLoad)
			if !ok {
				return unknown()
			}
			low, _, ok := h.Mean()
			if !ok {
				return none()
			}
			return number(low)
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cache_failed_loads", Kind: table.Int, Show: table.Hidden,
		Doc: "Loads that failed in the same window: no room, or a storage error.",
	},
		cacheWindow(func(w *metrics.Window) table.Cell {
			v, ok := w.Counter(metrics.CacheLoadFailed)
			if !ok {
				return unknown()
			}
			return roundedCount(v)
		})).withNeeds(model.PartRuntime),
}
