package view

import (
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// Columns of query nodes from the metrics of segcore's caching layer (2.6 and later): tiered storage. The metrics are of the process, and have no
// label of a collection or a segment. They were never held against a live server.

// cacheOf is the cache of a query node's process. The cell is what stands for it where there is nothing to say: none of other roles and where the
// metrics have none, unknown where they were not read.
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

// ofCache is a cell of a query node's cache.
func ofCache(cell func(*model.Cache) table.Cell) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		c, _, absent := cacheOf(e, s)
		if c == nil {
			return absent
		}
		return cell(c)
	}
}

// limited is a limit of a cache: none where eviction is off, as then nothing is held against it.
func limited(of func(*model.Cache) float64) func(*Env, *model.Session) table.Cell {
	return ofCache(func(c *model.Cache) table.Cell {
		if !c.Evicts() {
			return none()
		}
		return whole(of(c))
	})
}

// cacheWindow is what came to a query node's cache in its process's window.
func cacheWindow(cell func(*metrics.Window) table.Cell) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		c, p, absent := cacheOf(e, s)
		if c == nil {
			return absent
		}
		return cell(metrics.NewWindow(p.Before, p.Metrics))
	}
}

// cacheRate is how much came to a counter of bytes a second; unknown in releases that do not count it.
func cacheRate(name metrics.Name) func(*Env, *model.Session) table.Cell {
	return cacheWindow(func(w *metrics.Window) table.Cell {
		v, c := rate(w, name)
		if c.Absent != table.Present {
			return unknown()
		}
		return whole(v)
	})
}

// hitShare is the part of what was asked for that was in the cache: by bytes, else by cells. none where nothing was asked for.
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
	col(table.Column{Name: "cache_memory_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "What the caching layer of a query node has loaded into memory (2.6): cells of fields and indexes; none where the process has no such metrics."},
		ofCache(func(c *model.Cache) table.Cell { return whole(c.Memory.Loaded) })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_memory_limit_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "What it may load into memory; none where eviction is off: segments are loaded whole then."},
		limited(func(c *model.Cache) float64 { return c.Memory.Capacity })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_disk_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "What it has loaded onto the node's disk."},
		ofCache(func(c *model.Cache) table.Cell { return whole(c.Disk.Loaded) })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_disk_limit_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "What it may load onto disk; none where eviction is off."},
		limited(func(c *model.Cache) float64 { return c.Disk.Capacity })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_loading_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "What is being loaded now, into memory and onto disk: for a request, or to warm up."},
		ofCache(func(c *model.Cache) table.Cell { return whole(c.Memory.Loading + c.Disk.Loading) })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_cells", Kind: table.Int, Show: table.Hidden, Doc: "Cells that its segments consist of, loaded or not."},
		ofCache(func(c *model.Cache) table.Cell { return whole(c.Cells) })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_loaded_cells", Kind: table.Int, Show: table.Hidden, Doc: "Of these, cells that are loaded."},
		ofCache(func(c *model.Cache) table.Cell { return whole(c.LoadedCells) })).needing(model.PartRuntime),
	col(table.Column{Name: "cache_types", Kind: table.Pairs, Show: table.Hidden, Doc: "What is loaded by type of data, in memory and on disk: vector_field, vector_index, scalar_field, scalar_index, other."},
		ofCache(func(c *model.Cache) table.Cell {
			var flat []string
			for _, t := range c.Types {
				flat = append(flat, t.Name, words.Bytes(int64(t.Bytes)))
			}
			return list(flat)
		})).needing(model.PartRuntime),
	col(table.Column{Name: "cache_hit_percent", Kind: table.Percent, Show: table.Hidden, Doc: "How much of the bytes that were asked for was in the cache, between two scrapes, else since the process started; of cells in releases that do not count bytes."},
		cacheWindow(hitShare)).needing(model.PartRuntime),
	col(table.Column{Name: "cache_missed_bytes_per_second", Kind: table.Bytes, Show: table.Hidden, Doc: "Bytes a second that were asked for and had to be loaded."},
		cacheRate(metrics.CacheMissBytes)).needing(model.PartRuntime),
	col(table.Column{Name: "cache_evicted_bytes_per_second", Kind: table.Bytes, Show: table.Hidden, Doc: "Bytes a second that were evicted."},
		cacheRate(metrics.CacheEvicted)).needing(model.PartRuntime),
	col(table.Column{Name: "cache_load_ms", Kind: table.Number, Show: table.Hidden, Doc: "Milliseconds that loading cells took, on average; none if none were loaded."},
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
		})).needing(model.PartRuntime),
	col(table.Column{Name: "cache_failed_loads", Kind: table.Int, Show: table.Hidden, Doc: "Loads that failed in the same time: no room, or the storage."},
		cacheWindow(func(w *metrics.Window) table.Cell {
			v, ok := w.Counter(metrics.CacheLoadFailed)
			if !ok {
				return unknown()
			}
			return whole(v)
		})).needing(model.PartRuntime),
}
