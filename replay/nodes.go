package replay

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"kitescope/replay/load"
	"kitescope/replay/schedule"
)

// node is a query node with its queue. A request's goroutines wait; groups of them run on goroutines of their own, as many at once as
// the queue lets run.
type node struct {
	target *Target
	id     int64
	groups []*group

	mu      sync.Mutex
	queue   *schedule.Queue
	calls   map[int]*call // that wait or run, by schedule.Task.Number
	numbers int
	free    []*worker
	all     []*worker
}

// startNodes makes the queues.
func (t *Target) startNodes() error {
	at := map[int64]*node{}
	for _, g := range t.groups {
		n := at[g.node]
		if n == nil {
			of := t.loaded.Layout.Node(g.node)
			if of == nil {
				return fmt.Errorf("replay with schedulers: the layout has no settings for node %d", g.node)
			}
			n = &node{target: t, id: g.node, queue: schedule.NewQueue(of.Read), calls: map[int]*call{}}
			at[g.node], t.nodes = n, append(t.nodes, n)
		}
		n.groups = append(n.groups, g)
	}
	return nil
}

// call is what a leader asks a node: one group of segments.
type call struct {
	ctx      context.Context
	group    *group
	node     *node
	request  *load.Request
	arrived  time.Duration
	queued   time.Duration
	answer   answers
	last     []spent // of the group's parts
	distance int
	err      error
	done     chan<- *call
}

// calls are those of one session: one for each group.
type calls struct {
	list    []*call // by node
	byGroup []*call
	done    chan *call
	spent   []spent // by part
	tally   tally   // of reducing: segments are counted by the nodes
}

func newCalls(t *Target) *calls {
	c := &calls{spent: make([]spent, len(t.parts))}
	for _, n := range t.nodes {
		for _, g := range n.groups {
			c.list = append(c.list, &call{group: g, node: n, last: make([]spent, len(g.parts))})
		}
	}
	c.byGroup = make([]*call, len(c.list))
	for _, one := range c.list {
		c.byGroup[one.group.number] = one
	}
	c.done = make(chan *call, len(c.list))
	c.tally.reset(len(t.parts))
	c.tally.epoch = t.epoch.Load()
	return c
}

// askNodes sends a request to each node that has segments, and merges what they answer.
func (s *session) askNodes(ctx context.Context, r *load.Request) (*load.Answer, error) {
	c := s.calls
	c.tally.follow(s.target)
	clock := s.target.options.Clock
	began := clock()
	parameters := groupOf(r)
	var failed error
	sent := 0
	for _, one := range c.list {
		one.ctx, one.request, one.arrived, one.done, one.err = ctx, r, began, c.done, nil
		if err := one.node.push(one, parameters); err != nil {
			failed = fmt.Errorf("node %d refuses: %w", one.node.id, err)
			break
		}
		sent++
	}
	for range sent { // all of them, whatever happens: they use the request
		if one := <-c.done; one.err != nil && failed == nil {
			failed = one.err
		}
	}
	if failed != nil {
		return nil, failed
	}
	now := clock()
	s.gather(r)
	s.merger.merge(&s.nodes, r, &s.answer)
	end := clock()
	c.tally.add(r.Vectors.Rows, end-now)
	c.tally.slow.offer(s.target, r.Number, end-began, s.answer.Queued, c.spent)
	return &s.answer, nil
}

// gather puts the answers of groups where the merger looks for them: by group and vector.
func (s *session) gather(r *load.Request) {
	s.nodes.reset()
	s.answer.Distances, s.answer.Queued = 0, 0
	for _, one := range s.calls.byGroup {
		for q := range r.Vectors.Rows {
			s.nodes.hits = append(s.nodes.hits, one.answer.of(q)...)
			s.nodes.ends = append(s.nodes.ends, len(s.nodes.hits))
		}
		for j, part := range one.group.parts {
			s.calls.spent[part] = one.last[j]
		}
		s.answer.Distances += one.distance
		s.answer.Queued = max(s.answer.Queued, one.queued)
	}
}

// groupOf is what requests must have in common to run as one task. Filters are expressions, which Milvus compares as plans.
func groupOf(r *load.Request) string {
	switch {
	case r.Expr != "":
		return fmt.Sprintf("filter %s, %s", r.Expr, r.Words())
	case r.Keys != nil:
		return fmt.Sprintf("filter %p %d %v %s", r.Keys, len(r.Keys), r.Exclude, r.Words())
	}
	return r.Words()
}

// push takes a call in and starts what may run now.
func (n *node) push(c *call, parameters string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := n.numbers
	n.numbers++
	err := n.queue.Push(schedule.Task{
		Number: number, NQ: c.request.Vectors.Rows, K: c.request.K, Arrived: c.arrived, Segments: len(c.group.parts),
		Group: "shard " + strconv.Itoa(c.group.number) + " " + parameters,
	})
	if err != nil {
		return err
	}
	n.calls[number] = c
	n.start()
	return nil
}

// start starts all that may run; n.mu is held.
func (n *node) start() {
	for g, ok := n.queue.Next(); ok; g, ok = n.queue.Next() {
		var w *worker
		if last := len(n.free) - 1; last >= 0 {
			w, n.free = n.free[last], n.free[:last]
		}
		list := make([]*call, len(g.Tasks))
		for i := range g.Tasks {
			list[i] = n.calls[g.Tasks[i].Number]
			delete(n.calls, g.Tasks[i].Number)
		}
		go n.run(g, w, list)
	}
}

// run answers the calls of a group that was admitted, and starts what may run after it.
func (n *node) run(g *schedule.Group, w *worker, list []*call) {
	began := n.target.options.Clock()
	var failed error
	if w == nil {
		if w, failed = n.target.newWorker(n.groups); failed == nil {
			n.mu.Lock()
			n.all = append(n.all, w)
			n.mu.Unlock()
		}
	}
	if failed == nil {
		w.follow()
	}
	for _, c := range list {
		c.queued = began - c.arrived
		if c.err = failed; failed == nil {
			c.err = w.answer(c)
		}
	}
	n.mu.Lock()
	if w != nil {
		n.free = append(n.free, w)
	}
	n.queue.Done(g)
	n.start()
	n.mu.Unlock()
	for _, c := range list {
		c.done <- c
	}
}

// follow starts the worker's costs anew when the target's were.
func (w *worker) follow() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.tally.follow(w.target)
}

// answer searches a call's group.
func (w *worker) answer(c *call) error {
	w.lock.Lock() // against Costs, which may look while requests run
	defer w.lock.Unlock()
	c.answer.reset()
	if _, err := w.search(c.ctx, c.group, c.request, w.target.options.Clock(), &c.answer); err != nil {
		return err
	}
	c.distance = 0
	for j, part := range c.group.parts {
		c.last[j] = w.last[part]
		c.distance += w.last[part].distances
	}
	return nil
}

// collectNodes adds what workers of nodes counted; t.mu is held.
func (t *Target) collectNodes() {
	for _, n := range t.nodes {
		n.mu.Lock()
		all := n.all
		n.mu.Unlock()
		for _, w := range all {
			w.lock.Lock()
			t.collect(&w.tally)
			w.lock.Unlock()
		}
	}
}
