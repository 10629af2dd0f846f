package simulate

import (
	"kitescope/replay/schedule"
)

// running is a task on cores: a group, and how far it is.
type running struct {
	group *schedule.Group
	work  *work
	// of Load.BySegment: jobs not yet begun, jobs not yet ended, and what all of them have in common.
	begun, left int32
	share       float64
	serial      bool // the serial part is what runs
	// early is a task on its way to the scheduler.
	early bool
	task  schedule.Task
	// leads is a leader before it gives out the tasks of a shard.
	leads bool
	lead  hop
}

// slice is what wants cores: a task of Width cores, or one segment.
type slice struct {
	ends  float64 // on the node's clock of work
	width float64
	task  *running
}

// node is one query node. Its clock of work runs as real time does while the cores suffice for what runs, and slower by as much as is
// wanted more: what runs ends when that clock says so, whoever comes and goes meanwhile.
type node struct {
	queue *schedule.Queue
	cores float64 // that it may use at once
	quota *quota  // nil for none
	now   float64 // real time
	clock float64 // of work
	want  float64 // cores, all slices together
	run   []slice // a heap, the first to end at the top
	free  []*running
	// called is when the last call came, gap how far apart they come, in seconds.
	called, gap float64

	// Integrals over time, since the warm-up.
	busy, ran, waited, blocked, since float64
	waits                             float64
	tasks, grouped                    int64
}

// cools is how far apart calls come that cost half as much more than at once as lone ones do, in seconds; recent is how much a new gap counts.
const (
	cools  = 0.004
	recent = 0.1
)

// call is how much a call costs that comes now, of what a lone one does, if warm is what is left where one comes after the other.
func (n *node) call(warm float64) float64 {
	n.gap += (n.now - n.called - n.gap) * recent
	n.called = n.now
	return Warmth(warm, n.gap)
}

// Warmth is how much a call costs, of what a lone one does, where calls come every gap seconds, if warm is what is left where one comes after the other.
func Warmth(warm, gap float64) float64 { return warm + (1-warm)*gap/(gap+cools) }

// advance lets time pass in which nothing begins or ends.
func (n *node) advance(to float64) {
	dt := to - n.now
	n.now = to
	if dt <= 0 {
		return
	}
	if waiting := n.queue.Waiting(); waiting > 0 {
		n.waited += dt * float64(waiting)
		n.blocked += dt
	}
	if len(n.run) == 0 {
		if n.quota != nil {
			n.quota.spend(dt, 0)
		}
		return
	}
	n.ran += dt * float64(n.queue.Running())
	used, slower := n.share()
	if n.quota != nil {
		dt = n.quota.spend(dt, used)
	}
	n.busy += dt * used
	n.clock += dt / slower
}

// share is how many cores are in use while the node runs, and how many times as long all takes as if there were as many as are wanted.
func (n *node) share() (used, slower float64) {
	if n.want <= n.cores {
		return n.want, 1
	}
	return n.cores, n.want / n.cores
}

// next is when the first slice ends, if nothing begins before.
func (n *node) next() float64 {
	if len(n.run) == 0 {
		return never
	}
	used, slower := n.share()
	left := max(0, n.run[0].ends-n.clock) * slower
	if n.quota != nil {
		left = n.quota.takes(left, used)
	}
	return n.now + left
}

func (n *node) begin(t *running, seconds, width float64) {
	n.want += width
	n.run = append(n.run, slice{ends: n.clock + seconds, width: width, task: t})
	i := len(n.run) - 1
	for i > 0 {
		up := (i - 1) / 2
		if n.run[up].ends <= n.run[i].ends {
			break
		}
		n.run[up], n.run[i] = n.run[i], n.run[up]
		i = up
	}
}

// end takes the first slice off the cores.
func (n *node) end() *running {
	first := n.run[0]
	n.clock = max(n.clock, first.ends)
	last := len(n.run) - 1
	moved := n.run[last]
	n.run[last].task = nil
	n.run = n.run[:last]
	n.want -= first.width
	if last == 0 {
		// Nothing is left to be off by.
		n.want, n.clock = 0, 0
		return first.task
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && n.run[child+1].ends < n.run[child].ends {
			child++
		}
		if n.run[child].ends >= moved.ends {
			break
		}
		n.run[i], i = n.run[child], child
	}
	n.run[i] = moved
	return first.task
}

func (n *node) group(g *schedule.Group, w *work) *running {
	t := n.fresh()
	*t = running{group: g, work: w}
	return t
}

// early is a task before the scheduler has it.
func (n *node) early(k schedule.Task, w *work) *running {
	t := n.fresh()
	*t = running{early: true, task: k, work: w}
	return t
}

func (n *node) leading(h hop) *running {
	t := n.fresh()
	*t = running{leads: true, lead: h}
	return t
}

func (n *node) fresh() *running {
	var t *running
	if last := len(n.free) - 1; last >= 0 {
		t, n.free = n.free[last], n.free[:last]
	} else {
		t = &running{}
	}
	return t
}

// reset forgets what was counted: the warm-up is over.
func (n *node) reset(now float64) {
	n.advance(now)
	n.busy, n.ran, n.waited, n.blocked, n.waits = 0, 0, 0, 0, 0
	n.tasks, n.grouped = 0, 0
	n.since = now
}
