// Package impact measures what clients notice. Measure takes a Cluster and returns an Impact. For each kind of request
// it has the numbers that came, succeeded, failed, were refused or hang, their duration compared with the past, and a
// State. Impact.Lines returns it as text. Package place finds where the affected requests break.
//
// The numbers are the increase of the proxies' counters and histograms between two scrapes. For DDL, loads and flushes
// coordinators and data nodes are read too: proxies of 2.3 count an error of a coordinator as a success, and a flush
// as done once it is ordered.
package impact

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// Request is a kind of client request.
type Request string

// The kinds of requests.
const (
	Search Request = "search"
	Query  Request = "query"
	Insert Request = "insert"
	Upsert Request = "upsert"
	Delete Request = "delete"
	Flush  Request = "flush"
	DDL    Request = "ddl" // create, drop, alter and rename of any object, including indexes
	Load   Request = "load"
	Import Request = "import"
	// Describe is a read of metadata: describe, show, has or list. Clients send it before other requests and
	// wait for the response. Failures are normal, e.g. if an index does not exist.
	Describe Request = "describe"
)

// Requests returns all kinds, the most frequent first.
func Requests() []Request {
	return []Request{Search, Query, Insert, Upsert, Delete, Flush, DDL, Load, Import, Describe}
}

// Path names the path that requests of the kind take together with others: "reads", "writes" or the kind itself.
func (r Request) Path() string {
	switch r {
	case Search, Query:
		return "reads"
	case Insert, Upsert, Delete:
		return "writes"
	case Flush, DDL, Load, Import, Describe:
	}
	return string(r)
}

// State is the condition of the requests of one kind.
type State uint8

// The states, in ascending order of severity.
const (
	Unknown State = iota
	Idle          // none ended, none is in flight
	Fine
	Unsure // too few requests wait, failed or were slow to tell a fault from an invalid request
	Slow
	Refused
	Failing
	Hanging
)

func (s State) String() string {
	return [...]string{"unknown", "idle", "fine", "unsure", "slow", "refused", "failing", "hanging"}[min(s, Hanging)]
}

// AffectsClients reports whether clients notice the state.
func (s State) AffectsClients() bool { return s >= Slow }

// Thresholds of the states. No kind of request reaches them in the captured healthy clusters.
const (
	// minFailed and minFailedShare are the minimum number and share of failures. Fewer may come from one
	// invalid request.
	minFailed, minFailedShare = 3, 0.01
	// minAlsoFailedShare is the minimum share of failed requests of a kind if another kind fails.
	minAlsoFailedShare = 0.25
	// slowFactor is the minimum ratio of a mean to the past mean, slowDiff their minimum difference in
	// milliseconds.
	slowFactor, slowDiff = 3, 50
	// verySlowFactor and verySlowDiff are the same for a few requests, because clients that wait for responses send
	// few.
	verySlowFactor, verySlowDiff = 5, 200
	// describeDiff is the minimum difference for metadata reads, because proxies of 2.3 queue them behind DDL.
	describeDiff = 500
	// tailShare is the minimum share of requests, and minRareRequests the minimum number, that took longer than
	// tailFactor times the past 95th percentile.
	tailShare, tailFactor = 0.1, 2
	// medianTailShare and medianTailFactor are the same for the past median, which incidents in the past do not change.
	medianTailShare, medianTailFactor = 0.2, 4
	// unsureShare is the minimum share of failures for Unsure. Below it, a few failures are attributed to
	// invalid requests.
	unsureShare = 0.05
	// minExpected is the minimum number of requests expected in the window, at the rate since the start of
	// the proxies. With fewer, a window without any success does not show a stall.
	minExpected = 3
	// idleProxySeconds is the minimum time in seconds since the start of a proxy that has counted no request.
	idleProxySeconds = 10
	// hangSeconds is the minimum length of the window, in seconds, to conclude that requests hang. In a shorter one
	// it is normal that none has ended.
	hangSeconds = 4
	// flushSeconds is the same for flushes. A healthy flush took 2.5 to 6.2 s.
	flushSeconds = 9
	// minUsualFlushes is the minimum number of flushes that usually come in the window for segments to be those that
	// clients wait for.
	minUsualFlushes = 0.1
	// minPast is the minimum time in seconds that a proxy must have counted for an average.
	minPast = 60
	// minRequests is the minimum number of requests in the window for a mean, minRareRequests the same for rare
	// kinds, and minPastRequests the minimum number before the window.
	minRequests, minRareRequests, minPastRequests = 10, 3, 50
)

