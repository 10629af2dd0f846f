package session

import (
	"net"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/profile/pull"
)

// ProfileTargets returns one target for each process of a cluster, regardless of its roles. It includes processes
// that cannot be profiled, with the reason in Unknown.
func ProfileTargets(c *model.Cluster) []pull.Target {
	versions := map[model.NodeID]string{}
	for _, s := range c.Sessions {
		versions[s.Node] = s.Version
	}
	type process struct {
		nodes []*model.LiveNode
		at    *model.Process
	}
	var list []*process
	byProcess, byID := map[*model.Process]*process{}, map[model.NodeID]*process{}
	for _, n := range c.Runtime.Nodes {
		p := byID[n.Node]
		if n.Process != nil {
			p = byProcess[n.Process]
		}
		if p == nil {
			p = &process{at: n.Process}
			list = append(list, p)
			if n.Process != nil {
				byProcess[n.Process] = p
			} else {
				byID[n.Node] = p
			}
		}
		p.nodes = append(p.nodes, n)
	}
	targets := make([]pull.Target, 0, len(list))
	for _, p := range list {
		t := pull.Target{Node: processName(p.nodes), Version: versions[p.nodes[0].Node]}
		if p.at != nil && p.at.Address != "" {
			t = pull.Process(t.Node, p.at.Address)
			t.Version = versions[p.nodes[0].Node]
		} else {
			t.Unknown = noPortReason(c.Runtime, p.nodes[0])
		}
		for _, n := range p.nodes {
			if !slices.Contains(t.Roles, n.Role) {
				t.Roles = append(t.Roles, n.Role)
			}
			if id := n.Node.String(); !slices.Contains(t.NodeIDs, id) {
				t.NodeIDs = append(t.NodeIDs, id)
			}
		}
		targets = append(targets, t)
	}
	return targets
}

// WithNamed adds targets given by URL. A URL that belongs to a process of the cluster replaces the target of
// the process and gets its name. A URL belongs to a process if it has the same host and port. For a process
// without a known address there are two more ways: the URL has the name or the role of the process, or it has
// no name and this is the only such process at its host.
func WithNamed(c *model.Cluster, targets, named []pull.Target) []pull.Target {
	hosts := map[string]string{} // host of each session by node id
	for _, s := range c.Sessions {
		if host, _, err := net.SplitHostPort(s.Address); err == nil {
			hosts[s.Node.String()] = host
		}
	}
	list := slices.Clone(targets)
	for i := range named {
		n := &named[i]
		at := processOf(list, n, hosts)
		switch {
		case at < 0:
			list = append(list, *n)
		case n.Only != "" && list[at].Unknown == "": // an additional profile of the process
			list = append(list, n.WithProcess(&list[at]))
		default:
			list[at] = n.WithProcess(&list[at])
		}
	}
	return list
}

// processOf returns the index of the process that a named URL belongs to, or -1 if that is ambiguous or there is
// none.
func processOf(list []pull.Target, n *pull.Target, hosts map[string]string) int {
	only := func(is func(t *pull.Target) bool) int {
		found := -1
		for i := range list {
			if len(list[i].NodeIDs) == 0 || !is(&list[i]) {
				continue
			}
			if found >= 0 {
				return -1
			}
			found = i
		}
		return found
	}
	for _, is := range []func(t *pull.Target) bool{
		func(t *pull.Target) bool { return t.SameAddress(n) },
		func(t *pull.Target) bool { return t.Unknown != "" && t.Node == n.Node },
		func(t *pull.Target) bool { return t.Unknown != "" && slices.Contains(t.Roles, n.Node) },
		func(t *pull.Target) bool {
			return t.Unknown != "" && n.Node == n.URL.Host &&
				slices.ContainsFunc(t.NodeIDs, func(id string) bool {
					return strings.EqualFold(hosts[id], n.URL.Hostname())
				})
		},
	} {
		if at := only(is); at >= 0 {
			return at
		}
	}
	return -1
}

// standaloneRoles is the minimum number of roles of a process that runs all of Milvus.
const standaloneRoles = 5

// processName returns the name of a process: its session, or the highest-ranked of its sessions.
func processName(nodes []*model.LiveNode) string {
	if len(nodes) >= standaloneRoles {
		return nodes[0].Node.Name("standalone")
	}
	chief := nodes[0]
	rank := func(n *model.LiveNode) int {
		// IndexCoord is DataCoord's second session up to 2.4 (internal/distributed/indexcoord).
		if i := slices.Index([]string{"indexcoord", "rootcoord", "querycoord", "datacoord", "mixcoord"}, n.Role); i >=
			0 {
			return i
		}
		return -1
	}
	for _, n := range nodes[1:] {
		if rank(n) > rank(chief) {
			chief = n
		}
	}
	return chief.Name()
}

// noPortReason returns the reason why the address of a session's HTTP server is unknown.
func noPortReason(r *model.Runtime, n *model.LiveNode) string {
	for _, s := range r.Skipped {
		if s.What == "metrics of "+n.Name() {
			return strings.Replace(s.Reason, ": name the port", ": pass --metrics-port, or its URL", 1)
		}
	}
	if n.Outcome != model.Answered {
		text := "the process did not report the address of its HTTP server: " + n.Outcome.String()
		if n.Reason != "" {
			text += " (" + n.Reason + ")"
		}
		return text
	}
	return "the process did not report the address of its HTTP server"
}
