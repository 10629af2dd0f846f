package place

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// operation is a counter of operations by result.
type operation struct {
	name  metrics.Name
	match model.Pair // the zero value matches all series
	// component is the component that the operations depend on, or "" for the process that counts them.
	component Kind
	label     string
	// countedAtStart is true if the total is counted before the operation. The operations in flight are then the total
	// minus all that ended. usesCPU is true if the operation uses CPU all the time. One in flight in a process
	// that uses hardly any CPU is then stuck.
	countedAtStart, usesCPU bool
	strength                Strength
}

// operations returns the counters to read, for all releases.
func operations() []operation {
	return []operation{
		{metrics.QueueOperations, pair("message_op_type", "produce"), Queue, "produce", true, false, Strong},
		{metrics.WALAppends, model.Pair{}, Queue, "appends to the WAL", false, false, Medium},
		{metrics.WALProduces, model.Pair{}, streaming, "appends", false, false, Medium},
		{metrics.MetaOperations, model.Pair{}, Etcd, "requests to etcd", false, false, Strong},
		{metrics.Flushes, model.Pair{}, "", "flushes", true, false, Medium},
		{metrics.IndexTasks, model.Pair{}, "", "index builds", true, true, Medium},
		{metrics.LoadRequests, model.Pair{}, "", "loads", true, false, Medium},
		{metrics.IndexRequests, model.Pair{}, "", "index requests", true, false, Medium},
		{metrics.NodeRequests, pair("scope", "FromLeader"), "", "searches as a worker", true, true, Medium},
		{metrics.NodeRequests, pair("scope", "OnLeader"), "", "searches as shard leader", true, false, Weak},
	}
}

func pair(key, value string) model.Pair { return model.Pair{Key: key, Value: value} }

// resultCounts holds the numbers of operations by result. before and now are the operations in flight at the first
// and the second scrape.
type resultCounts struct{ total, succeeded, failed, before, now float64 }

// countResults counts the operations of a process in its window by result.
func (p *part) countResults(o operation) (e resultCounts) {
	each := func(w *metrics.Window, visit func(status string, n float64)) {
		w.EachCounter(o.name, func(labels []model.Pair, n float64) {
			s := model.Series{Labels: labels}
			if o.match.Key == "" || s.Label(o.match.Key) == o.match.Value {
				visit(s.Label("status"), n)
			}
		})
	}
	flying := func(sum *float64) func(string, float64) {
		return func(status string, n float64) {
			if status != "total" {
				n = -n
			}
			*sum += n
		}
	}
	each(p.window, func(status string, n float64) {
		switch {
		case status == "total":
			e.total += n
		case status == "success", status == "ok":
			e.succeeded += n
		case strings.HasPrefix(status, "fail"), status == "error":
			e.failed += n
		}
	})
	if o.countedAtStart {
		each(p.past, flying(&e.before))
		each(metrics.NewWindow(nil, p.window.Scrape()), flying(&e.now))
	}
	return e
}

// failsElsewhere reports whether operations also fail in at least half of the other processes of the kind that have
// any. Then no single process is at fault.
func (l *analysis) failsElsewhere(p *part, o operation) bool {
	fail, others := 0, 0
	for _, x := range l.role[p.Component.Kind] {
		if x == p || x.window == nil || x.window.SinceStart {
			continue
		}
		if e := x.countResults(o); e.succeeded+e.failed > 0 {
			others++
			if e.failed >= minFailedShare*(e.succeeded+e.failed) {
				fail++
			}
		}
	}
	return others > 0 && 2*fail >= others
}

// queueBlocks reports whether the queue keeps messages of a process waiting. Either more of them wait than ended in
// the window, or at least minInFlightRatio as many as Little's law predicts from their rate and mean duration. The
// latter shows a single topic that refuses messages.
func (p *part) queueBlocks(e *resultCounts) bool {
	if e.succeeded+e.failed < min(e.now, e.before+e.total) {
		return true
	}
	h, _ := p.window.Histogram(metrics.QueueRequest, pair("message_op_type", "produce"))
	mean, _, ok := h.Mean()
	return ok && min(e.before, e.now) >= max(minFailed, minInFlightRatio*h.Count/p.window.Seconds()*mean/1000)
}