// Impact holds the state of each kind of request. It is immutable.
type Impact struct {
	// Kinds has one entry for each kind of request, in the order of Requests.
	Kinds []Kind
	// From and To delimit the time between the scrapes of the proxies. Zero is unknown.
	From, To time.Time
	// Unseen lists the reasons why requests may be missing from the counters: etcd does not respond, or a
	// proxy has no metrics or only one scrape.
	Unseen []string
}

// Kind holds the counts, durations and state of one kind of request over all proxies.
type Kind struct {
	Request Request
	State   State
	// Why is the reason of the state if it is unknown, or does not follow from the counters of the proxies.
	Why string
	// Received is the number of requests that arrived in the window. Succeeded, Failed and Refused count the
	// requests that ended in it, by result.
	Received, Succeeded, Failed, Refused float64
	// Usual is the number of requests that usually come in the window, at the average rate of each proxy since its
	// start at least a minute ago; NaN: unknown.
	Usual float64
	// InFlight is the number of requests in flight at the end of the window, at proxies where none ended in
	// it.
	InFlight float64
	// Unwritten is the number of sealed segments that wait to be written while no flush ends.
	Unwritten float64
	// Seconds is the length of the window, the shortest of all proxies. 0 is unknown.
	Seconds float64
	// Mean and Past are the mean durations of successful requests in milliseconds, in the window and before
	// it. NaN is unknown.
	Mean, Past float64
	// Median is a lower bound of the median duration in the window, PastMedian an upper bound of the median
	// before it, in milliseconds. Both are bounds of buckets. NaN is unknown. Unlike Past, PastMedian is not
	// distorted by earlier incidents.
	Median, PastMedian float64
	// Long is the number of requests that took longer than LongMs milliseconds, if far more did than before; else 0.
	Long, LongMs float64
	// pastCount is the number of durations that Past is the mean of.
	pastCount float64
	// P99 is the upper bound of the bucket with the 99th percentile in the window, in milliseconds. NaN is
	// unknown.
	P99 float64
	// UserFault is the number of failures and refusals that releases from 2.6.20 on attribute to the client.
	// For metadata reads it is the number of all failures.
	UserFault float64
	// Proxies are the proxies where requests failed, were refused or hang. It is nil unless clients notice
	// the state.
	Proxies []model.Ref
}

// Ended is the number of requests that ended in the window.
func (k *Kind) Ended() float64 { return k.Succeeded + k.Failed + k.Refused }

// FewFailed reports whether less than 5 % of the requests that ended failed or were refused. It returns false if
// requests hang, if none ended or if Why is set.
func (k *Kind) FewFailed() bool {
	const fewFail = 0.05
	return k.State != Hanging && k.Why == "" && k.Failed+k.Refused-k.UserFault < fewFail*k.Ended()
}

// Doubtful reports whether the state is Unsure, which a longer window may resolve.
func (k *Kind) Doubtful() bool { return k.State == Unsure }

