package schedule

import "errors"

// ErrFull is why a task was refused: as many wait as may.
var ErrFull = errors.New("the queue is full")

// lookBack bounds how many waiting groups of the same parameters are tried for a merge, the latest first. Milvus tries all that wait; those
// before so many have refused the like before.
const lookBack = 64

// keptChains is how many parameters are remembered while none of theirs waits: mostly the same few come again and again.
const keptChains = 256

// Group is what runs as one task: one request, or several that were merged. It belongs to the queue and is valid until Done.
type Group struct {
	Tasks []Task
	NQ, K int // all vectors, and the greatest k
	// CPU is how many cores it was estimated to need when it first was the next to run, as in 2.1 and 2.2: what is
	// merged into it later does not count. 0 where estimates bound nothing.
	CPU float64

	estimated     bool
	next          *Group // in the queue of its user
	before, after *Group // of the same parameters: merge looks from the last to the first
	chain         *chain // nil until it is looked for
	line          *line
}

// chain is the waiting groups of the same parameters.
type chain struct{ last *Group }

// line is the waiting groups of one user, in the order of their coming; those of FIFO are all in one.
type line struct {
	user        string
	first, last *Group
	groups      int
	prev, next  *line // the ring of users that wait; nil outside
}

// Queue is a query node's queue of reads. Operations take constant time and, once it has been as long as it gets, no memory. It is for one
// goroutine at a time.
type Queue struct {
	knobs   Knobs
	limit   int
	all     line             // of FIFO
	lines   map[string]*line // of UserTaskPolling, by user
	turn    *line            // whose turn it is
	chains  map[string]*chain
	fresh   *Group // waits and is not in a chain yet: a queue that is hardly ever longer than one pays for no map
	staged  []*Group
	free    []*Group
	idle    []*line // of users of whom nothing waits
	waiting int     // requests
	queued  int     // groups, without the staged ones
	running int     // groups
	used    float64
}

// NewQueue returns an empty queue with these settings.
func NewQueue(k Knobs) *Queue {
	q := &Queue{knobs: k, limit: k.Concurrency(), chains: map[string]*chain{}}
	if k.Policy == UserTaskPolling {
		q.lines = map[string]*line{}
	}
	return q
}

// Waiting is how many requests wait.
func (q *Queue) Waiting() int { return q.waiting }

// Running is how many groups run.
func (q *Queue) Running() int { return q.running }

// Push takes a task in: it is merged with one that waits, or waits at the end. The error is ErrFull.
func (q *Queue) Push(t Task) error {
	if q.knobs.Waiting > 0 && q.waiting >= q.knobs.Waiting {
		return ErrFull
	}
	if q.knobs.Grouping && q.queued > 0 && q.merge(t) {
		q.waiting++
		return nil
	}
	l := &q.all
	if q.lines != nil {
		l = q.lines[t.User]
		if l == nil {
			l = q.line(t.User)
		}
		if q.knobs.WaitingPerUser > 0 && l.groups >= q.knobs.WaitingPerUser {
			return ErrFull
		}
	}
	q.append(l, q.group(t))
	q.waiting++
	return nil
}

func (q *Queue) group(t Task) *Group {
	var g *Group
	if n := len(q.free); n > 0 {
		g, q.free = q.free[n-1], q.free[:n-1]
	} else {
		g = &Group{}
	}
	*g = Group{Tasks: append(g.Tasks[:0], t), NQ: t.NQ, K: t.K}
	return g
}

func (q *Queue) line(user string) *line {
	var l *line
	if n := len(q.idle); n > 0 {
		l, q.idle = q.idle[n-1], q.idle[:n-1]
	} else {
		l = &line{}
	}
	l.user = user
	q.lines[user] = l
	return l
}

func (q *Queue) append(l *line, g *Group) {
	g.line = l
	if l.last == nil {
		l.first = g
	} else {
		l.last.next = g
	}
	l.last = g
	l.groups++
	q.queued++
	if q.lines != nil && l.groups == 1 {
		q.enter(l)
	}
	if !q.knobs.Grouping {
		return
	}
	if q.queued == 1 {
		q.fresh = g
	} else {
		q.link(g)
	}
}

// enter gives a user who waits again a place in the ring, before the one whose turn it is. Milvus keeps the place of a user
// who has nothing waiting for another taskQueueExpire (a minute); here nobody waits for more than one round either.
func (q *Queue) enter(l *line) {
	if q.turn == nil {
		l.prev, l.next, q.turn = l, l, l
		return
	}
	l.prev, l.next = q.turn.prev, q.turn
	l.prev.next, q.turn.prev = l, l
}

