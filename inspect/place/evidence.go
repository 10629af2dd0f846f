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

// Thresholds of evidence. Measurements are from a 2.3.5 lab, idle and under load, unless another source is
// named. None of them reached the thresholds.
const (
	// minLateCall and minLateRatio are the minimum duration of a late call and its minimum ratio to the median
	// call. Probes took at most 20 ms, other calls at most 81 ms, calls to a DataCoord limited to 2 % of a
	// core 0.3 to 4 s.
	minLateCall, minLateRatio = time.Second, 10
	// minFailed and minFailedShare are the minimum number and share of failed operations. minHanging is the
	// minimum number of hanging ones.
	minFailed, minFailedShare, minHanging = 3, 0.05, 2
	// minInFlightRatio is the minimum ratio of the messages that wait for the queue to the number in flight that
	// Little's law predicts.
	minInFlightRatio = 10
	// minSlowRatio is the minimum ratio of the mean duration of slow operations to their past mean, for at least
	// minOps operations in the window and minPastOps before it.
	minSlowRatio, minOps, minPastOps = 3, 3, 50
	// minGCRate is the minimum number of garbage collections per second, and maxGCBytes the maximum number of bytes
	// allocated between two collections, if the memory limit is too small. Measured were 0.05 to 2.3
	// collections per second every 15 to 42 MB, and 25 per second with a GOMEMLIMIT that is too small.
	minGCRate, maxGCBytes = 8, 5e6
	// fullFiles is the minimum share of open file descriptors. At most 149 of 20,000 were open.
	fullFiles = 0.9
	// fullCPU and fullHost are the minimum shares of processors that a process or all processes of a host
	// use. littleCPU is the number of cores that a process uses at most if it gets hardly any CPU. busyCores
	// is the number that it uses at least if it is late because it is busy.
	fullCPU, fullHost, littleCPU, busyCores = 0.95, 0.9, 0.1, 1
)

// observe collects all evidence and derives the state of each component.
func (l *analysis) observe() {
	l.missing()
	l.refusals()
	if r := l.c.Runtime; r != nil && !r.Unresponsive() { // otherwise kitescope is outside the network
		l.judgeHosts()
		l.calls()
		l.judgeProbes()
		for _, p := range l.parts {
			p.usage()
			l.operations(p)
		}
		l.judgeCallLatencies()
		l.leaders()
		l.gaps()
		l.ticks()
		l.lags()
		l.readers()
		l.judgeReports()
	}
	l.etcd()
	l.storage()
	for _, p := range l.parts {
		p.fold()
	}
}

// refusals judges proxies by requests that they refuse because of limits, logins or quotas.
func (l *analysis) refusals() {
	for _, p := range l.role[proxy] {
		if slices.ContainsFunc(l.impact.Kinds, func(k impact.Kind) bool {
			return k.State == impact.Refused && slices.Contains(k.Proxies, p.Component.Ref())
		}) {
			p.addEvidence(Refusing, Strong, "it refuses them before doing any work")
		}
	}
}

// missing adds a component that is gone for each role that the release needs and no process has.
func (l *analysis) missing() {
	if !l.c.Loaded.Has(model.PartSessions) || len(l.c.Sessions) == 0 {
		return
	}
	needed := []Kind{rootCoord, queryCoord, dataCoord, proxy, queryNode, dataNode}
	if l.architecture == withStreaming {
		needed = append(needed, streaming)
	}
	for _, k := range needed {
		if len(l.components(k)) == 0 {
			p := l.add(Component{Kind: k})
			p.roles, l.role[k] = []Kind{k}, []*part{p}
			p.addEvidence(Gone, Strong, "no process with this role is registered")
		}
	}
}

// call is one call to a process. timedOut is true if it timed out.
type call struct {
	method   string
	late     bool
	timedOut bool
	took     time.Duration
}

