package place

import (
	"cmp"
	"net"
	"slices"

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
}

// see adds an observation.
func (p *part) see(state State, strength Strength, text string) {
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
			p.host = cmp.Or(s.HostName, hostOf(s.Address))
			at[key] = p
		}
		if n != nil {
			p.nodes = append(p.nodes, n)
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

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
