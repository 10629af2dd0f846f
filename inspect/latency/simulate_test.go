package latency_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
)

// simulation is a cluster that follows the Milvus source. A proxy calls the leaders of all shards in parallel.
// A leader waits for consistency and calls all nodes with segments of its shard in parallel. Each node waits in
// its queue, searches the segments in parallel on some threads, and reduces the results. The simulation does
// not use the estimates of the budget: it adds up the actual times of each request.
type simulation struct {
	rng      *rand.Rand
	whole    bool // truncate observations to whole milliseconds, as up to 2.5
	requests int
	shards   []simShard
	nodes    []simNode
	// consistency is the mean wait. The fraction together of the wait is common to all shards of a request.
	consistency, together float64
	queue                 float64 // mean
	handing               float64 // mean unmeasured time after the queue, as a fraction of a kernel
	sealed, growing       float64 // mean of a segment
	spread                float64 // of a segment: sigma of a log-normal
	load                  float64 // sigma of the correlation between the segments of a request
	reduce, wire          float64
	proxy, decode         float64
	threads               int
	// collection is the searched collection, or "" without a collection label. first is the number of query
	// nodes before the nodes of this collection.
	collection string
	first      int
}

type simShard struct {
	leader  int
	sealed  []int // segments on each node
	growing int
}

type simNode struct{ slow float64 }

// scenario returns a random cluster and load.
func scenario(seed uint64) *simulation {
	rng := rand.New(rand.NewPCG(seed, 20))
	s := &simulation{rng: rng, whole: rng.IntN(3) > 0, requests: 2000, threads: 2 + rng.IntN(15)}
	pick := func(values ...float64) float64 { return values[rng.IntN(len(values))] }
	s.consistency, s.together = pick(0, 0, 1, 20, 100, 250), pick(0.5, 0.9, 1)
	s.queue = pick(0, 0, 1, 5, 30)
	if s.queue > 0 {
		s.handing = pick(0, 0, 0.3)
	}
	s.sealed, s.growing = pick(0.5, 2, 5, 20, 80), pick(0.5, 3, 15, 60)
	s.spread, s.load = pick(0.1, 0.4, 0.8), pick(0, 0.2, 0.6)
	s.reduce, s.wire = pick(0.1, 0.1, 1, 10), pick(0.1, 0.3, 1)
	s.proxy, s.decode = pick(0.2, 1, 3), pick(0.05, 0.05, 5)
	for range 1 + rng.IntN(6) {
		s.nodes = append(s.nodes, simNode{1})
	}
	if rng.IntN(3) == 0 {
		s.nodes[rng.IntN(len(s.nodes))].slow = pick(2, 5, 10)
	}
	for i := range 1 + rng.IntN(4) {
		sh := simShard{leader: i % len(s.nodes), sealed: make([]int, len(s.nodes))}
		for range rng.IntN(1 + 6*len(s.nodes)) {
			sh.sealed[rng.IntN(len(s.nodes))]++
		}
		sh.growing = rng.IntN(3)
		s.shards = append(s.shards, sh)
	}
	return s
}

// truth holds the actual times of the mean request, by phase.
type truth struct {
	total float64
	phase map[string]float64
}

// observations collects observations as the histograms of Milvus do.
type observations struct {
	whole  bool
	series map[string][]float64
}

func (o *observations) add(process, family, labels string, ms float64) {
	if o.whole {
		ms = math.Floor(ms)
	}
	key := process + "\x00" + family + "\x00" + labels
	o.series[key] = append(o.series[key], ms)
}

func (s *simulation) exp(mean float64) float64 { return s.rng.ExpFloat64() * mean }

// kernel returns a random duration of a segment.
func (s *simulation) kernel(mean, slow, load float64) float64 {
	return mean * slow * load * math.Exp(s.rng.NormFloat64()*s.spread-s.spread*s.spread/2)
}

// run simulates the load. It returns the observations of each process and the actual times.
func (s *simulation) run() (*observations, truth) {
	o := &observations{whole: s.whole, series: map[string][]float64{}}
	return o, s.runOn(o)
}

// runOn simulates the load on processes with earlier observations.
func (s *simulation) runOn(o *observations) truth {
	t := truth{phase: map[string]float64{}}
	for range s.requests {
		total, parts := s.request(o)
		t.total += total / float64(s.requests)
		for name, ms := range parts {
			t.phase[name] += ms / float64(s.requests)
		}
	}
	return t
}

type path struct {
	ms    float64
	parts map[string]float64
}

func (p *path) add(name string, ms float64) {
	p.ms += ms
	p.parts[name] += ms
}

func slowestOf(list []path) path {
	return slices.MaxFunc(list, func(a, b path) int {
		switch {
		case a.ms < b.ms:
			return -1
		case a.ms > b.ms:
			return 1
		}
		return 0
	})
}

func (s *simulation) request(o *observations) (float64, map[string]float64) {
	const q = `query_type="search"`
	load := math.Exp(s.rng.NormFloat64()*s.load - s.load*s.load/2)
	common := s.exp(s.consistency)
	var shards []path
	for _, sh := range s.shards {
		leader := s.ask(o, sh, load, common)
		leader.add("unexplained", s.exp(s.wire))
		shards = append(shards, leader)
	}
	p := slowestOf(shards)
	reduce, decode := s.exp(s.reduce), s.exp(s.decode)
	p.add("reduce_proxy", reduce)
	p.add("decode", decode)
	o.add("proxy", "proxy_sq_reduce_result_latency", q, reduce)
	o.add("proxy", "proxy_sq_decode_result_latency", q, decode)
	o.add("proxy", "proxy_sq_wait_result_latency", q, p.ms)
	p.add("proxy_rest", s.exp(s.proxy))
	o.add("proxy", "proxy_sq_latency", q, p.ms)
	if s.collection != "" {
		o.add("proxy", "proxy_collection_sq_latency", q+`,collection_name="`+s.collection+`"`, p.ms)
	}
	return p.ms, p.parts
}

