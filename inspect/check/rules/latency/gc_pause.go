package latency

import (
	"fmt"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/words"
)

// gcPause finds processes that stand still while garbage is collected.
var gcPause = &check.Check{
	ID:       "gc-pause",
	Title:    "A process stands still for collecting garbage",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ProxyRest, budget.WaitForWorkers, budget.WaitForNodes},
	Doc: `Go stops a process twice for each collection of garbage, for a tenth of a millisecond or two (` + "`go_gc_duration_seconds`" + `). Where processors are short, or threads cannot be stopped, it is tens or hundreds. A request that comes during a pause waits for the rest of it: on average half the square of a pause,
for each second of the window.

A warning is a proxy or a query node whose pauses make the mean search or query longer by a fifth at least, and 5 ms; from a twentieth, and 1 ms, on it is an information. Pauses count as equally long, which is the least that they cost.
How much processor time the collection takes is another question: ` + "`profile-gc-share`" + `.`,
	Remedy:      `See the CPU limit of the process and whether it is throttled: a pause ends when every thread has got a processor. Collections come with what is allocated: large results and many small requests make garbage; more memory (` + "`GOMEMLIMIT`, `GOGC`" + `) makes them fewer.`,
	Run:         runGCPause,
	FollowsFrom: check.CausedBy(check.Shares("nodes"), "process-slow", "memory-pressure"),
}

func runGCPause(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	b := overall(p, budget.Search)
	if b == nil {
		if b = overall(p, budget.Query); b == nil {
			return nil
		}
	}
	for _, x := range processes(p, "proxy", "querynode", "streamingnode", "standalone") {
		pause, count := x.mean(metrics.GCPause)
		seconds := x.window.Seconds()
		if count <= 0 || seconds <= 0 {
			continue
		}
		// A request that comes at any time waits so long on average for the pause that it meets, if it meets any.
		ms := count * pause * pause / 2 / (1000 * seconds)
		c := cost{of: b, phase: phaseOf(x.node.Role), ms: ms, low: ms, gain: budget.Interval{Low: ms, High: min(b.Ms, count*pause/1000/seconds*b.Ms)}}
		c.gain.High = max(c.gain.High, ms)
		if c.ms < 1 || c.share() < gcPart {
			continue
		}
		f := check.Finding{
			Object: x.node.Ref(), Severity: check.Info,
			Message: fmt.Sprintf("%s stands still for %s at a time to collect garbage, %s in %s", x.node.Name(), budget.Milliseconds(pause), words.Plural(int64(count), "time"), words.Plural(int64(seconds+0.5), "second")),
			Impact:  fmt.Sprintf("A request waits %s for it on average, and some for all of a pause.", budget.Milliseconds(ms)),
			Hint:    check.Advise("see whether %s gets processors when it needs them (a CPU limit that is reached), and what it allocates: kitescope profile pull", x.node.Name()),
		}
		if c.matters(much) {
			f.Severity = check.Warning
		}
		f = found(p, f, c)
		f.Evidence = append(f.Evidence, usesFacts(x.node)...)
		p.Report(f)
	}
	return nil
}

// gcPart is the part of a request from which on pauses are told.
const gcPart = 0.05

// phaseOf is where a request feels that a process of a role stands still.
func phaseOf(role string) budget.Name {
	if role == "proxy" {
		return budget.ProxyRest
	}
	return budget.WaitForWorkers
}
