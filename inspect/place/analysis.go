package place

import (
	"cmp"
	"net"
	"slices"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// part is a component and the data about it.
type part struct {
	Status
	// roles are the roles of a process, and nodes its sessions with their responses.
	roles   []Kind
	nodes   []*model.LiveNode
	process *model.Process
	window  *metrics.Window
	// past holds the metrics of the process before the window. nil is unknown.
	past *metrics.Window
	host string
	// probes summarizes the probes of the process. nil is unknown. justStarted is true if the process started less
	// than settles ago.
	probes      *probeStats
	justStarted bool
}

// startupTime is the time for which a process is busy after its start.
const startupTime = 2 * time.Minute

// addEvidence adds evidence. It is at most medium for a process that has just started, because the start may be the
// reason, unless the process is gone.
func (p *part) addEvidence(state State, strength Strength, text string) {
	if p.justStarted && state.Bad() && state != Gone {
		strength = min(strength, Medium)
		text += ", just after its start"
	}
	p.Evidence = append(p.Evidence, Evidence{State: state, Strength: strength, Text: text})
}

// analysis holds the components of a cluster while they are judged.
type analysis struct {
	architecture
	c *model.Cluster
	// impact holds the state of each kind of request.
	impact *impact.Impact
	parts  []*part
	role   map[Kind][]*part
	hosts  map[string]*part
	index  map[*Status]*part
	// medianCall is the median duration of calls to processes, or 0 if none responded.
	medianCall time.Duration
}

// order returns the roles in the order of their precedence. A process is named after its first role.
func order() []Kind {
	return []Kind{
		"mixcoord", rootCoord, dataCoord, queryCoord, proxy, streaming, queryNode, dataNode, indexNode, "indexcoord",
	}
}

func newAnalysis(c *model.Cluster) *analysis {
	l := &analysis{
		architecture: architectureOf(c), c: c, role: map[Kind][]*part{}, hosts: map[string]*part{},
		index: map[*Status]*part{},
	}
	at := map[any]*part{}
	sessions := slices.DeleteFunc(slices.Clone(c.Sessions), func(s *model.Session) bool {
		return s.Standby || s.Stopping
	})
	rank := func(s *model.Session) int {
		i := slices.Index(order(), Kind(s.Role))
		return (i + len(order()) + 1) % (len(order()) + 1) // roles that are not in the list come last
	}
	slices.SortStableFunc(sessions, func(a, b *model.Session) int { return cmp.Compare(rank(a), rank(b)) })
	for _, s := range sessions {
		var n *model.LiveNode
		if c.Runtime != nil {
			n = c.Runtime.LiveNode(s.Role, s.Node)
		}
		var key any = s.Address
		if n != nil && n.Process != nil {
			key = n.Process
		}
		p := at[key]
		if p == nil || s.Address == "" {
			p = l.add(Component{Kind(s.Role), s.Name()})
			p.host = HostOf(s)
			at[key] = p
		}
		if n != nil {
			p.nodes = append(p.nodes, n)
			at := n.StartedAt()
			p.justStarted = p.justStarted || !at.IsZero() && c.Runtime.To.Sub(at) < startupTime
		}
		if n != nil && n.Process != nil && p.process == nil {
			p.process = n.Process
			if p.window = metrics.NewWindow(n.Process.Before, n.Process.Metrics); p.window != nil &&
				!p.window.SinceStart {
				p.past = metrics.NewWindow(nil, n.Process.Before)
			}
		}
		if !slices.Contains(p.roles, Kind(s.Role)) {
			p.roles = append(p.roles, Kind(s.Role))
			l.role[Kind(s.Role)] = append(l.role[Kind(s.Role)], p)
		}
	}
	for _, p := range l.parts {
		p.probes = p.summarizeProbes()
	}
	for _, k := range []Kind{Etcd, Queue, Storage} {
		l.role[k] = []*part{l.add(Component{Kind: k})}
	}
	return l
}

func (l *analysis) add(c Component) *part {
	p := &part{Status: Status{Component: c}}
	l.parts = append(l.parts, p)
	l.index[&p.Status] = p
	return p
}

// components returns the components of a kind. From 2.6 on, MixCoord is all coordinators. From 2.3 to 2.5, DataCoord
// is also IndexCoord.
func (l *analysis) components(k Kind) []*part {
	list := l.role[k]
	switch k {
	case rootCoord, dataCoord, queryCoord, "indexcoord":
		if len(list) == 0 {
			list = l.role["mixcoord"]
		}
	default:
	}
	return list
}

func (l *analysis) partOf(s *Status) *part { return l.index[s] }

// HostOf returns the host of a session: its host name, or the host of its address if it has none.
func HostOf(s *model.Session) string {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		host = s.Address
	}
	return cmp.Or(s.HostName, host)
}