// calls judges each process by all calls to it. A process that answers only probes of its state is slow or
// hangs.
func (l *analysis) calls() {
	// GetMetrics of the nodes. Coordinators call it to answer their own GetMetrics.
	slowest, stuck := time.Duration(0), false
	var all []time.Duration
	for _, p := range l.parts {
		for _, n := range p.nodes {
			for i := range n.Calls {
				c := &n.Calls[i]
				if c.Outcome == model.Answered && c.Took > 0 {
					all = append(all, c.Took)
				}
				if c.Method == "GetMetrics" && strings.HasSuffix(n.Role, "node") {
					slowest, stuck = max(slowest, c.Took), stuck || c.Outcome == model.TimedOut
				}
			}
		}
	}
	l.medianCall = median(all)
	for _, p := range l.parts {
		if len(p.nodes) == 0 || p.down() {
			continue
		}
		var list []call
		add := func(c *model.Call, coordinator bool) {
			if c.Method == "GetComponentStates" || c.OfTasks() || c.OfTarget() || c.OfConfigs() {
				return
			}
			x := call{method: c.Method, took: c.Took, timedOut: c.Outcome == model.TimedOut}
			if coordinator && c.Method == "GetMetrics" {
				if x.took -= slowest; stuck {
					x.timedOut = false
				}
			}
			if x.late = x.timedOut || x.took > max(minLateCall, minLateRatio*l.medianCall); x.timedOut ||
				c.Outcome == model.Answered {
				list = append(list, x)
			}
		}
		for _, n := range p.nodes {
			for i := range n.Calls {
				add(&n.Calls[i], strings.HasSuffix(n.Role, "coord"))
			}
		}
		if p.process != nil {
			for i := range p.process.Calls {
				add(&p.process.Calls[i], false)
			}
		}
		p.judgeCalls(list)
	}
}

// judgeCalls judges a process by calls that cause work, i.e. not by probes.
func (p *part) judgeCalls(list []call) {
	if len(list) == 0 {
		return
	}
	var late []string
	var quick []time.Duration
	cut, lateCalls := 0, 0
	longest := time.Duration(0)
	for _, c := range list {
		if !c.late {
			quick = append(quick, c.took)
			longest = max(longest, c.took)
			continue
		}
		lateCalls++
		if c.timedOut {
			cut++
		}
		if !slices.Contains(late, c.method) {
			late = append(late, c.method)
		}
	}
	text := fmt.Sprintf("%d of %s ", lateCalls, words.Plural(len(list), "call"))
	switch {
	case len(late) == 0:
		if longest > 0 {
			p.addEvidence(Fine, Medium,
				fmt.Sprintf("%s answered within %s", words.Plural(len(list), "call"), formatWait(longest)))
		}
		return
	case len(quick) > lateCalls: // all calls to a process share one deadline
		p.addEvidence(Slow, Weak, text+"were slow: "+words.Summarize(late))
		return
	case len(late) == 1:
		p.addEvidence(Slow, Medium, text+"were slow: "+words.Summarize(late))
	case 2*cut >= lateCalls:
		p.addEvidence(Hanging, Strong, text+"timed out: "+words.Summarize(late))
	default:
		p.addEvidence(Slow, Strong, text+"took more than "+formatWait(minLateCall)+": "+words.Summarize(late))
	}
	p.judgeIdle()
}

// down adds evidence if a session of the process could not be reached or is not healthy. It reports whether a session
// gave no usable response.
func (p *part) down() bool {
	for _, n := range p.nodes {
		switch n.Outcome {
		case model.Refused:
			p.addEvidence(Gone, Strong, "nothing is listening at "+n.Address)
		case model.Stale, model.OtherCluster:
			p.addEvidence(Gone, Strong, "another process responds at "+n.Address)
		case model.TimedOut, model.CutOff, model.Garbled:
			p.addEvidence(Hanging, Strong, "it is not responding: "+n.Outcome.String())
		case model.NotReady, model.Failed:
			p.addEvidence(Failing, Medium, "it reports that it is not healthy: "+n.Reason)
		case model.Answered:
			if n.State == "Abnormal" || n.State == "Initializing" {
				p.addEvidence(Failing, Medium, "it reports its state as "+n.State)
			}
			continue
		default: // not queried or not reachable from here: unknown
		}
		return true
	}
	return false
}