// Affected returns the kinds whose state clients notice, the worst first.
func (x *Impact) Affected() []*Kind {
	if x == nil {
		return nil
	}
	var list []*Kind
	for i := range x.Kinds {
		if x.Kinds[i].State.AffectsClients() {
			list = append(list, &x.Kinds[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Kind) int { return int(b.State) - int(a.State) })
	return list
}

// Doubtful reports whether any kind is doubtful.
func (x *Impact) Doubtful() bool {
	return x != nil && slices.ContainsFunc(x.Kinds, func(k Kind) bool { return k.Doubtful() })
}

// Kind returns the entry of a kind of request, or nil if there is none.
func (x *Impact) Kind(r Request) *Kind {
	if x == nil {
		return nil
	}
	for i := range x.Kinds {
		if x.Kinds[i].Request == r {
			return &x.Kinds[i]
		}
	}
	return nil
}

// kindOf returns the kind of request of a function_name label of a proxy or coordinator, or "" if it has no
// kind.
func kindOf(function string) Request {
	switch function {
	case "Search", "HybridSearch":
		return Search
	case "Query":
		return Query
	case "Insert":
		return Insert
	case "Upsert":
		return Upsert
	case "Delete":
		return Delete
	case "Flush", "FlushAll":
		return Flush
	case "LoadCollection", "LoadPartitions", "ReleaseCollection", "ReleasePartitions":
		return Load
	case "Import", "ImportV2":
		return Import
	}
	for _, verb := range []string{"Create", "Drop", "Alter", "Rename"} {
		if strings.HasPrefix(function, verb) {
			return DDL
		}
	}
	for _, verb := range []string{"Describe", "Show", "Has", "List"} {
		if strings.HasPrefix(function, verb) {
			return Describe
		}
	}
	return ""
}

// tally holds the counts of one kind of request in one process.
type tally struct {
	received, succeeded, failed, refused, user float64
	// inFlightBefore and inFlightNow are the numbers of requests in flight at the first and second scrape: the total
	// minus all that ended.
	inFlightBefore, inFlightNow float64
	// past is the number of requests that succeeded before the window, pastReceived the number that was received.
	past, pastReceived float64
}

func (t *tally) ended() float64 { return t.succeeded + t.failed + t.refused }

// add counts n requests with a status (pkg/metrics: SuccessLabel, FailLabel, ...). 2.6.20 has fail_input,
// fail_system, rejected_user and others.
func (t *tally) add(status, cause string, n float64) {
	switch {
	case status == "total":
		t.received += n
	case status == "success":
		t.succeeded += n
	case strings.HasPrefix(status, "rejected"), status == "retry":
		if t.refused += n; status == "rejected_user" {
			t.user += n
		}
	default: // fail, abandon and cancel: clients cancel requests that take too long
		t.failed += n
		if cause == "user" || status == "fail_input" {
			t.user += n
		}
	}
}

// tallies counts the requests of a process by kind. w is the window, past the time before it. kind returns
// the kind of a series of the counter, or "" to skip the series.
func tallies(
	w *metrics.Window, past *metrics.Window, name metrics.Name, kind func([]model.Pair) Request,
) map[Request]*tally {
	all := map[Request]*tally{}
	of := func(labels []model.Pair) *tally {
		r := kind(labels)
		if r == "" {
			return nil
		}
		if all[r] == nil {
			all[r] = &tally{}
		}
		return all[r]
	}
	w.EachCounter(name, func(labels []model.Pair, came float64) {
		if t := of(labels); t != nil {
			t.add(label(labels, "status"), label(labels, "cause"), came)
		}
	})
	for r, n := range countInFlight(metrics.NewWindow(nil, w.Scrape()), name, kind) {
		if t := all[r]; t != nil {
			t.inFlightNow = n
		}
	}
	past.EachCounter(name, func(labels []model.Pair, sum float64) {
		if t := of(labels); t != nil {
			switch label(labels, "status") {
			case "success":
				t.past += sum
			case "total":
				t.pastReceived += sum
			}
		}
	})
	for r, n := range countInFlight(past, name, kind) {
		all[r].inFlightBefore = n
	}
	return all
}

// countInFlight returns the number of requests in flight by kind, from counters since the start of a process: the total
// minus all that ended, for each set of labels. Proxies of 2.5 and later delete the series of a dropped collection
// while the request that drops it is in flight, so that only its end is left.
func countInFlight(w *metrics.Window, name metrics.Name, kind func([]model.Pair) Request) map[Request]float64 {
	type series struct {
		of     Request
		labels string
	}
	each := map[series]float64{}
	w.EachCounter(name, func(labels []model.Pair, sum float64) {
		r := kind(labels)
		if r == "" {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(labels), func(p model.Pair) bool {
			return p.Key == "status" || p.Key == "cause"
		})
		if label(labels, "status") != "total" {
			sum = -sum
		}
		each[series{r, fmt.Sprint(rest)}] += sum
	})
	all := map[Request]float64{}
	for s, n := range each {
		all[s.of] += max(0, n)
	}
	return all
}

func label(labels []model.Pair, key string) string { return model.Series{Labels: labels}.Label(key) }

func byFunction(labels []model.Pair) Request { return kindOf(label(labels, "function_name")) }

// always returns a function that returns r for all labels.
func always(r Request) func([]model.Pair) Request { return func([]model.Pair) Request { return r } }

// Measure returns the impact of a cluster. All kinds are unknown if no process was queried.
func Measure(c *model.Cluster) *Impact {
	n := counts{
		byRequest: map[Request]*requestCounts{}, noProxyReason: "no proxy reported its metrics",
		leaders: leaderRequests{}, written: flushes{bySession: map[string]writes{}},
		unseen: unseen(c), seconds: math.Inf(1),
	}
	for _, r := range Requests() {
		n.byRequest[r] = &requestCounts{}
	}
	for _, p := range processes(c) {
		if w := metrics.NewWindow(p.Before, p.Metrics); w != nil {
			n.add(p, w)
		}
	}
	x := &Impact{From: n.from, To: n.to, Unseen: n.unseen}
	closed, why := closedProxies(c)
	succeeded := 0.0
	for _, r := range Requests() {
		x.Kinds = append(x.Kinds, n.kind(r))
		succeeded += x.Kinds[len(x.Kinds)-1].Succeeded
	}
	x.escalate()
	for i := range x.Kinds {
		k := &x.Kinds[i]
		if k.Request == Flush && k.State < Slow && k.State != Unknown {
			segments, seconds := n.written.waiting(c)
			k.setFlushState(segments, seconds,
				n.byRequest[Flush].sum.received > 0 || n.byRequest[Flush].usual >= minUsualFlushes)
		}
		if why != "" && succeeded == 0 { // otherwise proxies refuse connections only from this host
			k.State, k.Why, k.Proxies = Failing, why, closed
		}
		if !k.State.AffectsClients() {
			k.Proxies = nil
		}
	}
	return x
}

// counts sums the counters of all processes.
type counts struct {
	byRequest map[Request]*requestCounts
	from, to  time.Time
	// seconds is the length of the shortest window of a proxy.
	seconds float64
	// proxies is the number of proxies that counted requests between two scrapes. noProxyReason is the reason if there
	// are none.
	proxies       int
	noProxyReason string
	// idleProxy is a proxy that has counted no request since it started, at least idleProxySeconds ago.
	idleProxy model.Ref
	leaders   leaderRequests
	written   flushes
	unseen    []string
}

// add adds the counters of one process.
func (n *counts) add(p *model.Process, w *metrics.Window) {
	var past *metrics.Window
	if p.Before != nil {
		past = metrics.NewWindow(nil, p.Before)
	}
	n.leaders.add(p, w, past)
	n.written.add(p, w)
	if !w.SinceStart {
		coordinators(n.byRequest, w, past)
	}
	ref, is := roleIn(p, "proxy")
	switch {
	case !is:
		return
	case w.Missing(metrics.ProxyRequests) != "":
		if metrics.NewWindow(nil, p.Metrics).Seconds() >= idleProxySeconds {
			n.idleProxy = ref
		}
		n.noProxyReason = ref.Name +
			" has counted no requests since it started: there were none, or it refused them before counting, e.g. " +
			"for a missing login"
		return
	}
	if w.SinceStart {
		n.noProxyReason, n.unseen = "no proxy was scraped twice", append(n.unseen, ref.Name+": counted "+w.Reason)
		return
	}
	if n.proxies == 0 || w.From.Before(n.from) {
		n.from = w.From
	}
	if w.To.After(n.to) {
		n.to = w.To
	}
	n.proxies++
	n.seconds = min(n.seconds, w.Seconds())
	for r, t := range tallies(w, past, metrics.ProxyRequests, byFunction) {
		n.byRequest[r].proxy(ref, t, w, past)
	}
	timed := map[Request]float64{}
	past.Each(metrics.ProxyRequest, func(labels []model.Pair, h metrics.Histogram) {
		timed[byFunction(labels)] += h.Count
	})
	for _, r := range Requests() {
		n.byRequest[r].addDurations(w, past, r)
		n.byRequest[r].addUsual(timed[r], w, past)
	}
	addRateLimited(n.byRequest, ref, w)
}

// kind returns the counts and the state of a kind of request.
func (n *counts) kind(r Request) Kind {
	seconds := n.seconds
	if n.proxies == 0 {
		seconds = 0
	}
	k := n.byRequest[r].kind(r, seconds)
	switch {
	case n.proxies == 0 && n.idleProxy.ID != "" && n.leaders.stopped(r):
		k.State, k.Proxies = Refused, []model.Ref{n.idleProxy}
		k.Why = "none got through " + n.idleProxy.Name + " since it started; query nodes answered some before"
	case n.proxies == 0:
		k.State, k.Why = Unknown, strings.Join(append([]string{n.noProxyReason}, n.unseen...), "; ")
	case k.State == Idle && len(n.unseen) > 0:
		k.State, k.Why = Unknown, n.unseen[0]
	}
	return k
}

// escalate judges kinds with few bad requests more strictly if clients notice the state of another kind.
// It sets kinds that are unsure or fine to Hanging, Failing or Slow.
func (x *Impact) escalate() {
	worst := Idle
	for i := range x.Kinds {
		worst = max(worst, x.Kinds[i].State)
	}
	if worst < Slow {
		return
	}
	for i := range x.Kinds {
		k := &x.Kinds[i]
		by, farBy := float64(slowDiff), float64(verySlowDiff)
		if k.Request == Describe {
			by, farBy = describeDiff, describeDiff
		}
		slow := k.Mean > max(slowFactor*k.Past, k.Past+by) || k.MedianSlow() && k.Mean > k.PastMedian+by
		switch {
		case k.State != Unsure && k.State != Fine:
		case k.InFlight > 0 && k.Seconds >= hangSeconds &&
			(1000*k.Seconds > verySlowFactor*k.baseline()+farBy || math.IsNaN(k.Past) && worst >= Failing):
			k.State = Hanging
		case k.State == Unsure && worst >= Failing && k.Failed > 0 && k.Failed >= minAlsoFailedShare*k.Ended():
			k.State = Failing
		case k.State == Unsure && k.Mean > verySlowFactor*k.Past+farBy,
			k.Succeeded > 1 && k.pastCount >= minPastRequests && slow:
			k.State = Slow
		}
	}
}

// baseline returns the smaller one of the past mean and median, because a mean contains past incidents. It returns NaN
// if both are unknown.
func (k *Kind) baseline() float64 {
	if math.IsNaN(k.PastMedian) || k.Past < k.PastMedian {
		return k.Past
	}
	return k.PastMedian
}

// coordinators adds the requests that a process counts if it is a coordinator or data node.
func coordinators(counts map[Request]*requestCounts, w, past *metrics.Window) {
	for name, kind := range map[metrics.Name]func([]model.Pair) Request{
		metrics.DDLRequests:   byFunction,
		metrics.Flushes:       always(Flush),
		metrics.LoadRequests:  always(Load),
		metrics.IndexRequests: always(DDL),
	} {
		for r, t := range tallies(w, past, name, kind) {
			counts[r].coordinator(r, t, w.Seconds())
		}
	}
}

// leaderRequests holds the searches and queries that shard leaders answered: the number in the window, and the
// number expected in it at the past rate.
type leaderRequests map[Request]*[2]float64

func (a leaderRequests) add(p *model.Process, w, past *metrics.Window) {
	if _, is := roleIn(p, "querynode"); !is || w.SinceStart || past.Seconds() == 0 {
		return
	}
	for i, counted := range []*metrics.Window{w, past} {
		part := []float64{1, w.Seconds() / past.Seconds()}[i]
		counted.EachCounter(metrics.NodeRequests, func(labels []model.Pair, n float64) {
			if label(labels, "scope") != "OnLeader" || label(labels, "status") != "success" {
				return
			}
			r := Request(label(labels, "query_type"))
			if a[r] == nil {
				a[r] = &[2]float64{}
			}
			a[r][i] += n * part
		})
	}
}

// stopped reports whether shard leaders answered no request of a kind, although at least minExpected were
// expected.
func (a leaderRequests) stopped(r Request) bool {
	return a[r] != nil && a[r][0] == 0 && a[r][1] >= minExpected
}

// requestCounts sums the counters of all processes for one kind of request: sum over proxies, coord over
// coordinators and data nodes.
type requestCounts struct {
	sum, coord tally
	inFlight   float64
	// hangFor is the longest window in seconds of a process at which requests are in flight and none ended.
	hangFor float64
	// hangs is true if requests hang at any process, see the function hangs.
	hangs bool
	// waiting is the number of requests in flight, expected the number of successes expected at the past
	// rate.
	waiting, expected float64
	// pastReceived is the number of requests that came to the last proxy before the window. usual is the number
	// expected in the window at the past rates, and young is true if a proxy started too recently for an average.
	pastReceived, usual      float64
	young                    bool
	proxies                  []model.Ref
	durations, pastDurations metrics.Histogram
}

func (n *requestCounts) proxy(ref model.Ref, t *tally, w, past *metrics.Window) {
	n.sum.received, n.sum.succeeded, n.sum.failed = n.sum.received+t.received, n.sum.succeeded+t.succeeded,
		n.sum.failed+t.failed
	n.sum.refused, n.sum.user = n.sum.refused+t.refused, n.sum.user+t.user
	stuck := 0.0
	if t.ended() == 0 && !w.SinceStart {
		stuck = max(0, min(t.inFlightNow, t.inFlightBefore+t.received))
	}
	n.inFlight, n.waiting, n.sum.past = n.inFlight+stuck, n.waiting+max(0, t.inFlightNow), n.sum.past+t.past
	n.hangs = n.hangs || hangs(stuck, t.received)
	if stuck > 0 {
		n.hangFor = max(n.hangFor, w.Seconds())
	}
	if seconds := past.Seconds(); seconds > 0 && !w.SinceStart {
		n.expected += t.past / seconds * w.Seconds()
	}
	n.pastReceived = t.pastReceived
	if stuck+t.failed+t.refused > 0 {
		n.proxies = append(n.proxies, ref)
	}
}

// addUsual adds the requests that a proxy usually gets in such a window. timed is the number of durations that it
// measured before the window: counters of 2.5 and later lose the requests of dropped collections.
func (n *requestCounts) addUsual(timed float64, w, past *metrics.Window) {
	if seconds := past.Seconds(); seconds > 0 {
		n.usual += max(n.pastReceived, timed) / seconds * w.Seconds()
		n.young = n.young || seconds < minPast
	}
	n.pastReceived = 0
}

// coordinator adds the counters of a coordinator or data node: errors, which its callers may not count, and
// flushes.
func (n *requestCounts) coordinator(r Request, t *tally, seconds float64) {
	n.coord.failed += t.failed
	// Other kinds have ends that are not counted, e.g. a load with refresh or a DropRole that fails.
	if r == Flush && t.ended() == 0 {
		stuck := min(t.inFlightBefore, t.inFlightNow)
		n.inFlight, n.hangs = max(n.inFlight, stuck), n.hangs || hangs(stuck, t.received)
		if stuck > 0 {
			n.hangFor = max(n.hangFor, seconds)
		}
	}
}

// hangs reports whether requests hang at a process where none ended. A single request in flight counts only
// if a request came in the window, because its end may have been missed.
func hangs(inFlight, came float64) bool { return inFlight > 1 || inFlight > 0 && came > 0 }

// addDurations adds the durations of successful requests, in the window and before it.
func (n *requestCounts) addDurations(w, past *metrics.Window, r Request) {
	name, match := metrics.ProxyRequest, func(labels []model.Pair) bool { return byFunction(labels) == r }
	switch r {
	case Search, Query:
		name, match = metrics.ProxySearch, func(labels []model.Pair) bool {
			kind := label(labels, "query_type")
			return (kind == "query") == (r == Query)
		}
	case Insert, Upsert, Delete:
		name, match = metrics.ProxyMutation, func(labels []model.Pair) bool {
			return label(labels, "msg_type") == string(r)
		}
	default: // use the histogram of all calls
	}
	w.Each(name, func(labels []model.Pair, h metrics.Histogram) {
		if match(labels) {
			n.durations = n.durations.Plus(h)
		}
	})
	past.Each(name, func(labels []model.Pair, h metrics.Histogram) {
		if match(labels) {
			n.pastDurations = n.pastDurations.Plus(h)
		}
	})
}

// addRateLimited adds the requests that the rate limiter refused before they were counted (2.4 and later).
func addRateLimited(counts map[Request]*requestCounts, ref model.Ref, w *metrics.Window) {
	w.EachCounter(metrics.ProxyRateLimited, func(labels []model.Pair, came float64) {
		r := kindOfLimit(label(labels, "msg_type"))
		if n := counts[r]; n != nil && label(labels, "status") == "fail" && came > 0 {
			n.sum.refused += came
			if !slices.Contains(n.proxies, ref) {
				n.proxies = append(n.proxies, ref)
			}
		}
	})
}

// kindOfLimit returns the kind of request of an internalpb.RateType: DMLInsert, DQLSearch, DDLCollection, ...
func kindOfLimit(rate string) Request {
	switch rate {
	case "DMLInsert":
		return Insert
	case "DMLUpsert":
		return Upsert
	case "DMLDelete":
		return Delete
	case "DMLBulkLoad":
		return Import
	case "DQLSearch":
		return Search
	case "DQLQuery":
		return Query
	case "DDLFlush":
		return Flush
	}
	if strings.HasPrefix(rate, "DDL") {
		return DDL
	}
	return ""
}

// kind returns the counts and the state of a kind of request for a window of the given length.
func (n *requestCounts) kind(r Request, seconds float64) Kind {
	t := n.sum
	if extra := n.coord.failed - t.failed; extra > 0 { // the proxy counted these as successes
		t.failed += extra
		t.succeeded = max(0, t.succeeded-extra)
	}
	if r == Describe {
		t.user = t.failed
	}
	k := Kind{
		Request: r, Received: t.received, Succeeded: t.succeeded, Failed: t.failed, Refused: t.refused,
		UserFault: t.user,
		InFlight:  n.inFlight, Usual: n.usual, Seconds: max(0, seconds), Mean: mean(n.durations),
		Past: mean(n.pastDurations), P99: math.NaN(),
		Median: math.NaN(), PastMedian: math.NaN(), pastCount: n.pastDurations.Count,
	}
	if k.InFlight > 0 { // observed at that process, which may have been read over a longer time than others
		k.Seconds = max(k.Seconds, n.hangFor)
	}
	if low, _, ok := n.durations.Quantile(0.5); ok {
		k.Median = low
	}
	if _, high, ok := n.pastDurations.Quantile(0.5); ok {
		k.PastMedian = high
	}
	if n.young || seconds == 0 {
		k.Usual = math.NaN()
	}
	if _, high, ok := n.durations.Quantile(0.99); ok {
		k.P99 = high
	}
	bad := k.Failed + k.Refused - k.UserFault
	few := float64(minRequests)
	if r == Flush || r == DDL || r == Load || r == Import {
		few = minRareRequests
	}
	slow := func(least, times, by float64) bool {
		if r == Describe {
			by = describeDiff
		}
		return n.durations.Count >= least && n.pastDurations.Count >= minPastRequests && k.Mean > times*k.Past &&
			k.Mean > k.Past+by
	}
	half := n.durations.Count >= few && n.pastDurations.Count >= minPastRequests && k.MedianSlow() && r != Describe
	// If several successes were expected and there was none, even one request that waits or fails shows a
	// fault.
	stalled := k.Succeeded == 0 && k.Seconds >= hangSeconds && n.expected >= minExpected
	// Clients that wait for responses send fewer requests.
	scarce := n.expected >= minExpected && 2*k.Ended() <= n.expected
	switch {
	case n.hangs && k.Seconds >= hangSeconds && !(1000*k.Seconds <= slowFactor*k.baseline()),
		k.InFlight > 0 && stalled && !(1000*k.Seconds <= verySlowFactor*k.baseline()+verySlowDiff):
		k.State = Hanging
	case bad >= minFailed && bad >= minFailedShare*k.Ended(), bad > 1 && bad == k.Ended(),
		bad > 0 && n.waiting > 0 && stalled:
		if k.State = Failing; k.Refused > k.Failed {
			k.State = Refused
		}
	case slow(few, slowFactor, slowDiff), half, slow(minRareRequests, verySlowFactor, verySlowDiff),
		scarce && slow(1, verySlowFactor, verySlowDiff), r != Describe && n.tail(&k):
		k.State = Slow
	case k.InFlight > 0, bad > 0 && bad >= unsureShare*k.Ended(), slow(1, verySlowFactor, verySlowDiff):
		k.State = Unsure
	case k.Ended() > 0:
		k.State = Fine
	default:
		k.State = Idle
	}
	k.Proxies = n.proxies
	return k
}

// setFlushState sets the state of flushes whose segments wait to be written. They hang if they wait for at least
// flushSeconds and clients have sent flushes. Otherwise they are unsure.
func (k *Kind) setFlushState(segments, seconds float64, requested bool) {
	if segments == 0 {
		return
	}
	k.State, k.Unwritten, k.Seconds, k.Succeeded = Unsure, segments, seconds, 0
	if seconds >= flushSeconds && requested {
		k.State = Hanging
	}
}

// MedianSlow reports whether the slower half of the requests takes at least slowFactor as long as the faster
// half did before, and the mean is more than slowDiff above PastMedian.
func (k *Kind) MedianSlow() bool {
	return k.Median >= slowFactor*k.PastMedian && k.Mean > k.PastMedian+slowDiff
}

// tail reports whether a larger share of the requests than before took far longer than the past 95th percentile,
// or than the past median.
func (n *requestCounts) tail(k *Kind) bool {
	longer := func(quantile, times, share float64) bool {
		_, usual, ok := n.pastDurations.Quantile(quantile)
		if !ok || n.pastDurations.Count < minPastRequests {
			return false
		}
		limit := max(times*usual, usual+slowDiff)
		now, in := countOver(n.durations, limit)
		before, _ := countOver(n.pastDurations, limit)
		if !in || now < minRareRequests || now < share*n.durations.Count ||
			now/n.durations.Count < slowFactor*before/n.pastDurations.Count {
			return false
		}
		k.Long, k.LongMs = now, limit
		return true
	}
	return longer(0.95, tailFactor, tailShare) || longer(0.5, medianTailFactor, medianTailShare)
}

// countOver returns the number of requests that took longer than the first bucket bound at or above a limit in
// milliseconds. ok is false if there is no such bound.
func countOver(h metrics.Histogram, limit float64) (count float64, ok bool) {
	i, _ := slices.BinarySearch(h.Bounds, limit)
	if i >= len(h.Bounds) || len(h.Buckets) == 0 {
		return 0, false
	}
	return h.Count - h.Buckets[i], true
}

func mean(h metrics.Histogram) float64 {
	if low, high, ok := h.Mean(); ok {
		return (low + high) / 2
	}
	return math.NaN()
}

func processes(c *model.Cluster) []*model.Process {
	if c.Runtime == nil {
		return nil
	}
	return c.Runtime.Processes
}

// roleIn returns the session of a process in a role.
func roleIn(p *model.Process, role string) (model.Ref, bool) {
	for _, ref := range p.Nodes {
		if strings.HasPrefix(ref.ID, role+"-") {
			return ref, true
		}
	}
	return model.Ref{}, false
}

// closedProxies returns the proxies of a cluster and the reason if none accepts connections. The reason is ""
// if one may.
func closedProxies(c *model.Cluster) (list []model.Ref, why string) {
	if c.Runtime == nil || c.Runtime.Unresponsive() || !c.Loaded.Has(model.PartSessions) {
		return nil, ""
	}
	for _, s := range c.Sessions {
		if s.Role != "proxy" {
			continue
		}
		if n := c.Runtime.LiveNode(s.Role, s.Node); n == nil || n.Outcome != model.Refused {
			return nil, ""
		}
		list = append(list, model.Ref{Resource: "nodes", ID: s.Name(), Name: s.Name()})
	}
	if list == nil {
		return nil, "no proxy is registered"
	}
	return list, "no proxy accepts connections"
}

func reported(c *model.Cluster, s *model.Session) bool {
	return slices.ContainsFunc(processes(c), func(p *model.Process) bool {
		return p.Metrics != nil && slices.ContainsFunc(p.Nodes, func(ref model.Ref) bool { return ref.ID == s.Name() })
	})
}

// unseen lists the reasons why requests may be missing from the counters.
func unseen(c *model.Cluster) []string {
	var list []string
	if len(c.Sessions) == 0 && c.Etcd.Unresponsive() {
		list = append(list, "etcd is not responding: the addresses of the proxies are unknown")
	}
	for _, s := range c.Sessions {
		if s.Role == "proxy" && !reported(c, s) {
			why := "its metrics are unknown"
			if n := c.Runtime.LiveNode(s.Role, s.Node); n != nil && n.Outcome != model.Answered {
				why = n.Outcome.With(n.Reason)
			}
			if c.Runtime != nil {
				for _, x := range c.Runtime.Skipped {
					if x.What == "metrics of "+s.Name() {
						why = strings.Replace(x.Reason, ": name the port", ": name it with --metrics-port", 1)
					}
				}
			}
			list = append(list, s.Name()+": "+why)
		}
	}
	return list
}
