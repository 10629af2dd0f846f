package rules

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of process-slow. On captured clusters, no healthy process took longer than 30 ms to return its state, even
// with all processors busy.
const (
	// stallShare is the minimum fraction of time in stalls, stallTimes their minimum number and stallTotal their
	// minimum total duration.
	stallShare = 0.2
	stallTimes = 3
	stallTotal = 600 * time.Millisecond
	// stallBeyond is the minimum ratio of the fraction of time in stalls to the median of the other processes.
	stallBeyond = 4
	// oneStall is the minimum duration of a single stall for an info. longStall is the duration of a stall that neither
	// a loaded machine nor garbage collection causes in one process while all others answer in a twentieth of it.
	// longBeyond is that ratio.
	oneStall, longStall, longBeyond = time.Second, 2 * time.Second, 20
	// A link is slow if each of at least linkProbes responses takes at least linkFloor and linkBeyond times as long as
	// the median of the others, and if the responses are even, i.e. the longest is at most linkEven times the shortest.
	linkFloor, linkBeyond, linkEven, linkProbes = 50 * time.Millisecond, 5, 1.25, 4
)

// processSlow finds processes that respond late repeatedly while the others do not.
var processSlow = &check.Check{
	ID:       "process-slow",
	Title:    "Process is repeatedly slow to respond",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "node_joined collection_loading | task_created segment_compacted",
	Doc: `A process stalls again and again. While counters are sampled for rates (` + "`--window`" + `), kitescope
requests the state of each process some eight times in a row, a call that costs it nothing. If one is late, all are
queried for three seconds. Connection and response times are kept in bundles and recordings.

Reported: a process that kept kitescope waiting at least three times for more than 100 ms, for at least 0.6 seconds in
total and 20% of the time, and four times as long as the median of the others. With ` + "`--watch`" + ` and in the UI,
rounds of the last 90 seconds are added up. Searches and writes that need the process wait in the same way.

Network time is not counted: the time to connect or, through an address map or a proxy, the shortest response. If all
responses of a process take the same time (within 25%), at least 50 ms and five times as long as the median of the
others, the finding is about the link to it, because requests of other processes pay that round trip as well; not
through an address map or a proxy, which may be the slow part itself. A single stall is reported from 2 seconds if no
other process took a twentieth of that; info from one second. Also info: a process that is late because it is busy (it
uses a core or more) or started less than two minutes ago. If most processes are late, the network or this machine is
slow: the check could not run and has no findings.`,
	Remedy: `Find out what stops the process: a CPU limit (throttled cgroup), swapping, a hanging disk, a debugger or
SIGSTOP, a paused virtual machine. ` + "`kitescope profile watch`" + ` shows its CPU, ` + "`kitescope get calls`" +
		` the
time of each call. If it does not improve, restart it: other nodes take over what it serves.`,
	Parts:       model.PartSessions,
	Needs:       check.NeedProcesses,
	Phases:      []latency.Name{latency.ProxyRest, latency.WaitForNodes, latency.WaitForWorkers},
	Slowness:    true,
	Run:         runProcessSlow,
	FollowsFrom: withHostStarved(check.Cause{Check: "memory-pressure", Applies: check.Shares("nodes")}),
}

const probedOnce = "every process was probed only once; kitescope diagnose probes them several times"

// slowness holds the stalls of a process in this round and in earlier rounds.
type slowness struct {
	node           *model.LiveNode
	stalls         []time.Duration
	now            int // number of stalls in this round
	waited, window time.Duration
}

func (s *slowness) share() float64 {
	if s.window <= 0 {
		return 0
	}
	return float64(s.waited) / float64(s.window)
}

func (s *slowness) repeated() bool {
	return s.now > 0 && len(s.stalls) >= stallTimes && s.waited >= stallTotal && s.share() >= stallShare
}

// long reports whether a single stall of the process is long enough for a finding.
func (s *slowness) long(o others) bool {
	if s.now == 0 || s.share() < 0.5 {
		return false
	}
	longest := slices.Max(s.stalls)
	return longest >= longStall && longest >= longBeyond*max(o.longest, o.response)
}

