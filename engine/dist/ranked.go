package dist

import "math"

// Ranked is a list of the nearest nodes that were seen so far, sorted by distance, nearest first; equal ones stand in the order of
// arrival. It is what a walk keeps of its candidates.
type Ranked struct {
	d    []float32 // of n nodes, then infinities, up to a vector beyond room
	ids  []uint32  // as long
	n    int
	room int // how many there may be; the farthest go
	form rankFunc
	// odd says that there may be distances that are not finite, which only the specification takes.
	odd bool
}

// rankFunc is the kernel of a back end. It adds count nodes at x and ids to a list, as Ranked.Add does, and returns its new length, in
// bits from rankLeast on the least place, and rankEqual if two distances were equal; or -1, and has added none, where the list is not
// full and one of them is a NaN or positive infinity.
type rankFunc func(d *float32, list *uint32, n, room int, x *float32, ids *uint32, count int) int64

const (
	rankLanes = 16 // of the widest vector
	rankLeast = 24
	rankEqual = 1 << 48
	rankRoom  = 1<<rankLeast - 1 // the most that a kernel can say
)

// NewRanked returns a list for the best back end of this CPU, to be Reset.
func NewRanked() *Ranked {
	all := rankForms()
	return &Ranked{form: all[len(all)-1]}
}

// rankForms are the kernels that this CPU has, the best last; nil stands for the specification, which is first.
func rankForms() []rankFunc { return append([]rankFunc{nil}, rankNative()...) }

// Reset leaves one node in the list and sets its room, at least 1.
func (l *Ranked) Reset(room int, d float32, id uint32) {
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
	l.odd = !(d < inf) || l.form == nil || room > rankRoom
}

// Nodes are the distances in the list, and the nodes as Add took them, which may be changed.
func (l *Ranked) Nodes() ([]float32, []uint32) { return l.d[:l.n], l.ids[:l.n] }

// Full reports whether there is no more room, so that what is not nearer than Worst is left out.
func (l *Ranked) Full() bool { return l.n == l.room }

// Worst is the distance of the last one.
func (l *Ranked) Worst() float32 { return l.d[l.n-1] }

// Len is how many are in the list.
func (l *Ranked) Len() int { return l.n }

// Add takes nodes with their distances, one after the other. It returns the least place that one was put at, or more than there are,
// and whether their order is certain: whether none that was put in the list had a distance that was there already, or was a NaN or
// infinitely far. A NaN stands first, unless the list is full.
func (l *Ranked) Add(d []float32, ids []uint32) (least int, certain bool) {
	if len(d) == 0 {
		return rankRoom, true
	}
	_ = ids[len(d)-1]
	if !l.odd {
		got := l.form(keep(&l.d[0]), keep(&l.ids[0]), l.n, l.room, keep(&d[0]), keep(&ids[0]), len(d))
		if got >= 0 {
			l.n = int(got & rankRoom)
			return int(got >> rankLeast & rankRoom), got&rankEqual == 0
		}
		l.odd = true
	}
	return l.add(d, ids)
}

// add is the specification.
func (l *Ranked) add(d []float32, ids []uint32) (least int, certain bool) {
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

// notNearer is the first place in a sorted list whose distance is greater than x.
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
