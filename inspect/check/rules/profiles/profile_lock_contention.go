package profiles

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// profileLockContention finds processes in which goroutines and threads wait for locks.
var profileLockContention = &check.Check{
	ID:       "profile-lock-contention",
	Title:    "Goroutines or threads wait for locks",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `Two things tell. In CPU profiles, time in the slow paths of locks: sync.Mutex and RWMutex (lockSlow, semacquire), what the runtime's own locks do when they are taken (spin, yield, sleep), and lll_lock_wait of the C library. Nobody is there who finds
a lock free. Information from 5% of the time of a process that uses half a core, a warning from 15% on; the lower bound of the share counts (95%).

In mutex profiles over a window (` + "`mutex-delta`" + `), how long goroutines waited: information if on average one waited at any time, a warning from ten on. Most processes do not record this
(runtime.SetMutexProfileFraction is 0 unless they set it, as in Milvus): an empty profile says nothing, and is not taken for "no contention".

Waiting costs no processor time. A process can stand still at a lock, use nothing, and show nothing in a CPU profile: goroutine dumps do (` + "`kitescope profile pull --kind goroutine`" + `).`,
	Remedy: `` + "`kitescope profile peek lockSlow FILE`" + ` shows who calls. In Milvus that is most often a single hot collection or channel; spread it over more shards or replicas. Contention in the runtime's locks grows with the number of processors: a
GOMAXPROCS as large as the container's CPU limit (automatic since Go 1.25) helps.`,
	Needs:       check.NeedProfiles,
	Run:         runProfileLocks,
	FollowsFrom: []check.Cause{{Check: "cpu-skew", Of: ofProcess}},
}

func runProfileLocks(p *check.Pass) error {
	list := profiled(p, "CPU", hasCPUProfile)
	var waited []*model.ProfiledProcess
	for _, x := range p.Profiles.Processes {
		if x.Mutex != nil && x.Mutex.On && !profiledGone(p, x) {
			waited = append(waited, x)
			if !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	if len(list) == 0 {
		return p.Skip("no CPU profile was pulled, and no mutex profile with anything in it")
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
		f.Impact = "Requests that need the lock wait for each other, however many processors are free."
		f.Hint = "kitescope profile peek lockSlow FILE shows who waits for what"
		reportProfiled(p, f)
	}
	return nil
}

// lockTime judges the processor time that waiting takes.
func lockTime(f *check.Finding, x *model.ProfiledProcess) {
	share := x.CPU.LockWait
	if !(share.Low >= lockMuch && x.CPU.Cores >= lockCores) {
		return
	}
	f.Message = fmt.Sprintf("%s spends %s of its time in the slow paths of locks", x.Name, bounded(share))
	f.Cost = share.Part / 2
	f.Evidence = append([]check.Evidence{sampled("waiting for locks", share, x)}, cpuEvidence(x)...)
	if share.Low >= lockTooMuch {
		f.Severity = check.Warning
	}
}

// lockWaits judges how long goroutines waited.
func lockWaits(f *check.Finding, x *model.ProfiledProcess) {
	m := x.Mutex
	if !(m.Waiting >= waitingMuch) {
		return
	}
	text := fmt.Sprintf("%.1f goroutines of it wait for mutexes at a time, on average", m.Waiting)
	if f.Message == "" {
		f.Message = fmt.Sprintf("%s: %s", x.Name, text)
	} else {
		f.Message += "; " + text
	}
	f.Evidence = append(f.Evidence, check.Measured("goroutines that wait, on average", x.Name+" mutex profile", "%s over %s", check.Number(m.Waiting, "count", "%.1f"), check.Span(m.Over)))
	for _, w := range m.Where {
		f.Evidence = append(f.Evidence, check.Measured("held up by", x.Name+" mutex profile", "%s (%s)", w.Function, check.Part(w.Part)))
	}
	if m.Waiting >= waitingTooMuch {
		f.Severity = check.Warning
	}
}