func runProcessSlow(p *check.Pass) {
	list := slownesses(p)
	if len(list) == 0 {
		p.Skip(probedOnce)
		return
	}
	if len(list) < 3 {
		p.Skip("too few processes to compare: " + words.Plural(len(list), "process"))
		return
	}
	late := 0
	for i := range list {
		if list[i].share() >= stallShare {
			late++
		}
	}
	if late*2 > len(list) {
		p.NoteUnseen(fmt.Sprintf("%s of %d processes respond late: the network or this machine is slow",
			words.Number(late), len(list)))
		return
	}
	for i := range list {
		s := &list[i]
		least, most, even := evenlyLate(s.node.ProbeRound)
		if s.now == 0 && !even {
			continue // true for nearly all processes: no finding is possible
		}
		others := othersThan(list, i)
		switch {
		case even && least >= linkBeyond*others.response:
			reportLink(p, s, others, least, most)
		case s.now == 0:
		case (s.repeated() || s.long(others)) && s.share() >= stallBeyond*others.share:
			reportSlow(p, s, others)
		case slices.Max(s.stalls) >= max(oneStall, 10*others.longest):
			reportStall(p, s, others)
		}
	}
}

// slownesses returns the slowness of each process that was probed several times.
func slownesses(p *check.Pass) []slowness {
	var list []slowness
	told := make(map[string]bool)
	for _, n := range p.Runtime.Nodes {
		if n.ProbeRound == nil {
			continue
		}
		told[n.Address] = true
		s := slowness{node: n}
		s.stalls, s.now, s.window = n.Stalls()
		for _, d := range s.stalls {
			s.waited += d
		}
		list = append(list, s)
	}
	for _, n := range p.Runtime.Nodes {
		if len(told) > 0 && !told[n.Address] && !p.IsGone(n) {
			p.NoteUnseen("response time of " + n.Name() + ": " + facts.WhySilent(n))
		}
	}
	return list
}

// others summarizes the processes with which a process is compared.
type others struct {
	count   int
	share   float64 // median share
	longest time.Duration
	// response is the median of their response times.
	response time.Duration
}

func othersThan(list []slowness, i int) others {
	var shares []float64
	var answers []time.Duration
	o := others{count: len(list) - 1}
	for j := range list {
		if j == i {
			continue
		}
		shares = append(shares, list[j].share())
		for _, d := range list[j].stalls {
			o.longest = max(o.longest, d)
		}
		for _, x := range list[j].node.ProbeRound.Probes {
			answers = append(answers, x.Took)
		}
	}
	slices.Sort(shares)
	slices.Sort(answers)
	o.share = shares[len(shares)/2]
	if len(answers) > 0 {
		o.response = answers[len(answers)/2]
	}
	return o
}

func reportSlow(p *check.Pass, s *slowness, o others) {
	n := s.node
	d := dutiesOf(p, n.Role, n.Node)
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(), Objects: dutyRefs(p, &d), Cost: loss(p, &d) * min(1, s.share()),
		Message: fmt.Sprintf("%s %s keeps callers waiting %s of the time: %s of up to %s", facts.RoleLabel(n.Role),
			n.Name(), words.Share(s.share()), words.Plural(len(s.stalls), "stall"), waitText(slices.Max(s.stalls))),
		Impact: slowImpact(n.Role),
		Fix: check.Fix(
			check.Do("find out what stops it: a CPU limit, swapping, a hanging disk, SIGSTOP"),
			check.Do("if it continues, restart %s (%s): other nodes take over what it serves", n.Name(), n.Address).
				Restarting(p.Cluster, 2*time.Minute, n.Role),
		),
	}
	f.Evidence = slowEvidence(s, o)
	check.DowngradeStarting(p.Facts, &f, n, "wait: it is still starting")
	if cores, _, ok := n.Process.CPU(); ok && n.Process.Before != nil && cores >= busyCores {
		f.Severity, f.Cost = check.Info, 0
		f.Message += fmt.Sprintf("; it is busy, using %.1f cores", cores)
		f.Fix = check.Fix(check.Shell(check.TopCommand(n)).Does("shows what keeps it busy"))
	}
	p.Report(f)
}

