package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
)

// profiled adds query nodes 21 to 24 with profiles of half a core each, and lets change what they say.
func profiled(change func(w *world, list []*model.ProfiledProcess)) func(*world) {
	return func(w *world) {
		w.Profiles = &model.Profiles{From: w.now.Add(-20 * time.Second), To: w.now}
		for _, id := range []model.NodeID{21, 22, 23, 24} {
			w.another("querynode", id)
			cpu := &model.CPUProfile{Over: 20 * time.Second, Samples: 1000, Cores: 0.5, Load: model.LoadEven, Others: 0.5, Peers: 3}
			cpu.GC, cpu.LockWait, cpu.OpenMP, cpu.Knowhere = sampledPart(0.05), sampledPart(0.01), sampledPart(0.05), sampledPart(0.5)
			brute := sampledPart(0.05)
			cpu.BruteForce = &brute
			w.Profiles.Processes = append(w.Profiles.Processes, &model.ProfiledProcess{
				Name: "querynode-" + id.String(), Roles: []string{"querynode"}, Nodes: []model.NodeID{id}, CPU: cpu,
				Goroutines: &model.GoroutineDumps{Dumps: 2, From: w.now.Add(-20 * time.Second), To: w.now, Before: 500, After: 510},
			})
		}
		for _, s := range w.Sessions {
			if s.Node < 21 || s.Node > 24 {
				w.Profiles.Processes = append(w.Profiles.Processes, &model.ProfiledProcess{
					Name: s.Name(), Roles: []string{s.Role}, Nodes: []model.NodeID{s.Node},
					CPU:        &model.CPUProfile{Over: 20 * time.Second, Samples: 20, Cores: 0.01, BruteForce: &model.ProfileShare{High: 0.1}},
					Goroutines: &model.GoroutineDumps{Dumps: 2},
				})
			}
		}
		if change != nil {
			change(w, w.Profiles.Processes)
		}
	}
}

// sampledPart is a share of a thousand samples, with bounds about as wide as they are.
func sampledPart(v float64) model.ProfileShare {
	return model.ProfileShare{Samples: int64(1000 * v), Part: v, Low: max(0, v-0.03), High: min(1, v+0.03)}
}

func TestProfileIdleNode(t *testing.T) {
	idle := func(x *model.ProfiledProcess, l model.ProfileLoad, cores float64) { x.CPU.Load, x.CPU.Cores = l, cores }
	hold(t, named("profile-idle-node"), []verdict{
		{name: "none pulled", skipped: "profiles were not pulled"},
		{name: "even", change: profiled(nil)},
		{name: "idle", change: profiled(func(_ *world, list []*model.ProfiledProcess) { idle(list[1], model.LoadIdle, 0.01) }), want: []string{
			"warning nodes/querynode-22 querynode-22 is idle: it uses 0.01 cores, the other 3 query nodes use 0.50 on average",
		}},
		{name: "low", change: profiled(func(_ *world, list []*model.ProfiledProcess) { idle(list[1], model.LoadLow, 0.1) }), want: []string{
			"info nodes/querynode-22 is nearly idle",
		}},
		{name: "stopping", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Sessions[len(w.Sessions)-3].Stopping = true
		})},
		{name: "just started", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			for _, n := range w.asked().Nodes {
				if n.Node == 22 {
					n.System.StartedAt = w.now.Add(-time.Minute)
				}
			}
		}), want: []string{"info nodes/querynode-22 is idle"}},
		{name: "its profile failed", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			list[1].CPU, list[1].CPUReason = nil, "timed out"
		}), skipped: "CPU profile of querynode-22: timed out"},
		{name: "one has none", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			w.Profiles.Processes = list[1:]
		}), skipped: "profile of querynode-21: not taken"},
		{name: "a file is broken", change: profiled(func(w *world, _ []*model.ProfiledProcess) {
			w.Profiles.Problems = []string{"querynode-21.cpu.pb.gz: cut off"}
		}), skipped: "querynode-21.cpu.pb.gz: cut off"},
		{name: "gone meanwhile", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0)
			list[1].Nodes = []model.NodeID{99}
			list[1].Name = "querynode-99"
		}), skipped: "profile of querynode-22: not taken"},
		{name: "a while ago", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.now.Add(-21*time.Minute), w.now.Add(-20*time.Minute)
		}), want: []string{"warning nodes/querynode-22 is idle"}},
		{name: "yesterday", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.now.Add(-25*time.Hour), w.now.Add(-24*time.Hour)
		}), want: []string{"info nodes/querynode-22 is idle"}},
		{name: "long after", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.now.Add(24*time.Hour), w.now.Add(25*time.Hour)
		}), want: []string{"info nodes/querynode-22 is idle"}},
		{name: "no duration", change: profiled(func(_ *world, list []*model.ProfiledProcess) { list[1].CPU.Load = model.LoadUnknown }), skipped: "does not tell how long"},
	})
}

