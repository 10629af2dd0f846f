package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
)

// profileGCShare finds processes that spend much of their CPU time on garbage collection.
var profileGCShare = &check.Check{
	ID:       "profile-gc-share",
	Title:    "A process spends much of its time on garbage collection",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.MemoryFull},
	Starts:   "collection_loading collection_loaded | index_built",
	Doc: `A tight memory limit makes a process collect garbage all the time. CPU profiles show it: samples with the
collector on the stack (background marking, sweeping, assists of allocations).

Info from a quarter of the time of a process that uses half a core or more: Go's collector plans to take a quarter of
the CPUs while it marks (runtime/mgcpacer.go, gcBackgroundUtilization), and the rest comes at the expense of requests.
Warning from 40%, with a core or more in use. The lower bound of the share counts (95%), so few samples find nothing.

Not reported: 20% (Milvus 2.3.5 under thousands of small searches a second). Segment memory is C++ and costs the
collector nothing.`,
	Remedy: `Run ` + "`kitescope profile pull --kind allocs-delta`" + ` and ` + "`kitescope profile top`" +
		` to see what
allocates. A higher GOGC in the process's environment trades memory for time, and GOMEMLIMIT bounds it. A container
with a tight memory limit makes the collector run all the time: see memory-pressure. Large output fields, and
thousands of small requests instead of one with many vectors, allocate most.`,
	Needs:       check.NeedProfiles,
	Run:         runProfileGC,
	FollowsFrom: []check.Cause{{Check: "memory-pressure", Applies: ofProcess}},
}

const (
	gcInfo, gcInfoCores         = 0.25, 0.5
	gcWarning, gcWarningCores   = 0.40, 1.0
	lockInfo, lockWarning       = 0.05, 0.15
	lockCores                   = 0.5
	waitingInfo, waitingWarning = 1.0, 10.0
)

func runProfileGC(p *check.Pass) {
	list := profiled(p, "CPU", hasCPUProfile)
	if len(list) == 0 {
		p.Skip("no CPU profile was pulled")
		return
	}
	for _, x := range list {
		gc := x.CPU.GC
		if !(gc.Low >= gcInfo && x.CPU.Cores >= gcInfoCores) {
			continue
		}
		f := check.Finding{
			Severity: check.Info, Object: x.Ref(), Cost: gc.Part / 4,
			Message:  fmt.Sprintf("%s spends %s of its time on garbage collection", x.Name, bounded(gc)),
			Evidence: append([]check.Evidence{sampled("garbage collection", gc, x)}, cpuEvidence(x)...),
			Impact:   "That share of its CPU is lost to requests, and each collection slows them down.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("profile pull --kind allocs-delta --out allocations")).
					Does("records what the processes allocate"),
				check.Shell(onNode(check.Kitescope("profile top allocations --kind allocs-delta"), x)).
					Does("shows what allocates: often large output fields, or very many small requests"),
				check.Do("raise GOGC of %s, with GOMEMLIMIT as the limit: that trades memory for CPU time", x.Name).
					Interrupting(2*time.Minute, "its work until it is back"),
			),
		}
		if gc.Low >= gcWarning && x.CPU.Cores >= gcWarningCores {
			f.Severity = check.Warning
		}
		reportProfiled(p, f)
	}
}
