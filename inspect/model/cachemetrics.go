package model

import (
	"cmp"
	"math"
	"slices"
)

// Cache holds the metrics of a process's caching layer: segcore's tiered storage (Milvus 2.6 and later), which
// keeps cells of fields and indexes in memory or on disk, loads them on demand and evicts others. The names are
// from milvus-common's src/cachinglayer/Metrics.cpp. The labels are location (memory, disk, mixed) and
// data_type (vector_field, vector_index, scalar_field, scalar_index, other). Values are for the whole process,
// without labels for node, collection or segment. It was never observed on a live server.
//
// Numbers that are not exported are NaN.
type Cache struct {
	Memory, Disk CacheTier
	// Cells is the number of all cells, LoadedCells of those in memory or on disk, LoadingCells of those being
	// loaded.
	Cells, LoadedCells, LoadingCells float64
	// Types holds the loaded bytes by data type, in memory and on disk together.
	Types []CacheType
}

// CacheTier is one location of a cache. Values are in bytes.
type CacheTier struct {
	Loaded, Loading float64
	// Capacity and the watermarks are set if eviction is on (queryNode.segcore.tieredStorage.evictionEnabled,
	// false by default). Eviction starts above HighWater and stops at LowWater. Otherwise they are NaN: Milvus
	// sets these gauges in one place (DList), so 0 means not set.
	Capacity, HighWater, LowWater float64
}

// CacheType is a kind of data in a cache.
type CacheType struct {
	Name  string // "vector_index"
	Bytes float64
}

// Names of the caching layer's metrics. The first 2.6 have cacheUsed instead of cacheLoaded
// (internal/core/src/monitor, prometheus_client.cpp).
const (
	cacheLoaded       = "internal_cache_loaded_bytes"
	cacheUsed         = "internal_cache_used_bytes" // in the first 2.6, without data_type
	cacheLoading      = "internal_cache_loading_bytes"
	cacheCapacity     = "internal_cache_capacity_bytes"
	cacheHighWater    = "internal_cache_high_watermark_bytes"
	cacheLowWater     = "internal_cache_low_watermark_bytes"
	cacheCells        = "internal_cache_cell_count"
	cacheLoadedCells  = "internal_cache_cell_loaded_count"
	cacheLoadingCells = "internal_cache_cell_loading_count"
)

// Cache returns the state of the caching layer in a scrape. It is nil if the process is older than 2.6 or has
// no C++ code.
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
	c := &Cache{
		Memory: m.tier("memory"), Disk: m.tier("disk"), Cells: sum(cacheCells), LoadedCells: sum(cacheLoadedCells),
		LoadingCells: sum(cacheLoadingCells),
	}
	for _, s := range loaded {
		tier := &c.Memory
		if s.Label("location") == "disk" {
			tier = &c.Disk
		}
		tier.Loaded = orZero(tier.Loaded) + max(0, s.Value) // none is mixed (CacheSlot.h, set_cell)
		c.addType(s.Label("data_type"), max(0, s.Value))
	}
	slices.SortFunc(c.Types, func(a, b CacheType) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return c
}

// tier returns the metrics of one location, except the loaded bytes.
func (m *Metrics) tier(location string) CacheTier {
	gauge := func(name string) float64 {
		if v, ok := m.Sum(name, Pair{"location", location}); ok {
			return v
		}
		return math.NaN()
	}
	return CacheTier{
		Loaded: math.NaN(), Loading: gauge(cacheLoading),
		Capacity: positive(gauge(cacheCapacity)), HighWater: positive(gauge(cacheHighWater)),
		LowWater: positive(gauge(cacheLowWater)),
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

// Evicts reports whether loaded data may be evicted.
func (c *Cache) Evicts() bool { return !math.IsNaN(c.Memory.Capacity) || !math.IsNaN(c.Disk.Capacity) }
