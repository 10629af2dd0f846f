package load

import "time"

// Served is what the processes of a cluster told of their part in a point: what came to their metrics from before its sessions were
// opened until after its last round, the warm-up included.
type Served struct {
	Took     time.Duration // between the two scrapes
	Requests float64       `doc:",omitzero"` // searches that its proxies answered meanwhile, whoever asked
	// Client is the CPU that this process used meanwhile, asking.
	Client    time.Duration `doc:",omitzero"`
	Processes []Process
	// Phases are where the time of a mean search went, parents before their parts (inspect/latency).
	Phases []Phase
}

// Process is one process of the cluster.
type Process struct {
	Role string
	Node int64 `doc:"node_id,id"`
	Name string
	// Here is that it runs on this machine, and shares its cores with the client.
	Here  bool
	Cores float64 `doc:",omitzero"` // that it says it has; 0 unknown
	// CPU is what it used in the time of the point. Idle is how much of a core it used before, when nobody asked for the point; -1 unknown.
	CPU  time.Duration
	Idle float64 `doc:"idle_cores,unknown=-1"`
}

// Phase is a part of a mean search: Wait of it is what its client waits for. Nodes are the processes that it happens in.
type Phase struct {
	Name, Parent, Role string
	Wait               time.Duration
	Estimate           bool
	Nodes              []PhaseOf
}

// PhaseOf is one process's part in a phase: so many calls for one search, each of which takes so long, at least Low and at most High: up to 2.5
// Milvus cuts what it observes to whole milliseconds.
type PhaseOf struct {
	Node            int64 `doc:"node_id,id"`
	Calls           float64
	Each, Low, High time.Duration
}

// Find is the phase of that name that is waited for longest, nil if there is none.
func (s *Served) Find(name string) *Phase {
	var best *Phase
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Name == name && (best == nil || p.Wait > best.Wait) {
			best = p
		}
	}
	return best
}