// link makes a waiting group known to merge.
func (q *Queue) link(g *Group) {
	c := q.chains[g.Tasks[0].Group]
	if c == nil {
		c = &chain{}
		q.chains[g.Tasks[0].Group] = c
	}
	g.chain, g.before = c, c.last
	if c.last != nil {
		c.last.after = g
	}
	c.last = g
}

func (q *Queue) unlink(g *Group) {
	if q.fresh == g {
		q.fresh = nil
		return
	}
	if g.chain == nil {
		return
	}
	if g.before != nil {
		g.before.after = g.after
	}
	if g.after != nil {
		g.after.before = g.before
	} else {
		g.chain.last = g.before
	}
	if g.chain.last == nil && len(q.chains) > keptChains {
		delete(q.chains, g.Tasks[0].Group)
	}
	g.before, g.after, g.chain = nil, nil, nil
}

// merge adds a task to the latest waiting group that can take it.
func (q *Queue) merge(t Task) bool {
	if q.fresh != nil {
		q.link(q.fresh)
		q.fresh = nil
	}
	c := q.chains[t.Group]
	if c == nil || q.knobs.MaxNQ <= t.NQ {
		return false
	}
	anyone := q.lines == nil || q.knobs.CrossUser
	for g, n := c.last, 0; g != nil && n < lookBack; g, n = g.before, n+1 {
		if (anyone || g.line.user == t.User) && q.fits(g, t) {
			g.Tasks = append(g.Tasks, t)
			g.NQ += t.NQ
			g.K = max(g.K, t.K)
			return true
		}
	}
	return false
}

// fits is searchTask.CanMergeWith of 2.1 and 2.2, SearchTask.Merge of 2.3 and later.
func (q *Queue) fits(g *Group, t Task) bool {
	if g.NQ+t.NQ > q.knobs.MaxNQ {
		return false
	}
	if g.K == t.K && !q.knobs.SameKRatio {
		return true
	}
	before := min(float64(g.NQ)*float64(g.K), float64(t.NQ)*float64(t.K))
	after := float64(g.NQ+t.NQ) * float64(max(g.K, t.K))
	return before > 0 && after <= q.knobs.TopKRatio*before
}

// Next takes the group that runs next, if one may: it runs until Done.
func (q *Queue) Next() (*Group, bool) {
	g := q.head()
	if g == nil {
		return nil, false
	}
	if q.running >= q.limit {
		q.stage()
		return nil, false
	}
	if q.knobs.CPURatio > 0 {
		if !g.estimated {
			g.CPU, g.estimated = q.estimate(g), true
		}
		// Some part of the sum is lost and won by rounding; a percent is the least that counts.
		if q.used+g.CPU > q.knobs.Cores+0.001 {
			return nil, false
		}
		q.used += g.CPU
	}
	if len(q.staged) > 0 {
		q.staged = append(q.staged[:0], q.staged[1:]...)
	} else {
		q.pop()
	}
	q.waiting -= len(g.Tasks)
	q.running++
	return g, true
}

func (q *Queue) head() *Group {
	switch {
	case len(q.staged) > 0:
		return q.staged[0]
	case q.lines == nil:
		return q.all.first
	case q.turn != nil:
		return q.turn.first
	}
	return nil
}

// stage takes groups out of the queue that will run next, whatever comes.
func (q *Queue) stage() {
	for len(q.staged) < q.knobs.Staged && q.queued > 0 {
		q.staged = append(q.staged, q.pop())
	}
}

// pop takes the first group of the line whose turn it is.
func (q *Queue) pop() *Group {
	l := &q.all
	if q.lines != nil {
		l = q.turn
	}
	g := l.first
	if l.first = g.next; l.first == nil {
		l.last = nil
	}
	g.next = nil
	l.groups--
	q.queued--
	q.unlink(g)
	if q.lines == nil {
		return g
	}
	if q.turn = l.next; l.groups == 0 {
		if l.next == l {
			q.turn = nil
		}
		l.prev.next, l.next.prev = l.next, l.prev
		l.prev, l.next = nil, nil
		delete(q.lines, l.user)
		q.idle = append(q.idle, l)
	}
	return g
}

func (q *Queue) estimate(g *Group) float64 {
	var own float64
	for i := range g.Tasks {
		own += g.Tasks[i].CPU
	}
	if own > 0 {
		return min(own, q.knobs.Cores)
	}
	return q.knobs.Estimate(g.NQ, g.Tasks[0].Segments)
}

// Done ends a group that Next gave; it must not be used any more.
func (q *Queue) Done(g *Group) {
	q.running--
	if q.running == 0 {
		q.used = 0
	} else {
		q.used -= g.CPU
	}
	q.free = append(q.free, g)
}
