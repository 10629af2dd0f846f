package simulate

// hop is a request on the wire.
type hop struct {
	at      float64
	request int32
	lead    int32 // of the request's fan
}

// line is hops in the order of their arrival: all take as long, so none overtakes another.
type line struct {
	hops []hop
	head int
}

func (l *line) push(h hop) {
	if l.head > 1024 && l.head > len(l.hops)/2 {
		l.hops = l.hops[:copy(l.hops, l.hops[l.head:])]
		l.head = 0
	}
	l.hops = append(l.hops, h)
}

func (l *line) first() float64 {
	if l.head == len(l.hops) {
		return never
	}
	return l.hops[l.head].at
}

func (l *line) pop() hop {
	h := l.hops[l.head]
	if l.head++; l.head == len(l.hops) {
		l.hops, l.head = l.hops[:0], 0
	}
	return h
}

// race finds the node whose next event is the first: a tree of winners.
type race struct {
	keys []float64
	tree []int32 // winners; the leaves are from len(tree)/2
}

func newRace(n int) *race {
	size := 1
	for size < n {
		size *= 2
	}
	r := &race{keys: make([]float64, size), tree: make([]int32, 2*size)}
	for i := range r.keys {
		r.keys[i] = never
		r.tree[size+i] = int32(i)
	}
	for i := size - 1; i > 0; i-- {
		r.tree[i] = r.tree[2*i]
	}
	return r
}

func (r *race) first() (node int32, at float64) {
	w := r.tree[1]
	return w, r.keys[w]
}

func (r *race) set(node int32, at float64) {
	if r.keys[node] == at {
		return
	}
	r.keys[node] = at
	for i := (len(r.tree)/2 + int(node)) / 2; i > 0; i /= 2 {
		a, b := r.tree[2*i], r.tree[2*i+1]
		if r.keys[b] < r.keys[a] {
			a = b
		}
		if a == r.tree[i] && a != node {
			return // it is beaten here by whom it was beaten by before
		}
		r.tree[i] = a
	}
}

func (s *sim) pushSession(at float64) {
	s.sessions = append(s.sessions, at)
	i := len(s.sessions) - 1
	for i > 0 && s.sessions[(i-1)/2] > at {
		s.sessions[i], i = s.sessions[(i-1)/2], (i-1)/2
	}
	s.sessions[i] = at
}

func (s *sim) popSession() {
	last := len(s.sessions) - 1
	moved := s.sessions[last]
	s.sessions = s.sessions[:last]
	if last == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s.sessions[child+1] < s.sessions[child] {
			child++
		}
		if s.sessions[child] >= moved {
			break
		}
		s.sessions[i], i = s.sessions[child], child
	}
	s.sessions[i] = moved
}
