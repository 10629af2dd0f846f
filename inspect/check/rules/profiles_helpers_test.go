package rules_test

import (
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// profiled adds query nodes 21 to 24 with profiles of half a core each, and calls change to modify the profiles.
func profiled(change func(w *rulestest.World, list []*model.ProfiledProcess)) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.Profiles = &model.Profiles{From: w.Now.Add(-20 * time.Second), To: w.Now}
		for _, id := range []model.NodeID{21, 22, 23, 24} {
			w.Another("querynode", id)
			cpu := &model.CPUProfile{
				Period: 20 * time.Second, Samples: 1000, Cores: 0.5, Load: model.LoadEven, Others: 0.5, Peers: 3,
			}
			cpu.GC, cpu.LockWait, cpu.OpenMP, cpu.Knowhere = sampledPart(0.05), sampledPart(0.01), sampledPart(0.05),
				sampledPart(0.5)
			brute := sampledPart(0.05)
			cpu.BruteForce = &brute
			w.Profiles.Processes = append(w.Profiles.Processes, &model.ProfiledProcess{
				Name: "querynode-" + id.String(), Roles: []string{"querynode"}, Nodes: []model.NodeID{id}, CPU: cpu,
				Goroutines: &model.GoroutineDumps{
					Dumps: 2, From: w.Now.Add(-20 * time.Second), To: w.Now, Before: 500, After: 510,
				},
			})
		}
		for _, s := range w.Sessions {
			if s.Node < 21 || s.Node > 24 {
				w.Profiles.Processes = append(w.Profiles.Processes, &model.ProfiledProcess{
					Name: s.Name(), Roles: []string{s.Role}, Nodes: []model.NodeID{s.Node},
					CPU: &model.CPUProfile{
						Period: 20 * time.Second, Samples: 20, Cores: 0.01, BruteForce: &model.ProfileShare{High: 0.1},
					},
					Goroutines: &model.GoroutineDumps{Dumps: 2},
				})
			}
		}
		if change != nil {
			change(w, w.Profiles.Processes)
		}
	}
}

// sampledPart returns a share of a thousand samples with realistic bounds.
func sampledPart(v float64) model.ProfileShare {
	return model.ProfileShare{Samples: int64(1000 * v), Part: v, Low: max(0, v-0.03), High: min(1, v+0.03)}
}