// operations judges a process and its dependencies by its counters of operations between two scrapes.
func (l *analysis) operations(p *part) {
	if p.window == nil || p.window.SinceStart {
		return
	}
	cores, _, known := p.cores()
	idle := known && cores < littleCPU && !p.justStarted
	for _, o := range operations() {
		if p.window.Missing(o.name) != "" {
			continue
		}
		// 2.2 does not count the end of a build that was assigned twice.
		if o.name == metrics.IndexTasks && l.architecture == withIndexCoord {
			o.countedAtStart, o.usesCPU = false, false
		}
		e := p.countResults(o)
		seen := Evidence{Strength: o.strength, Source: p.Component.Name}
		done := e.succeeded + e.failed
		stuck := math.Floor(min(e.now, e.before+e.total))
		// Some ends are not counted, e.g. a load with refresh. So only operations that came in the window
		// count.
		if o.component == "" {
			stuck = min(stuck, e.total)
		}
		in := " in " + seconds(p.window)
		switch {
		case e.failed >= minFailed && e.failed >= minFailedShare*done, e.failed > 1 && e.failed == done:
			seen.State, seen.Failed = Failing, e.failed
			if o.component == Queue || o.component == Etcd {
				seen.State = Refusing
			}
			seen.Text = fmt.Sprintf("%s: %s of %s failed%s from %s", o.label, count(e.failed), count(done), in,
				p.Component.Name)
			if o.component == "" && l.failsElsewhere(p, o) {
				seen.Strength = Weak
				seen.Text += ", as on other nodes: the requests may be invalid"
			}
		case o.usesCPU && done == 0 && min(e.before, e.now) >= 1 && idle:
			seen.State, seen.Strength = Hanging, Strong
			seen.Text = fmt.Sprintf("%s: %s in progress, none ended%s, using %.2f cores", o.label, count(stuck), in,
				cores)
		case stuck >= minHanging && (o.countedAtStart && done == 0 || o.component == Queue && p.queueBlocks(&e)):
			seen.State = Hanging
			seen.Text = fmt.Sprintf("%s: %s from %s waiting, %s ended%s", o.label, count(stuck), p.Component.Name,
				orNone(done), in)
		case e.succeeded > 0 && e.failed == 0:
			seen.State, seen.Strength = Fine, Weak
			seen.Text = fmt.Sprintf("%s: %s succeeded%s from %s", o.label, count(e.succeeded), in, p.Component.Name)
		default:
			continue
		}
		if o.component == "" {
			seen.Source = ""
			p.Evidence = append(p.Evidence, seen)
			continue
		}
		l.addEvidenceTo(o.component, seen)
	}
	l.storageOperations(p)
}

// storageOperations judges the object storage by the counters of a process.
func (l *analysis) storageOperations(p *part) {
	for _, o := range p.process.Metrics.StorageOpsSince(p.process.Before) {
		if o.Failed >= minFailed && o.Share() >= minFailedShare {
			l.addEvidenceTo(Storage, Evidence{
				State: Failing, Strength: Strong, Source: p.Component.Name, Failed: o.Failed,
				Text: fmt.Sprintf("%s: %s of %s failed in %s from %s", o.Op, count(o.Failed), count(o.Failed+o.Done),
					seconds(p.window), p.Component.Name),
			})
		}
	}
}

// callLatency is a histogram of the latency of calls to a component, measured by its callers.
type callLatency struct {
	name metrics.Name
	// match selects series. nil selects all.
	match     func(model.Series) bool
	component Kind
	label     string
	// floor is the minimum mean of slow calls in milliseconds.
	floor float64
	// requests are the kinds of requests that need one call each.
	requests []impact.Request
}

