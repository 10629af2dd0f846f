package rules

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// profileLockContention finds processes with goroutines or threads that wait for locks.
var profileLockContention = &check.Check{
	ID:       "profile-lock-contention",
	Title:    "Goroutines or threads wait for locks",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "collection_loaded node_joined | task_created",
	Doc: `Goroutines wait for a lock. The check uses two sources. In CPU profiles, time in the slow paths of locks:
sync.Mutex and RWMutex (lockSlow, semacquire), the runtime's own locks when taken (spin, yield, sleep), and
lll_lock_wait of the C library. A free lock never gets there. Info from 5% of the time of a process that uses half a
core, warning from 15%; the lower bound of the share counts (95%).

In mutex profiles over a window (` + "`mutex-delta`" + `), the time that goroutines waited: info if on average one
waited at any time, warning from ten. Most processes do not record this (runtime.SetMutexProfileFraction is 0 unless
set, as in Milvus): an empty profile does not prove "no contention".

A process stuck at a lock uses no CPU and shows nothing in a CPU profile. Goroutine dumps show it
(` + "`kitescope profile pull --kind goroutine`" + `).`,
	Remedy: `Run ` + "`kitescope profile flame FILE --focus lockSlow`" + ` to see the callers. In Milvus that is usually
a single hot collection or channel: spread it over more shards or replicas. Contention in the runtime's locks grows
with the number of CPUs: set GOMAXPROCS to the container's CPU limit (automatic since Go 1.25).`,
	Needs:       check.NeedProfiles,
	Run:         runProfileLocks,
	FollowsFrom: []check.Cause{{Check: "cpu-skew", Applies: ofProcess}},
}

func runProfileLocks(p *check.Pass) {
	list := profiled(p, "CPU", hasCPUProfile)
	var waited []*model.ProfiledProcess
	for _, x := range p.Profiles.Processes {
		if x.Mutex != nil && x.Mutex.Enabled && !profiledGone(p, x) {
			waited = append(waited, x)
			if !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	if len(list) == 0 {
		p.Skip("no CPU profile, and no mutex profile with samples")
		return
	}
	for _, x := range list {
		f := check.Finding{Severity: check.Info, Object: x.Ref()}
		if x.CPU != nil {
			lockTime(&f, x)
		}
		if slices.Contains(waited, x) {
			lockWaits(&f, x)
		}
		if f.Message == "" {
			continue
		}
		f.Impact = "Requests that need the lock wait for each other, even with CPUs free."
		f.Fix = check.Fix(
			check.Shell(onNode(inProfiles(p, check.Kitescope("profile flame --focus lockSlow")), x)).
				Does("shows who waits for which lock: usually that of a single hot collection or channel"),
			check.Do("spread that collection over more shards or replicas").
				Interrupting(0, "its searches while it is reloaded"),
		)
		reportProfiled(p, f)
	}
}

// lockTime rates the CPU time spent waiting for locks, and fills the finding if it is large.
func lockTime(f *check.Finding, x *model.ProfiledProcess) {
	share := x.CPU.LockWait
	if !(share.Low >= lockInfo && x.CPU.Cores >= lockCores) {
		return
	}
	f.Message = fmt.Sprintf("%s spends %s of its time waiting for locks", x.Name, bounded(share))
	f.Cost = share.Part / 2
	f.Evidence = append([]check.Evidence{sampled("waiting for locks", share, x)}, cpuEvidence(x)...)
	if share.Low >= lockWarning {
		f.Severity = check.Warning
	}
}

// lockWaits rates the mean number of goroutines that wait for mutexes, and fills the finding if it is large.
func lockWaits(f *check.Finding, x *model.ProfiledProcess) {
	m := x.Mutex
	if !(m.Waiting >= waitingInfo) {
		return
	}
	text := fmt.Sprintf("%.1f goroutines wait for mutexes on average", m.Waiting)
	if f.Message == "" {
		f.Message = fmt.Sprintf("%s: %s", x.Name, text)
	} else {
		f.Message += "; " + text
	}
	f.Evidence = append(f.Evidence,
		check.Factf("goroutines waiting on average", x.Name+" mutex profile", "%s over %s",
			check.Number(m.Waiting, "count", "%.1f"), check.Span(m.Period)))
	for _, w := range m.Where {
		f.Evidence = append(f.Evidence,
			check.Factf("held up by", x.Name+" mutex profile", "%s (%s)", w.Function, check.Percent(w.Part)))
	}
	if m.Waiting >= waitingWarning {
		f.Severity = check.Warning
	}
}
