package source

import "hash/maphash"

// keyHash is a 128-bit hash of a key. It is assumed to be unique in a store, because it uses two independent
// seeds for each pass: 10^7 keys collide once in 10^24 passes.
type keyHash [2]uint64

type keyHasher struct{ a, b maphash.Seed }

func newKeyHasher() keyHasher { return keyHasher{maphash.MakeSeed(), maphash.MakeSeed()} }

func (h keyHasher) sum(key []byte) keyHash {
	// Set a bit, because the zero hash marks a free slot.
	return keyHash{maphash.Bytes(h.a, key) | 1, maphash.Bytes(h.b, key)}
}

// seenKeys is a set of key hashes with open addressing: 16 bytes a slot, at most three quarters full. A pass
// from the newest revision to the oldest uses it to skip outdated records.
type seenKeys struct {
	slots []keyHash
	used  int
}

// add adds h and reports whether it is new.
func (s *seenKeys) add(h keyHash) bool {
	if s.used*4 >= len(s.slots)*3 {
		s.grow()
	}
	if !s.insert(h) {
		return false
	}
	s.used++
	return true
}

func (s *seenKeys) insert(h keyHash) bool {
	mask := uint64(len(s.slots) - 1)
	for i := h[1] & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case keyHash{}:
			s.slots[i] = h
			return true
		}
	}
}

func (s *seenKeys) grow() {
	old := s.slots
	s.slots = make([]keyHash, max(1024, 2*len(old)))
	for _, h := range old {
		if h != (keyHash{}) {
			s.insert(h)
		}
	}
}