// callLatencies returns the histograms to read. Healthy means in a 2.3.5 lab under load: timestamps 0.8 ms,
// GetShards 1.7 ms, produce 7 to 40 ms, etcd 1 to 17 ms.
func callLatencies() []callLatency {
	produce := func(s model.Series) bool { return s.Label("message_op_type") == "produce" }
	files := func(s model.Series) bool {
		return s.Label("persistent_data_op_type") != "walk" && s.Label("persistent_data_op_type") != "list"
	}
	writes := []impact.Request{impact.Insert, impact.Upsert}
	return []callLatency{
		{
			metrics.ProxyTimestamp, nil, rootCoord, "timestamps", 100,
			[]impact.Request{impact.Search, impact.Query, impact.Insert, impact.Upsert, impact.Delete},
		},
		{
			metrics.ProxyCacheUpdate,
			func(s model.Series) bool { return !isShardLeader(s) && s.Label("cache_name") != "" },
			rootCoord, "schema lookups", 100, nil,
		},
		{metrics.ProxyCacheUpdate, isShardLeader, queryCoord, "shard leader lookups", 100, nil},
		{metrics.ProxyAllocateIDs, nil, rootCoord, "row ids", 100, writes},
		{metrics.ProxyAssignSegments, nil, dataCoord, "segments for inserts", 100, writes},
		{metrics.QueueRequest, produce, Queue, "produce", 100, nil},
		{metrics.WALProduce, nil, streaming, "appends", 100, nil},
		{metrics.WALWrite, nil, Queue, "WAL appends", 100, nil},
		{metrics.MetaRequest, nil, Etcd, "requests to etcd", 500, nil},
		{metrics.StorageRequest, files, Storage, "storage requests", 500, nil},
		{metrics.CoreStorageRequest, files, Storage, "storage requests", 500, nil},
	}
}

// judgeNoResponse judges a component that answered no call of a proxy in the window. It adds evidence only if at least
// minOps calls were expected at the past rate, and if requests that need the calls came but none succeeded.
func (l *analysis) judgeNoResponse(t *callLatency, p *part, past metrics.Histogram) {
	was := p.past.Seconds()
	if was == 0 || p.Component.Kind != proxy || past.Count/was*p.window.Seconds() < minOps ||
		!slices.ContainsFunc(t.requests, l.stalled) {
		return
	}
	text := fmt.Sprintf("%s got no %s in %s", p.Component.Name, t.label, seconds(p.window))
	l.addEvidenceTo(t.component, Evidence{
		State: Hanging, Strength: Medium, Source: p.Component.Name, Text: text + l.reachableClause(t.component),
	})
}

// stalled reports whether requests of a kind came and none succeeded.
func (l *analysis) stalled(r impact.Request) bool {
	k := l.impact.Kind(r)
	return k != nil && k.State.AffectsClients() && k.Received > 0 && k.Succeeded == 0
}

// reachableClause returns a clause for messages if all components of a kind answer kitescope, because then the
// network between them and their callers may be at fault. Otherwise it returns "".
func (l *analysis) reachableClause(k Kind) string {
	for _, p := range l.components(k) {
		if !slices.ContainsFunc(p.Evidence, func(e Evidence) bool { return e.State == Fine && e.Strength == Medium }) {
			return ""
		}
	}
	return ", but it responds to kitescope: check the network between them"
}

