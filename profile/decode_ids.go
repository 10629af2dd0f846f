package profile

import "math"

// ids map the ids of a table's entries, which may be any numbers but 0, to indexes.
//
// While the file is read, a reference to id n is stored as n-1 in 32 bits. Most files number their entries 1,
// 2, 3 in order, so that the stored reference is the index. Ids above firstOverflow do not fit and are numbered in
// order of appearance.
type ids struct {
	count      int
	entryIDs   []uint64 // id of each entry; nil while entry i has the id i+1
	top        uint32   // upper bound (exclusive) of the references below firstOverflow
	overflow   []uint64 // ids above firstOverflow, and 0
	overflowAt map[uint64]uint32
}

// firstOverflow is the first reference that refers to ids.overflow.
const firstOverflow = 1 << 30

// missing is the index of an entry that does not exist.
const missing = math.MaxUint32

// ref returns the reference to store for an id until the table is known.
func (s *ids) ref(id uint64) uint32 {
	if id-1 < firstOverflow {
		s.top = max(s.top, uint32(id))
		return uint32(id - 1)
	}
	return s.overflowRef(id) // 0 as well
}

func (s *ids) overflowRef(id uint64) uint32 {
	at, ok := s.overflowAt[id]
	if !ok {
		if s.overflowAt == nil {
			s.overflowAt = map[uint64]uint32{}
		}
		at = firstOverflow + uint32(len(s.overflow))
		s.overflow = append(s.overflow, id)
		s.overflowAt[id] = at
	}
	return at
}

// id returns the id of a reference.
func (s *ids) id(ref uint32) uint64 {
	if ref < firstOverflow {
		return uint64(ref) + 1
	}
	return s.overflow[ref-firstOverflow]
}

// index maps references to the indexes of entries.
type index struct {
	identity bool     // references are indexes
	count    uint32   // number of entries
	dense    []uint32 // indexed by reference; missing if no entry has that id
	overflow []uint32
	sparse   map[uint32]uint32 // replaces dense if the ids are sparse
}

// index returns the index of a complete table. It returns an error if an id is 0 or occurs twice.
func (s *ids) index(what string) (*index, error) {
	x := &index{count: uint32(s.count)}
	if s.entryIDs == nil && len(s.overflow) == 0 {
		x.identity = true
		return x, nil
	}
	var top uint64
	for i := range s.count {
		if id := s.entryID(i); id-1 < firstOverflow {
			top = max(top, id)
		}
	}
	x.overflow = filled(len(s.overflow))
	if top <= 4*uint64(s.count)+1024 {
		x.dense = filled(int(top))
	} else {
		x.sparse = make(map[uint32]uint32, s.count)
	}
	distant := map[uint64]bool{} // far ids of entries, whether referenced or not
	for i := range s.count {
		id := s.entryID(i)
		var twice bool
		switch {
		case id == 0:
			return nil, malformed("%s %d has the id 0", what, i+1)
		case id-1 >= firstOverflow:
			twice = distant[id]
			distant[id] = true
			if at, ok := s.overflowAt[id]; ok {
				x.overflow[at-firstOverflow] = uint32(i)
			}
		case x.dense != nil:
			twice = x.dense[id-1] != missing
			x.dense[id-1] = uint32(i)
		default:
			_, twice = x.sparse[uint32(id-1)]
			x.sparse[uint32(id-1)] = uint32(i)
		}
		if twice {
			return nil, malformed("the id %d is used by two %ss", id, what)
		}
	}
	return x, nil
}

func (s *ids) entryID(i int) uint64 {
	if s.entryIDs == nil {
		return uint64(i) + 1
	}
	return s.entryIDs[i]
}

func filled(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = missing
	}
	return s
}

// lookup returns the index of the entry for a reference, or missing.
func (x *index) lookup(ref uint32) uint32 {
	switch {
	case x.identity:
		if ref < x.count {
			return ref
		}
	case ref >= firstOverflow:
		return x.overflow[ref-firstOverflow]
	case x.dense != nil:
		if ref < uint32(len(x.dense)) {
			return x.dense[ref]
		}
	default:
		if i, ok := x.sparse[ref]; ok {
			return i
		}
	}
	return missing
}
