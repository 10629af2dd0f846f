package latency

// worker describes the calls of leaders to a query node: the parts of a mean call, by kind. A call is about the
// sealed segments of a node, or about the growing segments of the leader itself. These are two tasks, even if
// one node has both (internal/querynodev2/delegator: organizeSubTask).
type worker struct {
	index           int // index in readings.nodes
	sealed, growing work
	// core is the fraction of a segment's time that is the call into the kernel. The rest is the wait for a
	// thread.
	core float64
}

// work holds the pieces of a kind of call.
type work struct {
	n                                 float64 // calls in the window
	queue, pool, kernel, reduce, rest piece   // kernel: the slowest segment
	curve                             curve   // distribution of the whole call
}

func (w work) ms() float64 { return w.queue.ms + w.pool.ms + w.kernel.ms + w.reduce.ms + w.rest.ms }

func (w work) pieces() []piece { return []piece{w.queue, w.kernel, w.reduce, w.rest, w.pool} }

// workerOf splits the calls of a node by kind.
func workerOf(at int, n *nodeReading) worker {
	w := worker{index: at, core: n.coreShare()}
	tasks, apart := n.worker.Count, 0.0 // apart: tasks on growing segments that are not in n.worker
	if n.consistency.Count == 0 && n.queue.Count > n.worker.Count {
		apart = min(n.queue.Count-n.worker.Count, n.leader.Count) // up to 2.2, the leader runs them itself
		tasks += apart
	}
	if tasks <= 0 {
		return w
	}
	grouped := 1.0 // tasks in a group
	if n.groups.Count > 0 {
		grouped = max(1, n.groups.Sum/n.groups.Count)
	}
	w.growing.n = min(n.growing.Count*grouped, tasks, n.maxGrowing())
	if apart > 0 {
		w.growing.n = apart
	}
	if n.sealed.Count == 0 && n.growing.Count > 0 {
		w.growing.n = tasks
	}
	w.sealed.n = tasks - w.growing.n
	queue, reduce := n.queue.curve(), n.segments.curve()
	w.sealed.setPieces(queue, reduce, n.sealed, grouped)
	w.growing.setPieces(queue, reduce, n.growing, grouped)
	w.fit(n.worker, apart)
	return w
}

// maxGrowing returns the maximum number of tasks on growing segments: one for each call of the node as a
// leader.
func (n *nodeReading) maxGrowing() float64 {
	if n.leader.Count > 0 {
		return n.leader.Count
	}
	return n.worker.Count
}

// coreShare returns the fraction of a segment's time that is the call into the kernel. The rest is the wait for
// a thread.
func (n *nodeReading) coreShare() float64 {
	segments := n.sealed.plus(n.growing)
	if n.core.Count <= 0 || segments.Count <= 0 {
		return 1
	}
	// One time contains the other. If both are truncated to whole milliseconds, the truncated parts differ by
	// almost nothing.
	whole, _ := segments.mean()
	thread := segments.Sum/segments.Count - n.core.Sum/n.core.Count
	if thread <= 0 || whole <= 0 {
		return 1
	}
	return max(0, 1-thread/whole)
}

// setPieces fills in the pieces of a kind of call. each is the distribution of the time of a segment, grouped
// the number of tasks in a group.
func (w *work) setPieces(queue, reduce curve, each dist, grouped float64) {
	if w.n <= 0 {
		return
	}
	kernel := curve{}
	if each.known() {
		kernel = each.curve().slowestOf(each.Count * grouped / w.n)
	}
	w.queue = piece{queue.mean(), queue.variance()}
	w.reduce = piece{reduce.mean(), reduce.variance()}
	w.kernel = piece{kernel.mean(), kernel.variance()}
	w.curve = sum(sum(queue, kernel), reduce)
}

// fit adjusts the kinds of calls to the measured time of all calls. Kernels get at most the time that remains
// after the queue and the reduction. The remaining time is the same for each kind.
func (w *worker) fit(total dist, separate float64) {
	kinds := []*work{&w.sealed, &w.growing}
	mean, _ := total.mean()
	n := []float64{w.sealed.n, w.growing.n - separate}
	calls := n[0] + n[1]
	if calls > 0 && total.known() {
		room, kernels := mean, 0.0
		for i, k := range kinds {
			if k.n > 0 {
				k.queue.ms = min(k.queue.ms, mean)
				k.reduce.ms = min(k.reduce.ms, mean-k.queue.ms)
				room = mean - k.queue.ms - k.reduce.ms
				kernels += n[i] * k.kernel.ms / calls
			}
		}
		rest := max(0, room-kernels)
		for i, k := range kinds {
			if kernels > room && (n[i] > 0 || separate == 0) {
				k.kernel.ms *= room / kernels
			}
			k.rest.ms = rest
			if separate == 0 {
				k.poolWait()
			}
		}
	}
	for _, k := range kinds {
		if k.n > 0 {
			m := k.ms()
			if d := m - k.curve.mean(); d > 0 {
				k.curve = k.curve.plus(d)
			} else {
				k.curve = k.curve.withMean(m)
			}
		}
	}
}

// poolWait assumes that the unexplained time of a call is the wait for a slot in the scheduler's pool, if tasks
// queue.
func (w *work) poolWait() {
	const queues = 0.25 // of the unexplained time
	if w.queue.ms < queues*w.rest.ms {
		return
	}
	w.pool.ms = min(w.rest.ms, w.kernel.ms)
	w.pool.variance = w.pool.ms * w.pool.ms / 3 // uniform from 0 to twice the mean
	w.rest.ms -= w.pool.ms
}