// leaders judges QueryCoord by proxies that look up shard leaders and get none.
func (l *analysis) leaders() {
	for _, p := range l.role[proxy] {
		if p.window == nil || p.window.SinceStart {
			continue
		}
		misses, found := 0.0, 0.0
		p.window.EachCounter(metrics.ProxyCache, func(labels []model.Pair, n float64) {
			if s := (model.Series{Labels: labels}); isShardLeader(s) && s.Label("cache_state") == "miss" {
				misses += n
			}
		})
		p.window.Each(metrics.ProxyCacheUpdate, func(labels []model.Pair, h metrics.Histogram) {
			if isShardLeader(model.Series{Labels: labels}) {
				found += h.Count
			}
		})
		if misses > 0 && found == 0 && (l.stalled(impact.Search) || l.stalled(impact.Query)) {
			l.addEvidenceTo(queryCoord, Evidence{
				State: Failing, Strength: Medium, Source: p.Component.Name,
				Text: fmt.Sprintf("%s looked up shard leaders and got none in %s", p.Component.Name,
					seconds(p.window)) + l.reachableClause(queryCoord),
			})
		}
	}
}

// gapFloor is the minimum time in milliseconds that requests wait at a proxy in addition to the time that shard
// leaders take. In a healthy cluster under load it was 2 to 20.
const gapFloor = 50

// gaps judges proxies at which slow searches or queries take far longer than at the shard leaders, and did not before.
func (l *analysis) gaps() {
	for _, r := range []impact.Request{impact.Search, impact.Query} {
		if k := l.impact.Kind(r); k == nil || k.State != impact.Slow {
			continue
		}
		kind, led := pair("query_type", string(r)), pair("scope", "OnLeader")
		now, before := 0.0, 0.0 // of the slowest leader
		for _, p := range slices.Concat(l.components(queryNode), l.components(streaming)) {
			if p.window == nil || p.window.SinceStart { // it may be the slowest
				return
			}
			now, before = max(now, meanOf(p.window, metrics.NodeRequest, kind, led)),
				max(before, meanOf(p.past, metrics.NodeRequest, kind, led))
		}
		for _, p := range l.role[proxy] {
			if p.window == nil || p.window.SinceStart || now == 0 {
				continue
			}
			gap, was := meanOf(p.window, metrics.ProxyTask, kind)-now, meanOf(p.past, metrics.ProxyTask, kind)-before
			if gap >= max(gapFloor, now, 2*was) {
				why := "the network between them may be slow"
				if r == impact.Search {
					why += ", or a second query fetches output fields"
				}
				p.addEvidence(Slow, Weak,
					fmt.Sprintf("its %s take %s longer than at shard leaders, %s: %s", r.Plural(), milliseconds(gap),
						milliseconds(now), why))
			}
		}
	}
}

// usesNanoseconds reports whether a proxy measures its waits for row ids in nanoseconds, as some releases do: then they
// seem to take longer than the requests that wait for them.
func (p *part) usesNanoseconds(mean float64) bool {
	whole := meanOf(p.window, metrics.ProxyMutation)
	return whole > 0 && mean > whole
}

// meanOf returns the mean of a histogram in milliseconds, 0 if it has no observations.
func meanOf(w *metrics.Window, name metrics.Name, match ...model.Pair) float64 {
	h, _ := w.Histogram(name, match...)
	low, _, _ := h.Mean()
	return low
}

// isShardLeader reports whether a series of a proxy's cache is about shard leaders.
func isShardLeader(s model.Series) bool { return strings.HasPrefix(s.Label("cache_name"), "GetShard") }