// ask simulates a call to the leader of a shard.
func (s *simulation) ask(o *observations, sh simShard, load, common float64) path {
	const q = `query_type="search"`
	name := fmt.Sprintf("querynode%d", s.first+sh.leader+1)
	p := path{parts: map[string]float64{}}
	wait := common*s.together + s.exp(s.consistency)*(1-s.together)
	o.add(name, "querynode_sq_wait_tsafe_latency", q, wait)
	p.add("consistency_wait", wait)
	var workers []path
	for node, segments := range sh.sealed {
		if segments > 0 {
			workers = append(workers, s.work(o, node, segments, false, load))
		}
	}
	if sh.growing > 0 {
		workers = append(workers, s.work(o, sh.leader, sh.growing, true, load))
	}
	if len(workers) > 0 {
		w := slowestOf(workers)
		for part, ms := range w.parts {
			p.add(part, ms)
		}
	}
	reduce := s.exp(s.reduce)
	o.add(name, "querynode_sq_reduce_latency", q+`,reduce_level="shards"`, reduce)
	p.add("reduce_shards", reduce)
	o.add(name, "querynode_sq_req_latency", q+`,scope="OnLeader"`, p.ms)
	return p
}

// work simulates a call to a worker, which searches its segments in order on some threads.
func (s *simulation) work(o *observations, node, segments int, growing bool, load float64) path {
	const q = `query_type="search"`
	name := fmt.Sprintf("querynode%d", s.first+node+1)
	slow := s.nodes[node].slow
	if slow == 0 {
		slow = 1
	}
	p := path{parts: map[string]float64{}}
	queue := s.exp(s.queue * slow)
	o.add(name, "querynode_sq_queue_latency", q, queue)
	p.add("read_queue", queue)
	mean, state, phase := s.sealed, "Sealed", "kernel_sealed"
	if growing {
		mean, state, phase = s.growing, "Growing", "kernel_growing"
	}
	p.add("pool_wait", s.rng.Float64()*2*min(s.handing*mean, 3*s.queue)*slow)
	free := make([]float64, s.threads) // the time at which each thread is free
	last, waited := 0.0, 0.0
	for range segments {
		i := slices.Index(free, slices.Min(free))
		start := free[i]
		free[i] += s.kernel(mean, slow, load)
		o.add(name, "querynode_sq_core_latency", q, free[i]-start)
		o.add(name, "querynode_sq_segment_latency", q+fmt.Sprintf(`,segment_state="%s"`, state), free[i])
		if free[i] > last {
			last, waited = free[i], start
		}
	}
	p.add("thread_wait", waited)
	p.add(phase, last-waited)
	reduce := s.exp(s.reduce)
	o.add(name, "querynode_sq_reduce_latency", q+`,reduce_level="segments"`, reduce)
	p.add("reduce_segments", reduce)
	o.add(name, "querynode_search_group_size", "", 1)
	o.add(name, "querynode_sq_req_latency", q+`,scope="FromLeader"`, p.ms)
	p.add("unexplained", s.exp(s.wire)) // the network in both directions
	return p
}

// texts returns the /metrics text of each process.
func (o *observations) texts() map[string]string {
	keys := make([]string, 0, len(o.series))
	for k := range o.series {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := map[string]*strings.Builder{}
	typed := map[string]bool{}
	for _, k := range keys {
		f := strings.SplitN(k, "\x00", 3)
		b := out[f[0]]
		if b == nil {
			b = &strings.Builder{}
			out[f[0]] = b
			id := 100
			role := "proxy"
			if n, err := fmt.Sscanf(f[0], "querynode%d", &id); err == nil && n == 1 {
				role = "querynode"
			}
			fmt.Fprintf(b, "# TYPE milvus_num_node gauge\nmilvus_num_node{node_id=\"%d\",role_name=\"%s\"} 1\n", id,
				role)
		}
		name := "milvus_" + f[1]
		if !typed[f[0]+name] {
			typed[f[0]+name] = true
			fmt.Fprintf(b, "# TYPE %s histogram\n", name)
		}
		labels := f[2]
		if labels != "" {
			labels = "," + labels
		}
		sum := 0.0
		for _, v := range o.series[k] {
			sum += v
		}
		for le := 1.0; le <= 131072; le *= 2 {
			n := 0
			for _, v := range o.series[k] {
				if v <= le {
					n++
				}
			}
			fmt.Fprintf(b, "%s_bucket{node_id=\"1\"%s,le=\"%g\"} %d\n", name, labels, le, n)
		}
		fmt.Fprintf(b, "%s_bucket{node_id=\"1\"%s,le=\"+Inf\"} %d\n", name, labels, len(o.series[k]))
		fmt.Fprintf(b, "%s_sum{node_id=\"1\"%s} %v\n%s_count{node_id=\"1\"%s} %d\n", name, labels, sum, name, labels,
			len(o.series[k]))
	}
	texts := map[string]string{}
	for p, b := range out {
		texts[p] = b.String()
	}
	return texts
}
