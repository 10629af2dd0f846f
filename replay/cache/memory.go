package cache

// memory keeps checked blocks for reads of a part of one: logs are read in windows that begin anywhere, and ends first. It is
// guarded by the cache's mutex.
type memory struct {
	most, bytes int64
	clock       int64
	blocks      map[blockID]*remembered
}

type remembered struct {
	header header
	b      []byte
	used   int64 // by the clock
}

func (m *memory) get(id blockID, want header) []byte {
	r := m.blocks[id]
	if r == nil {
		return nil
	}
	if r.header.changed(&want) != "" {
		m.drop(id)
		return nil
	}
	m.clock++
	r.used = m.clock
	return r.b
}

func (m *memory) put(id blockID, h header, b []byte) {
	m.drop(id)
	m.clock++
	m.blocks[id] = &remembered{h, b, m.clock}
	m.bytes += int64(len(b))
	for m.bytes > m.most && len(m.blocks) > 1 {
		var oldest blockID
		least := m.clock
		for id, r := range m.blocks {
			if r.used < least {
				oldest, least = id, r.used
			}
		}
		m.drop(oldest)
	}
}

func (m *memory) drop(id blockID) {
	if r := m.blocks[id]; r != nil {
		m.bytes -= int64(len(r.b))
		delete(m.blocks, id)
	}
}