// judgeCallLatencies judges components by the latency of calls to them, measured by their callers, compared with the
// past. If fewer callers find a component slow than quick, the evidence against it is weak, and the slow
// callers get weak evidence too.
func (l *analysis) judgeCallLatencies() {
	for _, t := range callLatencies() {
		var slow []*part
		var texts []string
		quick, ended := 0, 0.0
		for _, p := range l.parts {
			if t.component == Etcd && p.window != nil && !p.window.SinceStart && p.window.Missing(t.name) == "" {
				ended += t.sum(p.window).Count // a slow etcd answers few calls, so count them over all processes
			}
		}
		for _, p := range l.parts {
			if p.window == nil || p.window.SinceStart || p.window.Missing(t.name) != "" {
				continue
			}
			now, past := t.sum(p.window), t.sum(p.past)
			mean, _, ok := now.Mean()
			if now.Count == 0 {
				l.judgeNoResponse(&t, p, past)
			}
			if !ok || max(now.Count, ended) < minOps || t.name == metrics.ProxyAllocateIDs && p.usesNanoseconds(mean) {
				continue
			}
			was, _, known := past.Mean()
			known = known && past.Count >= minPastOps
			if mean < t.floor || known && mean < minSlowRatio*was || !known && mean < 5*t.floor {
				quick++
				continue
			}
			text := fmt.Sprintf("%s of %s take %s", t.label, p.Component.Name, milliseconds(mean))
			if known {
				text += ", " + milliseconds(was) + " before"
			}
			slow, texts = append(slow, p), append(texts, text)
		}
		for i, p := range slow {
			e := Evidence{State: Slow, Strength: Medium, Text: texts[i], Source: p.Component.Name}
			switch {
			case len(slow) < quick:
				e.Strength = Weak
				p.addEvidence(Slow, Weak, texts[i]+", those from others less")
			case l.overloadedHost(p) != nil: // the caller may be late itself
				e.Strength = Weak
			}
			l.addEvidenceTo(t.component, e)
		}
		if len(slow) == 0 && quick > 0 {
			l.addEvidenceTo(t.component, Evidence{
				State: Fine, Strength: Weak, Text: t.label + " are as quick as before",
			})
		}
	}
}

// sum adds up the matching series of a window.
func (t *callLatency) sum(w *metrics.Window) (sum metrics.Histogram) {
	w.Each(t.name, func(labels []model.Pair, h metrics.Histogram) {
		if t.match == nil || t.match(model.Series{Labels: labels}) {
			sum = sum.Plus(h)
		}
	})
	return sum
}

// Thresholds of the lags of consumers and time ticks.
const (
	// minLagGrowth is the minimum growth of a lag in seconds per second if the queue is stalled, and minLagMillis the
	// minimum lag in milliseconds.
	minLagGrowth, minLagMillis = 0.8, 5000
	// minStallSeconds is the minimum window in seconds in which an unchanged lag shows a stall. Each time tick
	// changes it, five per second.
	minStallSeconds = 2
	// behindOthers is the minimum lag behind the newest consumer or the current time. Healthy consumers lag
	// by 0.2 s, by 0.4 s under load.
	behindOthers = 3 * time.Second
)

// readers judges query and data nodes by the positions in the queue that they report, compared with the
// newest one.
func (l *analysis) readers() {
	type reader struct {
		part *part
		of   *model.QuotaMetrics
	}
	var list []reader
	var newest time.Time
	for _, p := range l.parts {
		for _, n := range p.nodes {
			if n.Role == string(streaming) || n.System == nil || n.System.Quota == nil ||
				n.System.Quota.SlowestAt.Time().IsZero() {
				continue
			}
			q := n.System.Quota
			if n.Distribution != nil &&
				!slices.ContainsFunc(n.Distribution.Channels, func(c model.ServedChannel) bool {
					return c.Name == q.SlowestChannel
				}) {
				continue // its collection is being loaded or was released
			}
			if l.c.DroppedChannel(q.SlowestChannel) { // no request needs it
				continue
			}
			list = append(list, reader{p, q})
			if at := q.SlowestAt.Time(); at.After(newest) {
				newest = at
			}
		}
	}
	ticks := map[string]time.Duration{} // maximum lag of time ticks by channel
	for _, p := range l.parts {
		p.tickLags(metrics.ProxyTickLag, ticks)
		p.tickLags(metrics.RootTickLag, ticks)
	}
	for _, r := range list {
		channel := r.of.SlowestChannel
		pchannel := channel[:max(0, strings.LastIndexByte(channel, '_'))]
		if late := newest.Sub(r.of.SlowestAt.Time()); late >= behindOthers &&
			late > 2*max(ticks[channel], ticks[pchannel]) {
			state := Slow
			if late >= minLagMillis*time.Millisecond {
				state = Hanging
			}
			r.part.addEvidence(state, Medium, fmt.Sprintf(
				"on %s it is %s behind other readers of the queue: it cannot keep up, or cannot reach the queue",
				channel, formatWait(late)))
		}
	}
}

