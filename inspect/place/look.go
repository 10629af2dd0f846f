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

// part is a component with what is known of it.
type part struct {
	Status
	// roles are those of a process; nodes are its sessions as they were asked.
	roles   []Kind
	nodes   []*model.LiveNode
	process *model.Process
	window  *metrics.Window
	// past is what the process counted before the window; nil: unknown.
	past *metrics.Window
	host string
	// pace is how it answered its probes, nil: unknown. young reports that it started a moment ago.
	pace  *pace
	young bool
}

// settles is how long a process is busy with its start.
const settles = 2 * time.Minute

// see adds an observation. One of a process that has just started may have the start as its reason.
func (p *part) see(state State, strength Strength, text string) {
	if p.young && state.Bad() && state != Gone {
		strength = min(strength, Medium)
		text += ", just after its start"
	}
	p.Evidence = append(p.Evidence, Evidence{State: state, Strength: strength, Text: text})
}

// look holds the components of a cluster while they are judged.
type look struct {
	era
	c *model.Cluster
	// impact is what clients feel.
	impact *impact.Impact
	parts  []*part
	role   map[Kind][]*part
	hosts  map[string]*part
	index  map[*Status]*part
	// usual is the median time of calls to processes, 0 if none answered.
	usual time.Duration
}

// order is that of the roles by which a process is named.
func order() []Kind {
	return []Kind{"mixcoord", rootCoord, dataCoord, queryCoord, proxy, streaming, queryNode, dataNode, indexNode, "indexcoord"}
}

func newLook(c *model.Cluster) *look {
	l := &look{era: eraOf(c), c: c, role: map[Kind][]*part{}, hosts: map[string]*part{}, index: map[*Status]*part{}}
	at := map[any]*part{}
	sessions := slices.DeleteFunc(slices.Clone(c.Sessions), func(s *model.Session) bool { return s.Standby || s.Stopping })
	rank := func(s *model.Session) int {
		i := slices.Index(order(), Kind(s.Role))
		return (i + len(order()) + 1) % (len(order()) + 1) // what is not in the list comes last
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
			p.young = p.young || !at.IsZero() && c.Runtime.To.Sub(at) < settles
		}
		if n != nil && n.Process != nil && p.process == nil {
			p.process = n.Process
			if p.window = metrics.NewWindow(n.Process.Before, n.Process.Metrics); p.window != nil && !p.window.SinceStart {
				p.past = metrics.NewWindow(nil, n.Process.Before)
			}
		}
		if !slices.Contains(p.roles, Kind(s.Role)) {
			p.roles = append(p.roles, Kind(s.Role))
			l.role[Kind(s.Role)] = append(l.role[Kind(s.Role)], p)
		}
	}
	for _, p := range l.parts {
		p.pace = p.paced()
	}
	for _, k := range []Kind{Etcd, Queue, Storage} {
		l.role[k] = []*part{l.add(Component{Kind: k})}
	}
	return l
}

func (l *look) add(c Component) *part {
	p := &part{Status: Status{Component: c}}
	l.parts = append(l.parts, p)
	l.index[&p.Status] = p
	return p
}

// of returns the components of a kind. From 2.6 on MixCoord is all coordinators, before DataCoord is IndexCoord from 2.3 on.
func (l *look) of(k Kind) []*part {
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

func (l *look) partOf(s *Status) *part { return l.index[s] }

// HostOf returns the host of a session: its name, else the address.
func HostOf(s *model.Session) string {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		host = s.Address
	}
	return cmp.Or(s.HostName, host)
}