// cores returns the CPU time that a process used between two scrapes, in cores, and its number of processors,
// or 0 if that is unknown. ok is false if the CPU time is unknown.
func (p *part) cores() (used, has float64, ok bool) {
	if p.process == nil || p.process.Before == nil {
		return 0, 0, false
	}
	used, _, ok = p.process.CPU()
	has, _ = p.window.Gauge(metrics.Processors)
	for _, n := range p.nodes {
		if n.System != nil && n.System.CPUs > 0 && (has == 0 || float64(n.System.CPUs) < has) {
			has = float64(n.System.CPUs)
		}
	}
	return used, has, ok
}

// usage judges a process by its use of CPU, file descriptors and memory, compared with its limits.
func (p *part) usage() {
	if used, has, ok := p.cores(); ok && has > 0 && used >= fullCPU*has {
		p.addEvidence(Starved, Medium, fmt.Sprintf("it uses %.1f of %.0f cores", used, has))
	}
	if p.window == nil {
		return
	}
	if open, ok := p.window.Gauge(metrics.OpenFiles); ok {
		if most, has := p.window.Gauge(metrics.MaxFiles); has && most > 0 && open >= fullFiles*most {
			p.addEvidence(Failing, Strong,
				fmt.Sprintf("it has %s of %s file descriptors open", words.Number(int64(open)),
					words.Number(int64(most))))
		}
	}
	seconds := p.window.Seconds()
	if gcs, ok := p.window.Histogram(metrics.GCPause); ok && seconds > 0 && !p.window.SinceStart &&
		gcs.Count >= minGCRate*seconds {
		bytes, has := p.window.Counter(metrics.Allocated)
		heap, _ := p.window.Gauge(metrics.Heap)
		// A program that starts collections itself, e.g. a query node that releases segments, leaves the heap
		// far below the target of the next collection.
		if next, known := p.window.Gauge(metrics.NextGC); has && bytes < maxGCBytes*gcs.Count &&
			(!known || next < heap+2*maxGCBytes) {
			p.addEvidence(Starved, Strong,
				fmt.Sprintf("it collects garbage %s times a second, every %s: its memory limit is too small "+
					"(GOMEMLIMIT, GOGC)",
					words.ThreeDigits(gcs.Count/seconds), words.Bytes(int64(bytes/gcs.Count))))
		}
	}
}

// judgeReports adds the response of the message queue to kitescope, and the health of dependencies that proxies
// report (2.5 and later).
func (l *analysis) judgeReports() {
	r := l.c.Runtime
	if q := r.Queue; q != nil {
		switch q.Outcome {
		case model.Answered:
			l.role[Queue][0].addEvidence(Fine, Weak, "it reports its offsets to kitescope")
		case model.Refused:
			l.role[Queue][0].addEvidence(Gone, Medium, "nothing is listening at "+q.Address)
		case model.TimedOut, model.CutOff:
			l.role[Queue][0].addEvidence(Hanging, Medium, "it is not responding to kitescope: "+q.Outcome.String())
		default: // no route or no credentials from here
		}
	}
	for _, d := range r.Dependencies() {
		if d.Healthy == model.No && d.Member == "" {
			of := Queue
			if d.Kind == "metadata store" {
				of = Etcd
			}
			l.addEvidenceTo(of, Evidence{
				State: Failing, Strength: Strong, Text: d.Proxy.Name("proxy") + " finds it unhealthy: " + d.Reason,
				Source: d.Proxy.Name("proxy"),
			})
		}
	}
}

// addEvidenceTo adds evidence to all components of a kind.
func (l *analysis) addEvidenceTo(kind Kind, e Evidence) {
	for _, p := range l.components(kind) {
		p.Evidence = append(p.Evidence, e)
	}
}

// etcd judges etcd by the health that its members report, and by the durations of reads.
func (l *analysis) etcd() {
	p, health := l.role[Etcd][0], l.c.Etcd
	if health == nil {
		return
	}
	if health.Unresponsive() {
		p.judgeUnresponsive(health, l.c.Runtime.Unresponsive())
		return
	}
	p.reads(health, l.medianCall)
	silent := 0
	for _, m := range health.Members {
		if m.Problem != "" {
			silent++
		}
		for _, e := range m.Errors {
			state := Failing
			if e == "NOSPACE" {
				state = Refusing
			}
			p.addEvidence(state, Strong, m.Endpoint+": "+e)
		}
	}
	switch {
	case health.Problem != "":
		p.addEvidence(Failing, Medium, health.Problem)
	case silent > 0 && 2*silent >= len(health.Members):
		p.addEvidence(Failing, Medium, fmt.Sprintf("%d of %s are not responding",
			silent, words.Plural(len(health.Members), "member")))
	case silent == 0 && len(health.Members) > 0:
		p.addEvidence(Fine, Weak, "all members respond")
	}
}

