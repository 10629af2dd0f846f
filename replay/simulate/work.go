package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"kitescope/replay/schedule"
)

// work is what requests of a collection make a node do for a shard: a task, and what it costs. Times are in seconds.
type work struct {
	node     int  // of the cluster
	worker   bool // the leader passes it on: one more hop
	group    string
	segments int
	serial   float64 // before and after its segments, on one core
	outside  float64 // before the scheduler takes it, on one core,
	warm     float64 // so much of it where one comes after the other
	total    float64 // CPU of one vector in all segments
	fixed    float64 // of it what a merged group pays once
	batch    float64 // what a further vector costs, of total - fixed
	// lone is how long one vector takes in all segments while nothing else runs; spread the coefficient of variation.
	lone, spread float64
	single       float64 // sigma of one vector
	parallel     float64 // cores that it may use at once
	jobs         []job   // with Load.BySegment
}

// job is one segment.
type job struct {
	mean, fixed, batch float64
	sigma              float64 // of the logarithm of its cost
}

// draws bounds how many times a task's segments are spread over cores to learn how long that takes.
const draws = 1024

// newWork sums up the segments of one shard on one node.
func newWork(n *Node, segments []Segment, correlation float64, bySegment bool, random *rand.Rand) work {
	w := work{
		segments: len(segments), serial: n.Overhead.Seconds(), outside: n.Outside.Seconds(), warm: cmp.Or(n.Warm, 1),
		parallel: math.Ceil(n.Read.Cores),
	}
	if n.Parallel > 0 {
		w.parallel = min(w.parallel, float64(n.Parallel))
	}
	jobs := make([]job, len(segments))
	var further float64
	for i, s := range segments {
		j := job{mean: s.Mean.Seconds(), fixed: n.SegmentOverhead.Seconds(), batch: s.Batch}
		if s.Batch == 0 {
			j.batch = 1
		}
		j.sigma = math.Sqrt((1 - correlation) * logVariance(s.Mean, s.SD))
		jobs[i] = j
		w.total += j.mean + j.fixed
		w.fixed += j.fixed
		further += j.mean * j.batch
	}
	if w.total > w.fixed {
		w.batch = further / (w.total - w.fixed)
	}
	w.alone(jobs, random)
	w.single = math.Sqrt(math.Log1p(w.spread * w.spread))
	if bySegment {
		w.jobs = jobs
	}
	return w
}

// logVariance is the variance of the logarithm of what is log-normal with that mean and standard deviation.
func logVariance(mean, sd time.Duration) float64 {
	if mean <= 0 || sd <= 0 {
		return 0
	}
	cv := sd.Seconds() / mean.Seconds()
	return math.Log1p(cv * cv)
}

// alone finds lone and spread: of one segment they are its own; of several they are those of how long the cores take that
// take the segments one after the other, each as soon as it has none.
func (w *work) alone(jobs []job, random *rand.Rand) {
	if len(jobs) == 1 {
		w.lone = w.total
		if w.total > 0 {
			w.spread = math.Sqrt(math.Expm1(jobs[0].sigma*jobs[0].sigma)) * jobs[0].mean / w.total
		}
		return
	}
	times := min(draws, max(32, 4*draws/max(1, len(jobs))))
	if !slices.ContainsFunc(jobs, func(j job) bool { return j.sigma > 0 }) {
		times = 1
	}
	cores := make(cores, min(int(w.parallel), len(jobs)))
	var sum, squares, drawn float64
	for range times {
		clear(cores)
		var latest float64
		for i := range jobs {
			cost := jobs[i].first(random)
			drawn += cost
			latest = max(latest, cores.add(cost))
		}
		sum += latest
		squares += latest * latest
	}
	if sum == 0 {
		return
	}
	n := float64(times)
	w.lone = sum / n
	w.spread = math.Sqrt(max(0, squares/n-w.lone*w.lone)) / w.lone
	w.lone *= w.total * n / drawn // the draws' mean is not quite the segments'
}

// first draws the cost of the first vector in a segment.
func (j *job) first(random *rand.Rand) float64 {
	if j.sigma == 0 {
		return j.fixed + j.mean
	}
	return j.fixed + j.mean*math.Exp(j.sigma*random.NormFloat64()-j.sigma*j.sigma/2)
}

// cores are the times at which each is free, a heap with the first at the top.
type cores []float64

func (c cores) add(cost float64) float64 {
	end := c[0] + cost
	i := 0
	for {
		child := 2*i + 1
		if child >= len(c) {
			break
		}
		if child+1 < len(c) && c[child+1] < c[child] {
			child++
		}
		if c[child] >= end {
			break
		}
		c[i], i = c[child], child
	}
	c[i] = end
	return end
}

// cost is how long a group of n vectors takes alone without its serial part, and the CPU it uses in that time, on average. The vectors of
// a group are searched side by side, too (Knowhere gives each one to its thread pool); it is not faster than one vector.
func (w *work) cost(n float64) (lone, cpu float64) {
	if n == 1 {
		return w.lone, w.total
	}
	cpu = w.fixed + (w.total-w.fixed)*(1+(n-1)*w.batch)
	jobs := float64(w.segments)
	uneven := max(0, w.lone-w.total/min(w.parallel, jobs))
	return max(w.lone, cpu/min(w.parallel, jobs*n)+uneven), cpu
}

// sigma is the spread of the logarithm of a group's cost: chance evens out over its vectors.
func (w *work) sigma(n float64) float64 {
	if n == 1 {
		return w.single
	}
	once := 1 + (n-1)*w.batch
	return math.Sqrt(math.Log1p(w.spread * w.spread * (1 + (n-1)*w.batch*w.batch) / (once * once)))
}

// largest is the most vectors that the scheduler merges if all requests have nq.
func largest(k *schedule.Knobs, nq int) int {
	n := nq
	if !k.Grouping || k.MaxNQ <= nq {
		return n
	}
	n = k.MaxNQ / nq * nq
	if k.SameKRatio {
		n = min(n, int(k.TopKRatio)*nq)
	}
	return max(n, nq)
}
