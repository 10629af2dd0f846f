package faulttest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/live"
)

// timed implements "timed NODE NAME{LABEL=VALUE,...} COUNT MS": a histogram has COUNT more observations of MS
// in the newest scrape.
func (w *World) timed(args []word) error {
	m := sample.FindStringSubmatch(args[1].text + "=0")
	if m == nil {
		return fmt.Errorf("%q is not NAME{LABEL=VALUE}", args[1].text)
	}
	count, err := strconv.ParseFloat(args[2].text, 64)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseFloat(args[3].text, 64)
	if err != nil {
		return err
	}
	return w.observe(args[0].text, m[1], m[2], count, ms)
}

// observe adds observations to the newest scrape of each process.
func (w *World) observe(node, name, labels string, count, each float64) error {
	if count <= 0 || each < 0 {
		return errors.New("a histogram wants a number of observations and how long each took")
	}
	list, err := w.newest(node)
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := addObservations(r, name, labels, count, each); err != nil {
			return fmt.Errorf("%s: %w", sessionName(r), err)
		}
	}
	return nil
}

// newest returns the last scrape of each process.
func (w *World) newest(node string) ([]*live.Record, error) {
	list, err := w.calls(node, "GET_/metrics")
	if err != nil {
		return nil, err
	}
	last := map[string]*live.Record{}
	for _, r := range list {
		if had := last[sessionName(r)]; had == nil || r.At.After(had.At) {
			last[sessionName(r)] = r
		}
	}
	return slices.DeleteFunc(list, func(r *live.Record) bool { return last[sessionName(r)] != r }), nil
}

// addObservations adds to a histogram with Milvus's buckets, powers of two from 1 to 131,072. Values up to 1
// are in the first bucket, e.g. short times in seconds.
func addObservations(r *live.Record, name, labels string, count, each float64) error {
	lines := scrapeLines(r)
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "# TYPE "+name+" ") }) {
		lines = append(lines, "# TYPE "+name+" histogram")
	}
	const largest = 131072
	add := func(part, more string, by float64) error {
		all := strings.TrimPrefix(labels+","+more, ",")
		all = strings.TrimSuffix(all, ",")
		had := lines.value(name+part, all)
		return lines.set(name+part, all, strconv.FormatFloat(had+by, 'f', -1, 64))
	}
	for le := 1.0; le <= largest; le *= 2 {
		n := 0.0
		if each <= le {
			n = count
		}
		if err := add("_bucket", "le="+strconv.FormatFloat(le, 'f', -1, 64), n); err != nil && n > 0 {
			return err
		}
	}
	if err := add("_bucket", "le=+Inf", count); err != nil {
		return err
	}
	if err := add("_sum", "", count*each); err != nil && each > 0 {
		return err
	}
	err := add("_count", "", count)
	lines.write(r)
	return err
}

// value returns the value of the sample that set would change, 0 if there is none.
func (s scrape) value(name, labels string) float64 {
	pairs := labelPairs(labels)
	for _, line := range s {
		if !strings.HasPrefix(line, name) { // most lines
			continue
		}
		head, value, ok := cutSample(strings.TrimSpace(line))
		if !ok || head != name && !strings.HasPrefix(head, name+"{") ||
			slices.ContainsFunc(pairs, func(p string) bool { return !strings.Contains(head, p) }) {
			continue
		}
		v, _ := strconv.ParseFloat(value, 64)
		return v
	}
	return 0
}

// searched implements "searched COLLECTION COUNT MS [PART=MS]... [slow=NODE:TIMES] [led=NODE:SHARDS]":
// clients searched a collection COUNT times between the two scrapes (after again). It adds the measurements
// of the proxy, the shard leaders and the query nodes.
func (w *World) searched(args []word) error {
	count, err := strconv.ParseFloat(args[1].text, 64)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseFloat(args[2].text, 64)
	if err != nil {
		return err
	}
	s := searchedParts{durations: map[string]float64{"sealed": 1, "segments": 1}, times: 1, shards: 1, nq: 1}
	for _, a := range args[3:] {
		if err := s.set(a.text); err != nil {
			return err
		}
	}
	if err := w.searchedProxies(args[0].text, count, ms, &s); err != nil {
		return err
	}
	nodes, err := w.newest("querynode")
	if err != nil {
		return err
	}
	for _, r := range nodes {
		if err := s.node(r, count, ms); err != nil && !errors.Is(err, errNoChange) {
			return fmt.Errorf("%s: %w", sessionName(r), err)
		}
	}
	return nil
}

// searchedParts holds the duration of the parts of a search: consistency, queue, sealed and growing (per
// segment), core (the share of the kernel in it), reduce, proxy (in addition to the task), inqueue (of the
// proxy), requery (the second query). It also holds the number of segments of each node. Each node leads a
// shard unless led names the one node that leads all shards; then only that node has a queue and growing
// segments.
type searchedParts struct {
	durations map[string]float64
	slow      string
	times     float64
	led       string
	shards    float64
	nq        float64
}