// ticks judges proxies and RootCoord by the lag of their time ticks. All readers of a channel wait for these.
func (l *analysis) ticks() {
	held := l.tickLag(proxy, metrics.ProxyTickLag)
	if !l.writesWait() { // without waiting writes, proxies send newer timestamps or get none
		held = 0
	}
	for _, p := range l.role[proxy] {
		if late := p.tickLag(metrics.ProxyTickLag); late >= behindOthers && held > 0 &&
			!l.suspected(rootCoord, dataCoord, Queue) {
			p.addEvidence(Slow, Medium,
				fmt.Sprintf("its time ticks are %s late, held back by unfinished writes", formatWait(late)))
		}
	}
	for _, p := range l.components(rootCoord) {
		if late := p.tickLag(metrics.RootTickLag); late >= behindOthers && late > 2*held {
			p.addEvidence(Hanging, Medium,
				fmt.Sprintf("its time ticks are %s late, for which all readers of the queue wait", formatWait(late)))
		}
	}
}

// writesWait reports whether writes wait for a response, fail or are slow.
func (l *analysis) writesWait() bool {
	return slices.ContainsFunc([]impact.Request{impact.Insert, impact.Upsert, impact.Delete},
		func(r impact.Request) bool {
			k := l.impact.Kind(r)
			return k != nil && (k.State.AffectsClients() || k.Doubtful())
		})
}

// suspected reports whether there is more than weak evidence against a component of the given kinds.
func (l *analysis) suspected(kinds ...Kind) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool {
		return slices.ContainsFunc(l.components(k), func(p *part) bool {
			return slices.ContainsFunc(p.Evidence, func(e Evidence) bool { return e.State.Bad() && e.Strength > Weak })
		})
	})
}

// tickLag returns the maximum lag of the time ticks of all processes of a kind.
func (l *analysis) tickLag(kind Kind, name metrics.Name) (late time.Duration) {
	for _, p := range l.components(kind) {
		late = max(late, p.tickLag(name))
	}
	return late
}

// tickLag returns the maximum lag of the time ticks of a process.
func (p *part) tickLag(name metrics.Name) (late time.Duration) {
	lags := map[string]time.Duration{}
	p.tickLags(name, lags)
	for _, d := range lags {
		late = max(late, d)
	}
	return late
}

// tickLags raises lags, by channel, to the lags of the time ticks of a process. It skips channels whose lag
// did not change, because they are no longer in use.
func (p *part) tickLags(name metrics.Name, lags map[string]time.Duration) {
	if p.process == nil || p.process.Before == nil {
		return
	}
	p.eachChanged(name, func(s *model.Series) {
		channel := s.Label("channel_name")
		lags[channel] = max(lags[channel], time.Duration(s.Value*float64(time.Millisecond)))
	})
}

// eachChanged calls visit with each series of a gauge that changed in the window.
func (p *part) eachChanged(name metrics.Name, visit func(*model.Series)) {
	for _, c := range metrics.Lookup(name).Spellings {
		before := p.process.Before.Samples(c.Name)
		for _, s := range p.process.Metrics.Samples(c.Name) {
			if !slices.ContainsFunc(before, func(b model.Series) bool {
				return b.Value == s.Value && slices.Equal(b.Labels, s.Labels)
			}) {
				visit(&s)
			}
		}
	}
}