func TestProfileBruteForce(t *testing.T) {
	brute := func(x *model.ProfiledProcess, v float64) { s := sampledPart(v); x.CPU.BruteForce = &s }
	hold(t, named("profile-brute-force-share"), []verdict{
		{name: "even", change: profiled(nil)},
		{name: "one far above", change: profiled(func(_ *world, list []*model.ProfiledProcess) { brute(list[2], 0.4) }), want: []string{
			"warning nodes/querynode-23 querynode-23 spends 40% (37.0 to 43%) of its time on brute force, the others at most 5%",
		}},
		{name: "one a little above", change: profiled(func(_ *world, list []*model.ProfiledProcess) { brute(list[2], 0.13) })},
		{name: "all high", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			for _, x := range list[:4] {
				brute(x, 0.7)
			}
		}), want: []string{"warning nodes/querynode-21", "warning nodes/querynode-22", "warning nodes/querynode-23", "warning nodes/querynode-24"}},
		{name: "all high by design", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			for _, x := range list[:4] {
				brute(x, 0.7)
			}
			for _, i := range w.Indexes {
				i.Type = "FLAT"
			}
		}), want: []string{"info nodes/querynode-21", "info nodes/querynode-22", "info nodes/querynode-23", "info nodes/querynode-24"}},
		{name: "high of almost nothing", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			brute(list[2], 0.9)
			list[2].CPU.Cores = 0.02
		})},
		{name: "not known of one", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			list[0].CPU.BruteForce, list[0].CPU.BruteReason = nil, "libknowhere has no symbols"
			brute(list[2], 0.4)
		}), skipped: "brute force on querynode-21: libknowhere has no symbols"},
		{name: "through OpenMP", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			for _, x := range list[:4] {
				x.CPU.BruteForce, x.CPU.BruteReason = nil, "libknowhere has no symbols"
			}
			list[3].CPU.OpenMP = sampledPart(0.6)
		}), want: []string{"info nodes/querynode-24 on brute force or IVF (search through OpenMP), the others at most 5%"}},
	})
}

func TestProfileGC(t *testing.T) {
	gc := func(x *model.ProfiledProcess, v, cores float64) { x.CPU.GC, x.CPU.Cores = sampledPart(v), cores }
	hold(t, named("profile-gc-share"), []verdict{
		{name: "little", change: profiled(nil)},
		{name: "much", change: profiled(func(_ *world, list []*model.ProfiledProcess) { gc(list[0], 0.3, 1.5) }), want: []string{"info nodes/querynode-21 spends 30% (27.0 to 33%)"}},
		{name: "too much", change: profiled(func(_ *world, list []*model.ProfiledProcess) { gc(list[0], 0.5, 1.5) }), want: []string{"warning nodes/querynode-21"}},
		{name: "too much of little", change: profiled(func(_ *world, list []*model.ProfiledProcess) { gc(list[0], 0.5, 0.3) })},
		{name: "perhaps much", change: profiled(func(_ *world, list []*model.ProfiledProcess) { gc(list[0], 0.27, 1.5) })},
	})
}

func TestProfileLocks(t *testing.T) {
	hold(t, named("profile-lock-contention"), []verdict{
		{name: "none", change: profiled(nil)},
		{name: "some", change: profiled(func(_ *world, list []*model.ProfiledProcess) { list[0].CPU.LockWait = sampledPart(0.1) }), want: []string{"info nodes/querynode-21 spends 10%"}},
		{name: "much", change: profiled(func(_ *world, list []*model.ProfiledProcess) { list[0].CPU.LockWait = sampledPart(0.3) }), want: []string{"warning nodes/querynode-21 spends 30%"}},
		{name: "waiting", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			list[0].Mutex = &model.MutexProfile{On: true, Over: time.Second, Waiting: 20, Where: []model.WaitPlace{{Function: "main.hot", Part: 1}}}
		}), want: []string{"warning nodes/querynode-21 20.0 goroutines wait for mutexes"}},
		{name: "not recorded", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			list[0].Mutex = &model.MutexProfile{Over: time.Second}
		})},
		{name: "mutex profiles alone", change: profiled(func(w *world, list []*model.ProfiledProcess) {
			for _, x := range list {
				x.CPU = nil
			}
			list[0].Mutex = &model.MutexProfile{Over: time.Second}
		}), skipped: "no mutex profile with anything in it"},
	})
}

func TestProfileLeak(t *testing.T) {
	grow := func(x *model.ProfiledProcess, dumps int, over time.Duration, before, after int64) {
		d := x.Goroutines
		d.Dumps, d.From = dumps, d.To.Add(-over)
		d.Grown = []model.GrownStack{{Function: "main.leaky", Entry: "main.start", Frames: []string{"runtime.gopark", "main.leaky"}, Before: before, After: after, Steady: true, P: 1e-9}}
	}
	hold(t, named("profile-goroutine-leak"), []verdict{
		{name: "none", change: profiled(nil)},
		{name: "two dumps", change: profiled(func(_ *world, list []*model.ProfiledProcess) { grow(list[0], 2, time.Hour, 10, 500) }), want: []string{
			"info nodes/querynode-21 goroutines in main.leaky grew from 10 to 500 in 60 min",
		}},
		{name: "more and more", change: profiled(func(_ *world, list []*model.ProfiledProcess) { grow(list[0], 4, time.Hour, 10, 500) }), want: []string{"warning nodes/querynode-21"}},
		{name: "a few seconds", change: profiled(func(_ *world, list []*model.ProfiledProcess) { grow(list[0], 4, time.Second, 10, 500) }), want: []string{"info nodes/querynode-21"}},
		{name: "very many", change: profiled(func(_ *world, list []*model.ProfiledProcess) { grow(list[0], 2, time.Second, 10, 20_000) }), want: []string{"warning nodes/querynode-21"}},
		{name: "a burst", change: profiled(func(_ *world, list []*model.ProfiledProcess) { grow(list[0], 2, time.Hour, 10, 90) })},
		{name: "counted once", change: profiled(func(_ *world, list []*model.ProfiledProcess) {
			for _, x := range list {
				x.Goroutines.Dumps = 1
			}
		}), skipped: "two goroutine profiles"},
	})
}
