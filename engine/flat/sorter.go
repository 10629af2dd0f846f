package flat

import "sort"

// sorter sorts the entries of a reservoir by key.
type sorter struct {
	entries, swap []uint64 // a key's bits in order above, the entry's number below
}

// digits of a key that are sorted by at a time, and how many times.
const (
	digitBits = 8
	digits    = 4
)

// sort puts the n best of the reservoir into the heap's slices, best first; or it says that
// their order is not that of the keys alone: equal ones at the border of the n, or anywhere
// if nothing else orders them.
func (s *sorter) sort(r *reservoir, h *heap, n int) bool {
	s.entries, s.swap = resize(s.entries, r.n), resize(s.swap, r.n)
	var counts [digits][1 << digitBits]uint32
	for i, key := range r.keys[:r.n] {
		k := uint32(ordered(key+0)) ^ 1<<31 // -0 is equal to 0, which adding 0 makes of it
		s.entries[i] = uint64(k)<<32 | uint64(i)
		counts[0][k&0xff]++
		counts[1][k>>8&0xff]++
		counts[2][k>>16&0xff]++
		counts[3][k>>24]++
	}
	for d := range counts {
		s.pass(&counts[d], 32+d*digitBits)
	}
	for i, e := range s.entries {
		if i > 0 && i <= n && e>>32 == s.entries[i-1]>>32 && (i == n || !h.ties) {
			return false
		}
		if i < n {
			at := uint32(e)
			h.keys[i], h.ids[i] = r.keys[at], r.ids[at]
		}
	}
	if h.ties {
		sortTies(h.keys[:n], h.ids[:n])
	}
	return true
}

// pass sorts by the digit at the bit shift, of which count says how often each occurs.
func (s *sorter) pass(count *[1 << digitBits]uint32, shift int) {
	sum := uint32(0)
	for i, n := range count {
		count[i] = sum
		sum += n
	}
	for _, e := range s.entries {
		d := e >> shift & (1<<digitBits - 1)
		s.swap[count[d]] = e
		count[d]++
	}
	s.entries, s.swap = s.swap, s.entries
}

// sortTies orders entries with equal keys by id.
func sortTies(keys []float32, ids []int64) {
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to] == keys[from] {
			to++
		}
		if to-from > 1 {
			sort.Sort(byID{keys[from:to], ids[from:to]})
		}
		from = to
	}
}

// byID sorts entries by id; their keys go with them, for 0 and -0 are equal.
type byID struct {
	keys []float32
	ids  []int64
}

func (b byID) Len() int           { return len(b.ids) }
func (b byID) Less(i, j int) bool { return b.ids[i] < b.ids[j] }
func (b byID) Swap(i, j int) {
	b.keys[i], b.keys[j] = b.keys[j], b.keys[i]
	b.ids[i], b.ids[j] = b.ids[j], b.ids[i]
}
