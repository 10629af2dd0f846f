package profile

import "math"

// ids map the ids of a table's entries, which may be any numbers but 0, to indexes.
//
// While the file is read, a reference to id n is stored as n-1 in 32 bits. Most files number their entries 1,
// 2, 3 in order, so that the stored reference is the index. Ids above firstFar do not fit and are numbered in
// order of appearance.
type ids struct {
	count int
	own   []uint64 // id of each entry; nil while entry i has the id i+1
	top   uint32   // upper bound (exclusive) of the references below firstFar
	far   []uint64 // ids above firstFar, and 0
	farAt map[uint64]uint32
}

// firstFar is the first reference that refers to ids.far.
const firstFar = 1 << 30

// missing is the index of an entry that does not exist.
const missing = math.MaxUint32

// ref returns the reference to store for an id until the table is known.
func (s *ids) ref(id uint64) uint32 {
	if id-1 < firstFar {
		s.top = max(s.top, uint32(id))
		return uint32(id - 1)
	}
	return s.farRef(id) // 0 as well
}

func (s *ids) farRef(id uint64) uint32 {
	at, ok := s.farAt[id]
	if !ok {
		if s.farAt == nil {
			s.farAt = map[uint64]uint32{}
		}
		at = firstFar + uint32(len(s.far))
		s.far = append(s.far, id)
		s.farAt[id] = at
	}
	return at
}

// id returns the id of a reference.
func (s *ids) id(ref uint32) uint64 {
	if ref < firstFar {
		return uint64(ref) + 1
	}
	return s.far[ref-firstFar]
}

// index maps references to the indexes of entries.
type index struct {
	same  bool     // references are indexes
	count uint32   // number of entries
	dense []uint32 // indexed by reference; missing if no entry has that id
	far   []uint32
	other map[uint32]uint32 // replaces dense if the ids are sparse
}

// index returns the index of a complete table. It returns an error if an id is 0 or occurs twice.
func (s *ids) index(what string) (*index, error) {
	x := &index{count: uint32(s.count)}
	if s.own == nil && len(s.far) == 0 {
		x.same = true
		return x, nil
	}
	var top uint64
	for i := range s.count {
		if id := s.ownID(i); id-1 < firstFar {
			top = max(top, id)
		}
	}
	x.far = filled(len(s.far))
	if top <= 4*uint64(s.count)+1024 {
		x.dense = filled(int(top))
	} else {
		x.other = make(map[uint32]uint32, s.count)
	}
	distant := map[uint64]bool{} // far ids of entries, whether referenced or not
	for i := range s.count {
		id := s.ownID(i)
		var twice bool
		switch {
		case id == 0:
			return nil, malformed("%s %d has the id 0", what, i+1)
		case id-1 >= firstFar:
			twice = distant[id]
			distant[id] = true
			if at, ok := s.farAt[id]; ok {
				x.far[at-firstFar] = uint32(i)
			}
		case x.dense != nil:
			twice = x.dense[id-1] != missing
			x.dense[id-1] = uint32(i)
		default:
			_, twice = x.other[uint32(id-1)]
			x.other[uint32(id-1)] = uint32(i)
		}
		if twice {
			return nil, malformed("the id %d is used by two %ss", id, what)
		}
	}
	return x, nil
}

func (s *ids) ownID(i int) uint64 {
	if s.own == nil {
		return uint64(i) + 1
	}
	return s.own[i]
}

func filled(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = missing
	}
	return s
}

// of returns the index of the entry for a reference, or missing.
func (x *index) of(ref uint32) uint32 {
	switch {
	case x.same:
		if ref < x.count {
			return ref
		}
	case ref >= firstFar:
		return x.far[ref-firstFar]
	case x.dense != nil:
		if ref < uint32(len(x.dense)) {
			return x.dense[ref]
		}
	default:
		if i, ok := x.other[ref]; ok {
			return i
		}
	}
	return missing
}
