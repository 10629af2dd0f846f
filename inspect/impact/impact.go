// Package impact counts what clients of a cluster feel: of each kind of request how many came, succeeded, failed, were refused or hang,
// and how long they took against their own past. It reads the counters and histograms of the proxies, of all releases, between two
// scrapes; for DDL, loads and flushes those of coordinators and data nodes too: proxies of 2.3 count a coordinator's error as a success,
// and a flush as soon as it is ordered.
package impact

import (
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// Request is a kind of request of a client.
type Request string

// The kinds of requests.
const (
	Search Request = "search"
	Query  Request = "query"
	Insert Request = "insert"
	Upsert Request = "upsert"
	Delete Request = "delete"
	Flush  Request = "flush"
	DDL    Request = "ddl" // create, drop, alter and rename of anything, indexes included
	Load   Request = "load"
	Import Request = "import"
	// Describe stands for reads of metadata: describe, show, has, list. Clients send them before other requests and
	// wait for them. Failures are part of normal work, as of an index that is not there.
	Describe Request = "describe"
)

// Requests returns all kinds, the most frequent first.
func Requests() []Request {
	return []Request{Search, Query, Insert, Upsert, Delete, Flush, DDL, Load, Import, Describe}
}

// State is how requests of a kind fare.
type State uint8

// The states, the worst last.
const (
	Unknown State = iota
	Idle          // none came, none is in flight
	Fine
	Unsure // some wait, failed or were slow, but too few to tell a fault from a wrong request
	Slow
	Refused
	Failing
	Hanging
)

func (s State) String() string {
	return [...]string{"unknown", "idle", "fine", "unsure", "slow", "refused", "failing", "hanging"}[min(s, Hanging)]
}

// Felt reports whether clients feel the state.
func (s State) Felt() bool { return s >= Slow }

// Thresholds of the states. Of captured healthy clusters no kind of request reaches them.
const (
	// manyFailed and failedShare: fewer failures may be of a single wrong request.
	manyFailed, failedShare = 3, 0.01
	// slowTimes is how many times its own past a mean has to be, and slowBy how many milliseconds above it.
	slowTimes, slowBy = 3, 50
	// farTimes and farBy are the same of a few requests: clients that wait send few.
	farTimes, farBy = 5, 200
	// describeBy is slowBy of metadata reads: proxies of 2.3 queue them behind DDL.
	describeBy = 500
	// tailShare is the part of requests, of at least fewRare, that took longer than slowTail times what nineteen of twenty took before.
	tailShare, slowTail = 0.1, 2
	// halfTailShare and halfTail are the same against what half of them took before, which incidents of the past do not change.
	halfTailShare, halfTail = 0.2, 8
	// unsureShare is the part of failures from which on a few are not taken for wrong requests.
	unsureShare = 0.05
	// fewExpected is how many requests have to be expected in the window, at the rate since the start of the proxies, before none of them
	// means that they stalled.
	fewExpected = 3
	// shutSeconds is for how long a proxy has to have counted no request.
	shutSeconds = 10
	// hangSeconds is the shortest window in which requests hang of which none ended: in a shorter one they may be on their way.
	hangSeconds = 4
	// flushSeconds is the same for flushes: a healthy one took 2.5 to 6.2 s.
	flushSeconds = 9
	// minPast is for how many seconds a proxy has to have counted for an average.
	minPast = 60
	// fewRequests is how many requests a mean has to be of in the window, fewRare of kinds that are rare, fewPast in the past.
	fewRequests, fewRare, fewPast = 10, 3, 50
)

// Impact is what clients feel. It is immutable.
type Impact struct {
	// Kinds has one entry for each kind of request, in the order of Requests.
	Kinds []Kind
	// From and To bound the time between the scrapes of the proxies; zero: unknown.
	From, To time.Time
	// Unseen lists, with the reason, what may hide requests: proxies without metrics, requests refused before they are counted.
	Unseen []string
}

// Kind is what clients feel of one kind of request, over all proxies.
type Kind struct {
	Request Request
	State   State
	// Why is the reason of an unknown state, or of one that the counters of the proxies do not show.
	Why string
	// Came is the number of requests that came in the window, Succeeded, Failed and Refused of those that ended in it.
	Came, Succeeded, Failed, Refused float64
	// Usual is the number that succeeds in such a time on average since each proxy started, at least a minute ago; NaN: unknown.
	Usual float64
	// InFlight is the number of requests that were in flight at both scrapes of a proxy at which none ended between them.
	InFlight float64
	// Unwritten is the number of sealed segments that wait to be written, if no flush of the node that writes them ended.
	Unwritten float64
	// Seconds is the length of the window, the shortest of those of the proxies; 0: unknown.
	Seconds float64
	// Mean and Past are the mean times of a request that succeeded, in milliseconds, in the window and before it; NaN: unknown.
	Mean, Past float64
	// Half is the time that half of the requests took at least in the window, HalfPast the time that half took at most before it, both bounds
	// of buckets, in milliseconds; NaN: unknown. A mean since the start has the incidents of the past in it, which HalfPast has not.
	Half, HalfPast float64
	// P99 is the upper bound of the bucket of the 99th percentile in the window, in milliseconds; NaN: unknown.
	P99 float64
	// UserFault is the number of failures and refusals that releases since 2.6.20 ascribe to the client, and of all failures of metadata reads.
	UserFault float64
	// Proxies are the proxies at which requests failed, were refused or hang, by id; nil where the state is not felt.
	Proxies []model.Ref
}

// Ended is the number of requests that ended in the window.
func (k *Kind) Ended() float64 { return k.Succeeded + k.Failed + k.Refused }

// Few reports whether most of the requests that ended succeeded, although some failed.
func (k *Kind) Few() bool {
	const fewFail = 0.05
	return k.State != Hanging && k.Why == "" && k.Failed+k.Refused < fewFail*k.Ended()
}

// Doubtful reports whether a longer look may show more.
func (k *Kind) Doubtful() bool { return k.State == Unsure }

// Felt returns the kinds that clients feel, the worst state first.
func (x *Impact) Felt() []*Kind {
	if x == nil {
		return nil
	}
	var list []*Kind
	for i := range x.Kinds {
		if x.Kinds[i].State.Felt() {
			list = append(list, &x.Kinds[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Kind) int { return int(b.State) - int(a.State) })
	return list
}

// Doubtful reports whether a longer look may show more of any kind.
func (x *Impact) Doubtful() bool {
	return x != nil && slices.ContainsFunc(x.Kinds, func(k Kind) bool { return k.Doubtful() })
}

// Kind returns the entry of a kind of request, nil if there is none.
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

// kindOf returns the kind of request that a function_name of a proxy or coordinator belongs to, "" if it is of none.
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

// tally is what one process counted of one kind of request.
type tally struct {
	came, succeeded, failed, refused, user float64
	// before and now are the requests in flight at either scrape: total minus all that ended.
	before, now float64
	// past is the number of requests that succeeded before the window.
	past float64
}

func (t *tally) ended() float64 { return t.succeeded + t.failed + t.refused }

// add counts n requests of a status (pkg/metrics: SuccessLabel, FailLabel, ...; 2.6.20 has fail_input, fail_system, rejected_user, ...).
func (t *tally) add(status, cause string, n float64) {
	switch {
	case status == "total":
		t.came += n
	case status == "success":
		t.succeeded += n
	case strings.HasPrefix(status, "rejected"), status == "retry":
		if t.refused += n; status == "rejected_user" {
			t.user += n
		}
	default: // fail, abandon, cancel: clients give up that have waited in vain
		t.failed += n
		if cause == "user" || status == "fail_input" {
			t.user += n
		}
	}
}

// tallies counts the requests of a process by kind, and those of all times.
func tallies(w *metrics.Window, past *metrics.Window, name metrics.Name, kind func([]model.Pair) Request) map[Request]*tally {
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
	sign := func(labels []model.Pair, n float64) float64 {
		if label(labels, "status") == "total" {
			return n
		}
		return -n
	}
	w.EachCounter(name, func(labels []model.Pair, came float64) {
		if t := of(labels); t != nil {
			t.add(label(labels, "status"), label(labels, "cause"), came)
		}
	})
	metrics.NewWindow(nil, w.Scrape()).EachCounter(name, func(labels []model.Pair, sum float64) {
		if t := of(labels); t != nil {
			t.now += sign(labels, sum)
		}
	})
	past.EachCounter(name, func(labels []model.Pair, sum float64) {
		if t := of(labels); t != nil {
			t.before += sign(labels, sum)
			if label(labels, "status") == "success" {
				t.past += sum
			}
		}
	})
	return all
}

func label(labels []model.Pair, key string) string { return model.Series{Labels: labels}.Label(key) }

func byFunction(labels []model.Pair) Request { return kindOf(label(labels, "function_name")) }

// always returns a function that is of one kind of request whatever the labels are.
func always(r Request) func([]model.Pair) Request { return func([]model.Pair) Request { return r } }

// Of counts what clients of a cluster feel. A cluster whose processes were not asked has only unknown kinds.
func Of(c *model.Cluster) *Impact {
	n := counts{
		of: map[Request]*counted{}, none: "no proxy reported its metrics", answered: answers{}, written: flushes{of: map[string]written{}},
		unseen: unseen(c), seconds: math.Inf(1),
	}
	for _, r := range Requests() {
		n.of[r] = &counted{}
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
	x.corroborate()
	for i := range x.Kinds {
		k := &x.Kinds[i]
		if k.Request == Flush && k.State < Slow && k.State != Unknown {
			segments, seconds := n.written.waiting(c)
			k.flushing(segments, seconds, n.of[Flush].sum.came+n.of[Flush].sum.past > 0)
		}
		if why != "" && succeeded == 0 { // else they refuse connections from here only
			k.State, k.Why, k.Proxies = Failing, why, closed
		}
		if !k.State.Felt() {
			k.Proxies = nil
		}
	}
	return x
}

// counts is what all processes counted.
type counts struct {
	of       map[Request]*counted
	from, to time.Time
	// seconds is the length of the shortest window of a proxy.
	seconds float64
	// proxies is the number of proxies that counted requests between two scrapes, none the reason if there is none.
	proxies int
	none    string
	// shut is a proxy that has counted no request for a while.
	shut     model.Ref
	answered answers
	written  flushes
	unseen   []string
}

// add adds what one process counted.
func (n *counts) add(p *model.Process, w *metrics.Window) {
	var past *metrics.Window
	if p.Before != nil {
		past = metrics.NewWindow(nil, p.Before)
	}
	n.answered.add(p, w, past)
	n.written.add(p, w)
	if !w.SinceStart {
		coordinators(n.of, w, past)
	}
	ref, is := roleIn(p, "proxy")
	switch {
	case !is:
		return
	case w.Missing(metrics.ProxyRequests) != "":
		if metrics.NewWindow(nil, p.Metrics).Seconds() >= shutSeconds {
			n.shut = ref
		}
		n.none = ref.Name + " has counted no request since it started: none came, or it refused them first, as without a login"
		return
	}
	if w.SinceStart {
		n.none, n.unseen = "no proxy was read twice", append(n.unseen, ref.Name+": counted "+w.Why)
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
		n.of[r].proxy(ref, t, w, past)
	}
	for _, r := range Requests() {
		n.of[r].time(w, past, r)
	}
	refusedBefore(n.of, ref, w)
}

// kind judges a kind of request.
func (n *counts) kind(r Request) Kind {
	seconds := n.seconds
	if n.proxies == 0 {
		seconds = 0
	}
	k := n.of[r].kind(r, seconds)
	switch {
	case n.proxies == 0 && n.shut.ID != "" && n.answered.stopped(r):
		k.State, k.Proxies = Refused, []model.Ref{n.shut}
		k.Why = "none has passed " + n.shut.Name + " since it started, and query nodes answered some before"
	case n.proxies == 0:
		k.State, k.Why = Unknown, strings.Join(append([]string{n.none}, n.unseen...), "; ")
	case k.State == Idle && len(n.unseen) > 0:
		k.State, k.Why = Unknown, n.unseen[0]
	}
	return k
}

// corroborate makes a state of few requests of a kind that fail, wait or are slow, where those of another kind do the same.
func (x *Impact) corroborate() {
	worst := Idle
	for i := range x.Kinds {
		worst = max(worst, x.Kinds[i].State)
	}
	if worst < Slow {
		return
	}
	for i := range x.Kinds {
		k := &x.Kinds[i]
		by := float64(slowBy)
		if k.Request == Describe {
			by = describeBy
		}
		far := farTimes*k.Past + farBy
		switch {
		case k.State != Unsure && k.State != Fine:
		case k.InFlight > 0 && (1000*k.Seconds > far || math.IsNaN(k.Past) && worst >= Failing && k.Seconds >= hangSeconds):
			k.State = Hanging
		case k.State == Unsure && worst >= Failing && k.Failed > 0 && 2*k.Failed >= k.Ended():
			k.State = Failing
		case k.Succeeded > 1 && k.Mean > max(slowTimes*k.Past, k.Past+by), k.Succeeded > 1 && k.HalfSlow() && k.Mean > k.HalfPast+by, k.Mean > far:
			k.State = Slow
		}
	}
}

// coordinators counts the requests that a coordinator or data node has counted, where the process is one.
func coordinators(counts map[Request]*counted, w, past *metrics.Window) {
	for name, kind := range map[metrics.Name]func([]model.Pair) Request{
		metrics.DDLRequests:   byFunction,
		metrics.Flushes:       always(Flush),
		metrics.LoadRequests:  always(Load),
		metrics.IndexRequests: always(DDL),
	} {
		for r, t := range tallies(w, past, name, kind) {
			counts[r].coordinator(r, t)
		}
	}
}

// answers are searches and queries that the leaders of shards answered: in the window, and before it in such a time.
type answers map[Request]*[2]float64

func (a answers) add(p *model.Process, w, past *metrics.Window) {
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

// stopped reports whether leaders answer none any more of a kind of request of which they answered several in such a time.
func (a answers) stopped(r Request) bool {
	return a[r] != nil && a[r][0] == 0 && a[r][1] >= fewExpected
}

// counted is what all processes counted of one kind of request.
type counted struct {
	sum, coord tally
	inFlight   float64
	// hangs: more are in flight at one process than one that may have been lost.
	hangs bool
	// waiting is the number of requests in flight, expected the number that would have succeeded at the rate of the past.
	waiting, expected float64
	// young: a proxy started too short a while ago for an average.
	young             bool
	proxies           []model.Ref
	inWindow, earlier metrics.Histogram
}

func (n *counted) proxy(ref model.Ref, t *tally, w, past *metrics.Window) {
	n.sum.came, n.sum.succeeded, n.sum.failed = n.sum.came+t.came, n.sum.succeeded+t.succeeded, n.sum.failed+t.failed
	n.sum.refused, n.sum.user = n.sum.refused+t.refused, n.sum.user+t.user
	stuck := 0.0
	if t.ended() == 0 && !w.SinceStart {
		stuck = max(0, min(t.now, t.before+t.came))
	}
	n.inFlight, n.waiting, n.sum.past = n.inFlight+stuck, n.waiting+max(0, t.now), n.sum.past+t.past
	n.hangs = n.hangs || hangs(stuck, t.came)
	if seconds := past.Seconds(); seconds > 0 && !w.SinceStart {
		n.expected += t.past / seconds * w.Seconds()
		n.young = n.young || seconds < minPast
	}
	if stuck+t.failed+t.refused > 0 {
		n.proxies = append(n.proxies, ref)
	}
}

// coordinator adds what a coordinator or data node counted: errors that it answered, of which its callers may not know, and flushes.
func (n *counted) coordinator(r Request, t *tally) {
	n.coord.failed += t.failed
	if r == Flush && t.ended() == 0 { // of others not all ends are counted, such as of a load with refresh and of a DropRole that fails
		stuck := min(t.before, t.now)
		n.inFlight, n.hangs = max(n.inFlight, stuck), n.hangs || hangs(stuck, t.came)
	}
}

// hangs reports whether requests in flight of which none ended are more than one whose end was never counted.
func hangs(inFlight, came float64) bool { return inFlight > 1 || inFlight > 0 && came > 0 }

// time adds how long requests took that succeeded, in the window and before it.
func (n *counted) time(w, past *metrics.Window, r Request) {
	name, match := metrics.ProxyRequest, func(labels []model.Pair) bool { return byFunction(labels) == r }
	switch r {
	case Search, Query:
		name, match = metrics.ProxySearch, func(labels []model.Pair) bool {
			kind := label(labels, "query_type")
			return (kind == "query") == (r == Query)
		}
	case Insert, Upsert, Delete:
		name, match = metrics.ProxyMutation, func(labels []model.Pair) bool { return label(labels, "msg_type") == string(r) }
	default: // the histogram of all calls
	}
	w.Each(name, func(labels []model.Pair, h metrics.Histogram) {
		if match(labels) {
			n.inWindow = n.inWindow.Plus(h)
		}
	})
	past.Each(name, func(labels []model.Pair, h metrics.Histogram) {
		if match(labels) {
			n.earlier = n.earlier.Plus(h)
		}
	})
}

// refusedBefore adds what a rate limiter refused before a request was counted (2.4 and later).
func refusedBefore(counts map[Request]*counted, ref model.Ref, w *metrics.Window) {
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

// kind judges what was counted.
func (n *counted) kind(r Request, seconds float64) Kind {
	t := n.sum
	if extra := n.coord.failed - t.failed; extra > 0 { // the proxy counted them as successes
		t.failed += extra
		t.succeeded = max(0, t.succeeded-extra)
	}
	if r == Describe {
		t.user = t.failed
	}
	k := Kind{
		Request: r, Came: t.came, Succeeded: t.succeeded, Failed: t.failed, Refused: t.refused, UserFault: t.user,
		InFlight: n.inFlight, Usual: n.expected, Seconds: max(0, seconds), Mean: mean(n.inWindow), Past: mean(n.earlier), P99: math.NaN(),
		Half: math.NaN(), HalfPast: math.NaN(),
	}
	if low, _, ok := n.inWindow.Quantile(0.5); ok {
		k.Half = low
	}
	if _, high, ok := n.earlier.Quantile(0.5); ok {
		k.HalfPast = high
	}
	if n.young || seconds == 0 {
		k.Usual = math.NaN()
	}
	if _, high, ok := n.inWindow.Quantile(0.99); ok {
		k.P99 = high
	}
	bad := k.Failed + k.Refused - k.UserFault
	few := float64(fewRequests)
	if r == Flush || r == DDL || r == Load || r == Import {
		few = fewRare
	}
	slow := func(least, times, by float64) bool {
		if r == Describe {
			by = describeBy
		}
		return n.inWindow.Count >= least && n.earlier.Count >= fewPast && k.Mean > times*k.Past && k.Mean > k.Past+by
	}
	half := n.inWindow.Count >= few && n.earlier.Count >= fewPast && k.HalfSlow() && r != Describe
	// One that waits or fails is a fault where none of many others succeeds, too.
	stalled := k.Succeeded == 0 && k.Seconds >= hangSeconds && n.expected >= fewExpected
	// Clients that wait for answers send less.
	scarce := n.expected >= fewExpected && 2*k.Ended() <= n.expected
	switch {
	case n.hangs && k.Seconds >= hangSeconds && !(1000*k.Seconds <= slowTimes*k.Past), k.InFlight > 0 && stalled && 1000*k.Seconds > farTimes*k.Past+farBy:
		k.State = Hanging
	case bad >= manyFailed && bad >= failedShare*k.Ended(), bad > 1 && bad == k.Ended(), bad > 0 && n.waiting > 0 && stalled:
		if k.State = Failing; k.Refused > k.Failed {
			k.State = Refused
		}
	case slow(few, slowTimes, slowBy), half, slow(fewRare, farTimes, farBy), scarce && slow(1, farTimes, farBy), r != Describe && n.tail():
		k.State = Slow
	case k.InFlight > 0, bad > 0 && bad >= unsureShare*k.Ended(), slow(1, farTimes, farBy):
		k.State = Unsure
	case k.Ended() > 0:
		k.State = Fine
	default:
		k.State = Idle
	}
	k.Proxies = n.proxies
	return k
}

// flushing takes segments that wait to be written for flushes that hang, if they wait long enough and clients have asked for flushes.
func (k *Kind) flushing(segments, seconds float64, asked bool) {
	if segments == 0 {
		return
	}
	k.State, k.Unwritten, k.Seconds, k.Succeeded = Unsure, segments, seconds, 0
	if seconds >= flushSeconds && asked {
		k.State = Hanging
	}
}

// HalfSlow reports whether half of the requests take slowTimes as long as the faster half did before, and slowBy more in the mean.
func (k *Kind) HalfSlow() bool { return k.Half >= slowTimes*k.HalfPast && k.Mean > k.HalfPast+slowBy }

// tail reports whether many more requests than before took long: far longer than nineteen of twenty, or than the faster half.
func (n *counted) tail() bool {
	longer := func(quantile, times, share float64) bool {
		_, usual, ok := n.earlier.Quantile(quantile)
		if !ok || n.earlier.Count < fewPast {
			return false
		}
		limit := max(times*usual, usual+slowBy)
		now, in := over(n.inWindow, limit)
		before, _ := over(n.earlier, limit)
		return in && now >= fewRare && now >= share*n.inWindow.Count && now/n.inWindow.Count >= slowTimes*before/n.earlier.Count
	}
	return longer(0.95, slowTail, tailShare) || longer(0.5, halfTail, halfTailShare)
}

// over returns how many requests took longer than a limit, by the first bound that reaches it; ok is false if there is none.
func over(h metrics.Histogram, limit float64) (count float64, ok bool) {
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

// closedProxies returns the proxies of a cluster in which none accepts connections, and that in words; "" if one may.
func closedProxies(c *model.Cluster) (list []model.Ref, why string) {
	if c.Runtime == nil || c.Runtime.Silent() || !c.Loaded.Has(model.PartSessions) {
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

// unseen lists what may hide requests from the counters.
func unseen(c *model.Cluster) []string {
	var list []string
	if len(c.Sessions) == 0 && c.Etcd.Silent() {
		list = append(list, "etcd does not answer, and holds the addresses of the proxies")
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