func (s *searchedParts) set(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	switch {
	case name == "slow":
		var times string
		s.slow, times, _ = strings.Cut(value, ":")
		s.times, err = strconv.ParseFloat(times, 64)
	case name == "led":
		var shards string
		s.led, shards, _ = strings.Cut(value, ":")
		s.shards, err = strconv.ParseFloat(shards, 64)
	case name == "nq":
		s.nq, err = strconv.ParseFloat(value, 64)
	case slices.Contains([]string{
		"consistency", "queue", "sealed", "growing", "core", "reduce", "proxy", "inqueue", "requery", "segments",
	}, name):
		s.durations[name], err = strconv.ParseFloat(value, 64)
	default:
		err = fmt.Errorf("%q is no part of a search", name)
	}
	return err
}

const searchLabel, queryLabel = "query_type=search", "query_type=query"

func (w *World) searchedProxies(collection string, count, ms float64, s *searchedParts) error {
	proxies, err := w.newest("proxy")
	if err != nil {
		return err
	}
	count /= float64(len(proxies))
	for _, r := range proxies {
		list := []observed{
			{"sq_latency", searchLabel, count, ms},
			{"collection_sq_latency", "collection_name=" + collection + "," + searchLabel, count, ms},
			{"sq_wait_result_latency", searchLabel, count, ms - s.durations["proxy"]},
			{"sq_reduce_result_latency", searchLabel, count, s.durations["reduce"]},
			{"sq_decode_result_latency", searchLabel, count, 0},
		}
		if s.durations["inqueue"] > 0 { // since 2.4
			list = append(list, observed{"req_in_queue_latency", "function_name=Search", count, s.durations["inqueue"]})
		}
		if again := s.durations["requery"]; again > 0 {
			list = append(list, observed{"sq_latency", queryLabel, count, again}, observed{
				"collection_sq_latency", "collection_name=" + collection + "," + queryLabel, count, again,
			})
		}
		for _, x := range list {
			if err := addObservations(r, "milvus_proxy_"+x.name, x.labels, x.count, x.each); err != nil {
				return fmt.Errorf("%s: %w", sessionName(r), err)
			}
		}
		for _, status := range []string{"total", "success"} {
			if err := addTo(r, "milvus_proxy_req_count", "function_name=Search,status="+status, count); err != nil {
				return err
			}
		}
		for name, labels := range map[string]string{
			"search_vectors_count": searchLabel, "received_nq": "collection_name=" + collection + "," + searchLabel,
		} {
			name = "milvus_proxy_" + name
			if err := setSample(r, name, labels,
				strconv.FormatFloat(scrapeLines(r).value(name, labels)+count*s.nq, 'f', -1, 64)); err != nil {
				return err
			}
		}
	}
	return nil
}

// node adds the measurements of a query node, as a shard leader and as a worker.
func (s *searchedParts) node(r *live.Record, count, ms float64) error {
	times := 1.0
	if sessionName(r) == s.slow {
		times = s.times
	}
	leads := s.led == "" || sessionName(r) == s.led
	of := maps.Clone(s.durations)
	if !leads {
		of["queue"], of["growing"] = 0, 0
	}
	calls := count * s.shards
	core := of["core"]
	if core == 0 {
		core = of["sealed"]
	}
	tasks := []searchedTask{{"Sealed", of["segments"], times * of["sealed"], times * core}}
	if of["growing"] > 0 {
		tasks = append(tasks, searchedTask{"Growing", 1, times * of["growing"], times * of["growing"]})
	}
	call := 0.0
	var list []observed
	for _, t := range tasks {
		call = max(call, of["queue"]+of["reduce"]+t.each)
		list = append(list,
			observed{"sq_req_latency", "scope=FromLeader," + searchLabel, calls, of["queue"] + of["reduce"] + t.each},
			observed{"sq_queue_latency", searchLabel, calls, of["queue"]},
			observed{"sq_segment_latency", "segment_state=" + t.state + "," + searchLabel, calls * t.segments, t.each},
			observed{"sq_core_latency", searchLabel, calls * t.segments, t.core},
			observed{"sq_reduce_latency", "reduce_level=segments," + searchLabel, calls, of["reduce"]},
			observed{"search_group_size", "", calls, 1})
	}
	if leads {
		leader := max(ms-of["proxy"]-of["inqueue"]-of["requery"]-of["reduce"]-1, call+of["consistency"])
		list = append(list, observed{"sq_req_latency", "scope=OnLeader," + searchLabel, calls, leader},
			observed{"sq_wait_tsafe_latency", searchLabel, calls, of["consistency"]},
			observed{"sq_reduce_latency", "reduce_level=shards," + searchLabel, calls, of["reduce"]})
	}
	for _, x := range list {
		if err := addObservations(r, "milvus_querynode_"+x.name, x.labels, x.count, x.each); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

// searchedTask is a leader's request to a query node: for sealed segments, or for its own growing ones.
type searchedTask struct {
	state                string
	segments, each, core float64
}

// observed is the increase of a histogram: count observations of each milliseconds.
type observed struct {
	name, labels string
	count, each  float64
}
