package dist

import "math"

// RankedList is a list of the nearest nodes seen so far, sorted by distance, nearest first. Nodes at equal
// distances keep their order of arrival. A walk over a graph keeps its candidates in it.
type RankedList struct {
	d    []float32 // distances of n nodes, followed by infinities up to at least one vector past room
	ids  []uint32  // as long as d
	n    int
	room int // maximum number of nodes; the farthest are dropped
	form rankFunc
	// fallback is set if only the specification can be used: distances may not be finite, the CPU has no kernel, or
	// room is greater than rankRoom.
	fallback bool
}

// rankFunc is the kernel of a back end. It adds count nodes, with distances at x and ids at ids, to a list as
// RankedList.Add does. It returns the new length, ORed with the least place shifted by rankLeast, and with
// rankEqual if two distances were equal. It returns -1 and adds nothing if the list is not full and a new
// distance is NaN or positive infinity.
type rankFunc func(d *float32, list *uint32, n, room int, x *float32, ids *uint32, count int) int64

const (
	rankLanes = 16 // lanes of the widest vector
	rankLeast = 24
	rankEqual = 1 << 48
	rankRoom  = 1<<rankLeast - 1 // the greatest length and place that a kernel can return
)

// NewRankedList returns a list that uses the best back end of this CPU. Reset must be called before use.
func NewRankedList() *RankedList {
	all := rankForms()
	return &RankedList{form: all[len(all)-1]}
}

// rankForms returns the kernels that this CPU supports, the fastest last. The first is nil, which selects the
// specification.
func rankForms() []rankFunc { return append([]rankFunc{nil}, rankNative()...) }

// Reset replaces the nodes of the list with one node and sets its room, which is at least 1.
func (l *RankedList) Reset(room int, d float32, id uint32) {
	inf := float32(math.Inf(1))
	used := max(l.n, l.room) + 1
	if size := (room+rankLanes-1)&^(rankLanes-1) + 2*rankLanes; len(l.d) < size {
		l.d, l.ids = make([]float32, size), make([]uint32, size)
		used = size
	}
	for i := range l.d[:used] {
		l.d[i] = inf
	}
	l.d[0], l.ids[0], l.n, l.room = d, id, 1, room
	l.fallback = !(d < inf) || l.form == nil || room > rankRoom
}

// Nodes returns the distances in the list and the nodes as given to Add. The caller may change them.
func (l *RankedList) Nodes() ([]float32, []uint32) { return l.d[:l.n], l.ids[:l.n] }

// Full reports whether the list has no room left. Nodes that are not nearer than Worst are then dropped.
func (l *RankedList) Full() bool { return l.n == l.room }

// Worst returns the distance of the last node.
func (l *RankedList) Worst() float32 { return l.d[l.n-1] }

// Len returns the number of nodes in the list.
func (l *RankedList) Len() int { return l.n }

// Add inserts nodes with their distances, one after the other. It returns the least place of an inserted node,
// or a number greater than the length of the list if none was inserted. It also reports whether the order is
// certain: no inserted distance was in the list already, and none was NaN or positive infinity. A NaN is
// inserted first, unless the list is full.
func (l *RankedList) Add(d []float32, ids []uint32) (least int, certain bool) {
	if len(d) == 0 {
		return rankRoom, true
	}
	_ = ids[len(d)-1]
	if !l.fallback {
		got := l.form(keep(&l.d[0]), keep(&l.ids[0]), l.n, l.room, keep(&d[0]), keep(&ids[0]), len(d))
		if got >= 0 {
			l.n = int(got & rankRoom)
			return int(got >> rankLeast & rankRoom), got&rankEqual == 0
		}
		l.fallback = true
	}
	return l.add(d, ids)
}

// add is the specification of Add.
func (l *RankedList) add(d []float32, ids []uint32) (least int, certain bool) {
	least, certain = math.MaxInt, true
	for i, x := range d {
		if l.n == l.room && !(x < l.d[l.n-1]) {
			continue
		}
		at := notNearer(l.d[:l.n], x)
		certain = certain && (at == 0 || l.d[at-1] < x) && x <= math.MaxFloat32
		l.n = min(l.n+1, l.room)
		copy(l.d[at+1:l.n], l.d[at:])
		copy(l.ids[at+1:l.n], l.ids[at:])
		l.d[at], l.ids[at] = x, ids[i]
		least = min(least, at)
	}
	return least, certain
}

// notNearer returns the index of the first distance greater than x in a sorted list, or len(d) if there is
// none.
func notNearer(d []float32, x float32) int {
	at, n := 0, len(d)
	for n > 1 {
		half := n >> 1
		next := at
		if d[at+half-1] <= x {
			next = at + half
		}
		at = next
		n -= half
	}
	if n == 1 && d[at] <= x {
		at++
	}
	return at
}
