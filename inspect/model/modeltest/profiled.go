package modeltest

import (
	"time"

	"kitescope/inspect/model"
)

// profiles returns normal profiles of all processes: twenty seconds of CPU and two goroutine dumps.
func (p *largeServed) profiles() *model.Profiles {
	const samples = 3000
	share := func(part float64) model.ProfileShare {
		return model.ProfileShare{Samples: int64(samples * part), Part: part, Low: part * 0.9, High: part * 1.1}
	}
	profiles := &model.Profiles{From: Now.Add(-20 * time.Second), To: Now}
	for _, s := range p.Sessions {
		cpu := &model.CPUProfile{
			Period: 20 * time.Second, Samples: samples, Cores: 1.5, Load: model.LoadEven, Others: 1.5, Peers: 3,
			GC: share(0.06), LockWait: share(0.005), OpenMP: share(0.05), Knowhere: share(0.5),
		}
		brute := share(0.04)
		cpu.BruteForce = &brute
		profiles.Processes = append(profiles.Processes, &model.ProfiledProcess{
			Name: s.Name(), Roles: []string{s.Role}, Nodes: []model.NodeID{s.Node}, CPU: cpu,
			Goroutines: &model.GoroutineDumps{
				Dumps: 2, From: Now.Add(-20 * time.Second), To: Now, Before: 800, After: 810,
			},
		})
	}
	return profiles
}