// evenlyLate returns the shortest and the longest response time of a process, and whether all responses are late by a
// similar time. A slow link causes that. A process that is stopped or throttled delays only some of its responses.
func evenlyLate(pace *model.ProbeRound) (least, most time.Duration, even bool) {
	if pace.Dial == 0 || len(pace.Probes) < linkProbes {
		return 0, 0, false
	}
	least, even = pace.Probes[0].Took, true
	for _, x := range pace.Probes {
		least, most, even = min(least, x.Took), max(most, x.Took), even && !x.Open
	}
	return least, most, even && least >= linkFloor && float64(most) <= linkEven*float64(least)
}

func reportLink(p *check.Pass, s *slowness, o others, least, most time.Duration) {
	n := s.node
	d := dutiesOf(p, n.Role, n.Node)
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(), Objects: dutyRefs(p, &d), Evidence: slowEvidence(s, o),
		Message: fmt.Sprintf("the link to %s %s is slow: every response takes %s to %s, those of the others %s",
			facts.RoleLabel(n.Role), n.Name(), waitText(least), waitText(most), waitText(o.response)),
		Impact: "Each request that needs it waits for at least one such round trip. The process itself responds " +
			"evenly: it is not stopped or short of CPU.",
		Fix: check.Fix(
			check.Do("check the network between %s (%s) and the other processes: another region, a tunnel, a "+
				"forwarder or a mesh in front of it", n.Name(), n.Address),
			check.Do("run it next to the others").Restarting(p.Cluster, 2*time.Minute, n.Role),
		),
	}
	p.Report(f)
}

func reportStall(p *check.Pass, s *slowness, o others) {
	n := s.node
	p.Report(check.Finding{
		Severity: check.Info, Object: n.Ref(), Evidence: slowEvidence(s, o),
		Message: fmt.Sprintf("%s %s responded after %s, the other %s within %s", facts.RoleLabel(n.Role), n.Name(),
			waitText(slices.Max(s.stalls)), words.Plural(o.count, "process"), waitText(max(o.longest, o.response))),
		Impact: "Requests that need it waited as long.",
		Fix: check.Fix(check.Shell(check.Kitescope("diagnose --watch --only process-slow")).
			Does("shows whether it happens again")),
	})
}

// waitText formats a duration of up to some seconds, e.g. "120 ms" or "1.5 s".
func waitText(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

func slowImpact(role string) string {
	switch role {
	case "querynode":
		return "Searches of what it serves wait for it: a search is as fast as its slowest node."
	case "datanode", "streamingnode":
		return "Rows of its channels are consumed and written late, and flushes wait."
	case "proxy":
		return "Every request to this proxy waits."
	case "indexnode":
		return "Its index builds take longer."
	}
	return "Everything it coordinates waits: loads, flushes, new collections, recovery from lost nodes."
}

func slowEvidence(s *slowness, o others) []check.Evidence {
	n := s.node
	list := []check.Evidence{
		waitEvidence("stalls over "+waitText(model.ProbeStall), s.stalls, n.Address),
		check.Factf("probed", "kitescope", "%s in %s", check.Plural(len(n.ProbeRound.Probes), "time"),
			waitFigure(n.ProbeRound.Duration())),
		check.Factf("network round trip", n.Address, "%s", waitFigure(n.ProbeRound.RTT())),
		check.Factf("median response of the other "+words.Plural(o.count, "process"), "kitescope",
			"%s", waitFigure(o.response)),
	}
	if len(n.EarlierRounds) > 0 {
		list = append(list,
			waitEvidence("earlier stalls", n.EarlierRounds[len(n.EarlierRounds)-1].Stalls(model.ProbeStall),
				"previous round"))
	}
	if cores, over, ok := n.Process.CPU(); ok && n.Process.Before != nil {
		list = append(list,
			check.Factf("CPU", n.Name()+" /metrics", "%s over %s", check.Number(cores, "cores", "%.2f cores"),
				waitFigure(over)))
	}
	return list
}

// waitFigure returns a duration in seconds, with the text of waitText.
func waitFigure(d time.Duration) check.Figure {
	return check.Figure{Value: d.Seconds(), Unit: "seconds", Text: waitText(d)}
}

func waitEvidence(name string, list []time.Duration, source string) check.Evidence {
	e := check.Fact(name, briefs(list), source)
	for _, d := range list {
		e.Figures = append(e.Figures, waitFigure(d))
	}
	return e
}

func briefs(list []time.Duration) string {
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = waitText(d)
	}
	if len(names) == 0 {
		return "none"
	}
	return words.Summarize(names)
}
