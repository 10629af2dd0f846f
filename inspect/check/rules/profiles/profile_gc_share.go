package profiles

import (
	"fmt"

	"kitescope/inspect/check"
)

// profileGCShare finds processes that spend much of their time collecting garbage.
var profileGCShare = &check.Check{
	ID:       "profile-gc-share",
	Title:    "Much of a process's time is garbage collection",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `By CPU profiles: samples that have a function of Go's garbage collector anywhere on the stack, background marking and sweeping as well as what allocations are made to help.

Information if that is more than a quarter of the time of a process that uses half a core or more: Go's collector plans to take a quarter of the processors while it marks (runtime/mgcpacer.go, gcBackgroundUtilization), and what
comes on top is taken from requests. A warning from 40% on, with a core or more in use. The lower bound of the share counts (95%), so that few samples find nothing.

Milvus 2.3.5 under thousands of small searches a second was measured at 20%, which is no finding. Memory of segments is C++ and costs the collector nothing.`,
	Remedy: `` + "`kitescope profile pull --kind allocs-delta`" + ` and ` + "`kitescope profile top`" + ` show who allocates. A higher GOGC in the
process's environment trades memory for time, and GOMEMLIMIT bounds it. A container whose memory limit leaves little room makes the collector run all the time: see memory-pressure. Requests that ask for large output fields, or thousands of small
ones where one with many vectors would do, allocate most.`,
	Needs:       check.NeedProfiles,
	Run:         runProfileGC,
	FollowsFrom: []check.Cause{{Check: "memory-pressure", Of: ofProcess}},
}

const (
	gcMuch, gcMuchCores         = 0.25, 0.5
	gcTooMuch, gcTooMuchCores   = 0.40, 1.0
	lockMuch, lockTooMuch       = 0.05, 0.15
	lockCores                   = 0.5
	waitingMuch, waitingTooMuch = 1.0, 10.0
)

func runProfileGC(p *check.Pass) error {
	list := profiled(p, "CPU", hasCPUProfile)
	if len(list) == 0 {
		return p.Skip("no CPU profile was pulled")
	}
	for _, x := range list {
		gc := x.CPU.GC
		if !(gc.Low >= gcMuch && x.CPU.Cores >= gcMuchCores) {
			continue
		}
		f := check.Finding{
			Severity: check.Info, Object: x.Ref(), Cost: gc.Part / 4,
			Message:  fmt.Sprintf("%s spends %s of its time on garbage collection", x.Name, bounded(gc)),
			Evidence: append([]check.Evidence{sampled("garbage collection", gc, x)}, cpuEvidence(x)...),
			Impact:   "So much of its processors does not work for requests, and requests are slowed down while it lasts.",
			Hint:     "kitescope profile pull --kind allocs-delta, and profile top, show who allocates; GOGC and GOMEMLIMIT trade memory for time",
		}
		if gc.Low >= gcTooMuch && x.CPU.Cores >= gcTooMuchCores {
			f.Severity = check.Warning
		}
		reportProfiled(p, f)
	}
	return nil
}
