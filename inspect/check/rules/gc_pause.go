package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// gcPause reports processes that garbage collection pauses for long.
var gcPause = &check.Check{
	ID:       "gc-pause",
	Title:    "Garbage collection pauses a process",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "collection_loading collection_loaded | index_built",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ProxyRest, budget.WaitForWorkers, budget.WaitForNodes},
	Doc: `A proxy short of CPU stops for tens or hundreds of milliseconds twice per garbage collection. Usually it
stops for one or two tenths of a millisecond (` + "`go_gc_duration_seconds`" + `); longer if CPU is short or threads
cannot be stopped. A request that arrives during a pause waits for its rest: on average half the square of a pause,
per second of the window.

Warning: a proxy or query node whose pauses make the mean search or query at least 20% and 5 ms longer; info from 5%
and 1 ms. All pauses count as equally long, the least they can cost. CPU time of garbage collection: see
` + "`profile-gc-share`" + `.`,
	Remedy: `Check the CPU limit of the process and whether it is throttled: a pause ends when every thread has
had CPU time. Reduce allocations (large results, many small requests), which trigger collections. More memory
(` + "`GOMEMLIMIT`" + `, ` + "`GOGC`" + `) makes collections rarer.`,
	Run:         runGCPause,
	Requests:    []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("nodes"), "process-slow", "memory-pressure"),
}

func runGCPause(p *check.Pass) {
	b := overall(p, budget.Search)
	if b == nil {
		if b = overall(p, budget.Query); b == nil {
			return
		}
	}
	for _, x := range processes(p, "proxy", "querynode", "streamingnode", "standalone") {
		pause, count := x.mean(metrics.GCPause)
		seconds := x.window.Seconds()
		if count <= 0 || seconds <= 0 {
			continue
		}
		// A request that arrives during a pause waits for half of it on average. This is the mean wait over all
		// requests.
		ms := count * pause * pause / 2 / (1000 * seconds)
		c := cost{
			budget: b, phase: phaseOf(x.node.Role), ms: ms, low: ms,
			gain: budget.Interval{Low: ms, High: min(b.Ms, count*pause/1000/seconds*b.Ms)},
		}
		c.gain.High = max(c.gain.High, ms)
		if c.ms < 1 || c.share() < gcPart {
			continue
		}
		f := check.Finding{
			Object: x.node.Ref(), Severity: check.Info,
			Message: fmt.Sprintf("%s pauses %s at a time for garbage collection, %s in %s", x.node.Name(),
				budget.Milliseconds(pause), words.Plural(int64(count), "time"),
				words.Plural(int64(seconds+0.5), "second")),
			Impact: fmt.Sprintf("A request waits %s for it on average, and some wait for a whole pause.",
				budget.Milliseconds(ms)),
			Fix: check.Fix(
				check.Do("check whether %s reaches its CPU limit; raise the limit if it does", x.node.Name()).
					Restarting(p.Cluster, 2*time.Minute, x.node.Role),
				check.Shell(check.TopCommand(x.node).Flag("--kind", "allocs-delta")).Does("shows what it allocates"),
			),
		}
		if c.matters(findingShare) {
			f.Severity = check.Warning
		}
		f = withCosts(p, f, c)
		f.Evidence = append(f.Evidence, cpuFacts(x.node)...)
		p.Report(f)
	}
}

// gcPart is the minimum share of a request's time at which pauses are reported.
const gcPart = 0.05

// phaseOf returns the phase of a request that takes longer while a process of the role is paused.
func phaseOf(role string) budget.Name {
	if role == "proxy" {
		return budget.ProxyRest
	}
	return budget.WaitForWorkers
}
