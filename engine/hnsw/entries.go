package hnsw

import "sync"

// EntryCache is what knowhere up to v2.3.10 keeps of an index's earlier queries: for the hash of
// a query the nearest row that was found, at which an equal query starts on level 0
// (lru_cache of src/common/lru_cache.h; searchTopLayers and searchKnn of hnswalg.h). The least
// recently used of more than 10,000 is forgotten. Searchers of one index may share it.
type EntryCache struct {
	mu    sync.Mutex
	at    map[uint64]int32
	nodes []entryNode // a ring through its first element, most recently used first
}

type entryNode struct {
	key        uint64
	row        uint32
	prev, next int32
}

// entryCacheSize is kDefaultSize of knowhere's lru_cache.
const entryCacheSize = 10000

// NewEntryCache returns an empty cache.
func NewEntryCache() *EntryCache {
	return &EntryCache{at: map[uint64]int32{}, nodes: make([]entryNode, 1)}
}

// Len is how many queries are remembered.
func (c *EntryCache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.at)
}

func (c *EntryCache) get(key uint64) (uint32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.at[key]
	if !ok {
		return 0, false
	}
	c.first(i)
	return c.nodes[i].row, true
}

func (c *EntryCache) put(key uint64, row uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.at[key]
	switch {
	case ok:
	case len(c.at) < entryCacheSize:
		i = int32(len(c.nodes))
		c.nodes = append(c.nodes, entryNode{prev: i, next: i})
	default:
		i = c.nodes[0].prev
		delete(c.at, c.nodes[i].key)
	}
	c.at[key] = i
	c.nodes[i].key, c.nodes[i].row = key, row
	c.first(i)
}

// first moves a node to the front.
func (c *EntryCache) first(i int32) {
	n := &c.nodes[i]
	c.nodes[n.prev].next, c.nodes[n.next].prev = n.next, n.prev
	n.prev, n.next = 0, c.nodes[0].next
	c.nodes[n.next].prev, c.nodes[0].next = i, i
}
