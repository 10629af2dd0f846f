package model

import (
	"cmp"
	"math"
	"slices"
)

// Cache is what a process says on /metrics of its caching layer: segcore's tiered storage (Milvus 2.6 and later), which keeps the
// cells of fields and indexes in memory or on disk, loads them when they are needed and evicts others. The names are milvus-common's,
// src/cachinglayer/Metrics.cpp; labels are location (memory, disk, mixed) and data_type (vector_field, vector_index, scalar_field, scalar_index,
// other), and none for a node, a collection or a segment: it is of the whole process. It was never seen from a live server.
//
// A number that is not told is NaN.
type Cache struct {
	Memory, Disk CacheTier
	// Cells are all that the cache knows, LoadedCells those of them that are in memory or on disk, LoadingCells those that are being loaded.
	Cells, LoadedCells, LoadingCells float64
	// Types are what is loaded by data type, in memory and on disk together.
	Types []CacheType
}

// CacheTier is one place of a cache, in bytes.
type CacheTier struct {
	Loaded, Loading float64
	// Capacity and the watermarks are told where eviction is on (queryNode.segcore.tieredStorage.evictionEnabled, false if not set): above HighWater it
	// begins, down to LowWater. Else they are NaN: Milvus sets the gauges in the same place (DList), and 0 is not set.
	Capacity, HighWater, LowWater float64
}

// CacheType is a kind of data in a cache.
type CacheType struct {
	Name  string // "vector_index"
	Bytes float64
}

// The metrics of the caching layer that are read here.
const (
	cacheLoaded       = "internal_cache_loaded_bytes"
	cacheUsed         = "internal_cache_used_bytes" // the same in the first 2.6, without data_type (internal/core/src/monitor, prometheus_client.cpp)
	cacheLoading      = "internal_cache_loading_bytes"
	cacheCapacity     = "internal_cache_capacity_bytes"
	cacheHighWater    = "internal_cache_high_watermark_bytes"
	cacheLowWater     = "internal_cache_low_watermark_bytes"
	cacheCells        = "internal_cache_cell_count"
	cacheLoadedCells  = "internal_cache_cell_loaded_count"
	cacheLoadingCells = "internal_cache_cell_loading_count"
)

// Cache is the caching layer of a scrape's process, nil if it says nothing of one: it is older than 2.6, or has no part in C++.
func (m *Metrics) Cache() *Cache {
	loaded := m.Samples(cacheLoaded)
	if loaded == nil {
		loaded = m.Samples(cacheUsed)
	}
	if loaded == nil {
		return nil
	}
	sum := func(name string) float64 {
		if v, ok := m.Sum(name); ok {
			return v
		}
		return math.NaN()
	}
	c := &Cache{Memory: m.tier("memory"), Disk: m.tier("disk"), Cells: sum(cacheCells), LoadedCells: sum(cacheLoadedCells), LoadingCells: sum(cacheLoadingCells)}
	for _, s := range loaded {
		tier := &c.Memory
		if s.Label("location") == "disk" {
			tier = &c.Disk
		}
		tier.Loaded = told(tier.Loaded) + max(0, s.Value) // nothing is loaded as mixed (CacheSlot.h, set_cell)
		c.addType(s.Label("data_type"), max(0, s.Value))
	}
	slices.SortFunc(c.Types, func(a, b CacheType) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return c
}

// tier reads what is told of one place but what is loaded there.
func (m *Metrics) tier(location string) CacheTier {
	gauge := func(name string) float64 {
		if v, ok := m.Sum(name, Pair{"location", location}); ok {
			return v
		}
		return math.NaN()
	}
	return CacheTier{
		Loaded: math.NaN(), Loading: gauge(cacheLoading),
		Capacity: positive(gauge(cacheCapacity)), HighWater: positive(gauge(cacheHighWater)), LowWater: positive(gauge(cacheLowWater)),
	}
}

func (c *Cache) addType(name string, bytes float64) {
	if name == "" || bytes == 0 {
		return
	}
	i := slices.IndexFunc(c.Types, func(t CacheType) bool { return t.Name == name })
	if i < 0 {
		i = len(c.Types)
		c.Types = append(c.Types, CacheType{Name: name})
	}
	c.Types[i].Bytes += bytes
}

// Evicts reports whether what is loaded may be evicted again.
func (c *Cache) Evicts() bool { return !math.IsNaN(c.Memory.Capacity) || !math.IsNaN(c.Disk.Capacity) }
