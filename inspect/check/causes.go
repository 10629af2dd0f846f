package check

import (
	"slices"
	"strings"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// Shares reports whether two findings speak of a common object of a resource: a node, a collection.
func Shares(resource string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, effect, cause *Finding) bool {
		if effect.Object.Resource == resource && cause.Mentions(effect.Object) {
			return true
		}
		for i := range effect.Objects {
			if effect.Objects[i].Resource == resource && cause.Mentions(effect.Objects[i]) {
				return true
			}
		}
		return false
	}
}

// Grave is a cause that a check's finding is where it is more than info: an info is under way, and may be over in a minute. of may be nil.
func Grave(id string, of func(*model.Cluster, *Finding, *Finding) bool) Cause {
	return Cause{id, func(c *model.Cluster, effect, cause *Finding) bool {
		return cause.Severity != Info && (of == nil || of(c, effect, cause))
	}}
}

// SharesProcess reports whether two findings speak of one process, be it by different sessions of it: a streaming node is a query node, too.
func SharesProcess(c *model.Cluster, effect, cause *Finding) bool {
	if Shares("nodes")(c, effect, cause) {
		return true
	}
	if c == nil || c.Runtime == nil {
		return false
	}
	of := map[*model.Process]bool{}
	for _, n := range c.Runtime.Nodes {
		if n.Process != nil && effect.Mentions(n.Ref()) {
			of[n.Process] = true
		}
	}
	return slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool { return of[n.Process] && cause.Mentions(n.Ref()) })
}

// Serves reports whether two findings speak of one query node, or one of a query node and the other of a collection that etcd says it serves.
func Serves(c *model.Cluster, effect, cause *Finding) bool {
	return Shares("nodes")(c, effect, cause) || c != nil && (serves(c, effect, cause) || serves(c, cause, effect))
}

// serves reports whether a finding speaks of a node of a replica of a collection that another speaks of.
func serves(c *model.Cluster, of, what *Finding) bool {
	return slices.ContainsFunc(c.Replicas, func(r *model.Replica) bool {
		return what.Mentions(facts.RefCollection(c, r.Collection)) &&
			slices.ContainsFunc(r.Nodes, func(id model.NodeID) bool { return of.Mentions(facts.RefNode("querynode", id)) })
	})
}

// OfAll is a rule for causes that are about the whole cluster, or about one of its nodes: the former explains everything, the latter what of
// says, nothing if that is nil.
func OfAll(of func(*model.Cluster, *Finding, *Finding) bool) func(*model.Cluster, *Finding, *Finding) bool {
	return func(c *model.Cluster, effect, cause *Finding) bool {
		return cause.Object == model.Ref{} || of != nil && of(c, effect, cause)
	}
}

// SpeaksOf reports whether a finding of bad-switches is about one of some keys.
func SpeaksOf(keys ...string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, _, cause *Finding) bool {
		about := model.FoldConfigKey(cause.Object.Name)
		return slices.ContainsFunc(keys, func(k string) bool { return model.FoldConfigKey(k) == about })
	}
}

// StorageFails is the cause that a storage is, which fails for processes of these roles.
func StorageFails(roles ...string) Cause {
	return Cause{"storage-failing", func(c *model.Cluster, _, cause *Finding) bool {
		if cause.Severity == Info {
			return false
		}
		return slices.ContainsFunc(append([]model.Ref{cause.Object}, cause.Objects...), func(ref model.Ref) bool {
			return slices.ContainsFunc(append(roles, "standalone"), func(role string) bool {
				return slices.ContainsFunc(c.Sessions, func(s *model.Session) bool { return s.Role == role && facts.RefNode(s.Role, s.Node).ID == ref.ID })
			})
		})
	}}
}

// TakesNoWrites is the cause that such a storage is, where it is the cluster's own.
func TakesNoWrites() Cause {
	return Cause{"storage-read-only", func(_ *model.Cluster, _, cause *Finding) bool { return cause.Severity == Error }}
}

// InOneRegion reports whether two findings are about nodes or replicas of one resource group, as far as that is known.
func InOneRegion(c *model.Cluster, effect, cause *Finding) bool {
	a, b := regionOf(c, effect.Object), regionOf(c, cause.Object)
	return a == "" || b == "" || a == b
}

// regionOf is the resource group of a query node or a replica, "" if that is unknown.
func regionOf(c *model.Cluster, ref model.Ref) string {
	for _, g := range c.ResourceGroups {
		if slices.ContainsFunc(g.Nodes, func(id model.NodeID) bool { return ref == facts.RefNode("querynode", id) }) {
			return g.Name
		}
	}
	for _, r := range c.Replicas {
		if ref.Resource == "replicas" && ref.ID == r.ID.String() {
			return r.ResourceGroup
		}
	}
	return ""
}

// explains reports whether what a check finds follows from it that nobody does the work of a role. MixCoord is all coordinators.
func (f *Finding) explains(c *model.Cluster, x *Check) bool {
	return slices.ContainsFunc(x.Roles, func(role string) bool {
		switch f.Lacks {
		case role, WholeCluster:
			return true
		case "mixcoord":
			return strings.HasSuffix(role, "coord")
		case "datanode":
			return role == "indexnode" && facts.DataNodesBuild(c)
		}
		return false
	})
}

// lackChecks are the checks that find that nobody does the work of a role.
func lackChecks() []string { return []string{"role-missing", "node-unreachable", "stale-session"} }

// StopsTicks reports whether a process that does not answer keeps RootCoord from sending time ticks: it waits for each
// registered proxy (internal/rootcoord/timeticksync.go, until 2.5).
func StopsTicks(_ *model.Cluster, _, cause *Finding) bool {
	return slices.ContainsFunc(append([]model.Ref{cause.Object}, cause.Objects...), func(r model.Ref) bool { return r.Resource == "nodes" && strings.HasPrefix(r.ID, "proxy-") })
}

// Mentions reports whether a finding is about an object, or speaks of it.
func (f *Finding) Mentions(ref model.Ref) bool {
	if f.Object.Resource == ref.Resource && f.Object.ID == ref.ID {
		return true
	}
	for i := range f.Objects {
		if f.Objects[i].Resource == ref.Resource && f.Objects[i].ID == ref.ID {
			return true
		}
	}
	return false
}