// judgeUnresponsive judges an etcd that does not respond to kitescope. outside is true if no process responds either,
// because then the network may be the reason.
func (p *part) judgeUnresponsive(health *model.Etcd, outside bool) {
	state, strength := Hanging, Strong
	if outside {
		strength = Medium
	}
	if slices.ContainsFunc(health.Members, func(m model.EtcdMember) bool {
		return strings.Contains(m.Problem, "refused")
	}) {
		state = Gone
	}
	p.addEvidence(state, strength, strings.TrimSuffix("it is not responding: "+health.UnresponsiveReason(), ": "))
}

// Thresholds of reads of a few keys from etcd, which take 1 to 2 ms on an idle machine. An etcd whose disk
// takes 0.9 s for a sync stalls them now and then: at least minStalls times, and for at least minStallTime in
// total.
const (
	slowRead, slowQuorum    = 500 * time.Millisecond, model.Stall
	minStalls, minStallTime = 2, time.Second
)

// reads judges etcd by the durations of kitescope's reads. If reads that a majority must confirm are slower
// than those of one member, the disk or the peers are slow, otherwise the process or the network. The network
// is not slow if processes respond quickly. medianCall is the median duration of calls to processes.
func (p *part) reads(health *model.Etcd, medianCall time.Duration) {
	linear, local := median(slices.Clone(health.Linear)), median(slices.Clone(health.Local))
	typical := max(linear, median(slices.Clone(health.Reads)))
	stalls, waited, longest := health.Stalls()
	slow := func(strength Strength, format string, args ...any) {
		p.Evidence = append(p.Evidence, Evidence{
			State: Slow, Strength: strength, Source: "kitescope", Text: fmt.Sprintf(format, args...),
		})
	}
	switch {
	case linear >= local+slowQuorum && len(health.Local) > 0:
		slow(Strong, "a linearizable read takes %s, a serializable one %s: its disk or its peers are slow",
			formatWait(linear), formatWait(local))
	case typical >= slowRead && medianCall > 0 && medianCall <= typical/minLateRatio:
		slow(Strong, "a read of a few keys takes %s, calls to processes %s: it, or only the network to it, is slow",
			formatWait(typical), formatWait(medianCall))
	case typical >= slowRead:
		slow(Medium, "a read of a few keys takes %s: the process or the network to it is slow", formatWait(typical))
	case stalls >= minStalls && waited >= minStallTime:
		slow(Medium, "reads of a few keys stalled %d times, up to %s, others took %s", stalls, formatWait(longest),
			formatWait(typical))
	case len(health.Linear) > 0:
		p.addEvidence(Fine, Weak, "a read of one key takes "+formatWait(linear))
	}
}

// storage judges the object storage by the state of its file system and files.
func (l *analysis) storage() {
	s := l.c.Storage
	if s == nil || !l.c.ConfiguredStorage().Matches(s.Location, s.Local) {
		return
	}
	p := l.role[Storage][0]
	switch {
	case s.DiskSpace != nil && s.DiskSpace.ReadOnly:
		p.addEvidence(Refusing, Strong, "its file system is read-only")
	case s.DiskSpace != nil && s.DiskSpace.Free == 0:
		p.addEvidence(Refusing, Strong, "its file system is full")
	case s.Lost:
		p.addEvidence(Gone, Strong, s.Problem)
	case s.Problem == "":
		p.addEvidence(Fine, Weak, "its files were found")
	}
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// formatWait formats a duration of up to some seconds.
func formatWait(d time.Duration) string { return words.Latency(d, false) }

func milliseconds(ms float64) string {
	return formatWait(time.Duration(math.Round(ms*1000)) * time.Microsecond)
}