// lags judges the queue by its consumers. The queue hangs if all of them fall behind as fast as time passes
// or do not move, because time ticks arrive all the time.
func (l *analysis) lags() {
	if l.tickLag(rootCoord, metrics.RootTickLag) >= behindOthers { // there is nothing newer to read
		return
	}
	sends := func(p *part) bool { _, ok := maxGauge(p.process.Metrics, metrics.RootTickLag); return ok }
	sent := slices.ContainsFunc(l.components(rootCoord), func(p *part) bool {
		return p.process != nil && p.process.Before != nil && p.anyChanged(metrics.RootTickLag)
	})
	behind, still, moving := 0, 0, 0
	worst, least := 0.0, math.Inf(1)
	for _, p := range l.parts {
		if p.window == nil || p.window.SinceStart || p.window.Seconds() == 0 || !p.consumes() {
			continue
		}
		for _, name := range []metrics.Name{metrics.ConsumeLag, metrics.DataConsumeLag} {
			now, ok := maxGauge(p.process.Metrics, name)
			was, had := maxGauge(p.process.Before, name)
			if ok {
				least = min(least, now)
			}
			switch {
			case !ok || !had:
			case now >= minLagMillis && (now-was)/1000 >= minLagGrowth*p.window.Seconds():
				behind, worst = behind+1, max(worst, now)
			case p.window.Seconds() >= minStallSeconds && !p.anyChanged(name):
				still++
			default:
				moving++
			}
		}
	}
	e := Evidence{State: Hanging, Strength: Medium, Source: "consumers"}
	switch consumers := behind + still + moving; {
	case moving > 0 && consumers > 1 && least >= milli(behindOthers):
		e.State, e.Text = Slow,
			fmt.Sprintf("all %s are behind, by at least %s", words.Plural(consumers, "consumer"), milliseconds(least))
	case moving > 0:
		return
	case behind > 0:
		e.Text = fmt.Sprintf("all %s fall another second behind every second, up to %s",
			words.Plural(behind+still, "consumer"), milliseconds(worst))
	case still > 1 && sent:
		e.Text = fmt.Sprintf("none of %s has read a time tick for seconds", words.Plural(still, "consumer"))
	case still > 1 && !l.suspected(proxy, Queue) && !l.readsEnd():
		for _, p := range l.components(rootCoord) {
			if p.process != nil && p.process.Before != nil && sends(p) {
				p.addEvidence(Hanging, Medium,
					"it has sent no time tick for seconds, for which all readers of the queue wait")
			}
		}
		return
	default:
		return
	}
	l.addEvidenceTo(Queue, e)
}

// readsEnd reports whether a search or a query succeeded in the window.
func (l *analysis) readsEnd() bool {
	return slices.ContainsFunc([]impact.Request{impact.Search, impact.Query}, func(r impact.Request) bool {
		k := l.impact.Kind(r)
		return k != nil && k.Succeeded > 0
	})
}

// milli returns a duration in milliseconds.
func milli(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// consumes reports whether a process has channels to read. It returns true if this is unknown.
func (p *part) consumes() bool {
	return slices.ContainsFunc(p.nodes, func(n *model.LiveNode) bool {
		return n.System == nil || n.System.Quota == nil || n.System.Quota.FlowGraphs > 0
	})
}

// anyChanged reports whether any series of a gauge changed in the window.
func (p *part) anyChanged(name metrics.Name) (moved bool) {
	p.eachChanged(name, func(*model.Series) { moved = true })
	return moved
}

// maxGauge returns the largest value of a gauge.
func maxGauge(m *model.Metrics, name metrics.Name) (v float64, ok bool) {
	for _, c := range metrics.Lookup(name).Spellings {
		for _, s := range m.Samples(c.Name) {
			v, ok = max(v, s.Value), true
		}
	}
	return v, ok
}

func count(n float64) string { return words.Number(int64(math.Round(n))) }

func orNone(n float64) string {
	if n == 0 {
		return "none"
	}
	return count(n)
}

func seconds(w *metrics.Window) string {
	return words.Span(time.Duration(w.Seconds() * float64(time.Second)).Round(time.Second))
}
