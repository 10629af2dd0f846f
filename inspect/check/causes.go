package check

import (
	"slices"
	"strings"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// Shares returns a rule that holds if two findings mention a common object of a resource, e.g. a node or a
// collection.
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

// SevereCause returns a Cause that applies only if the other finding is more than Info. A state reported as Info
// may be over in a minute. applies may be nil.
func SevereCause(id string, applies func(*model.Cluster, *Finding, *Finding) bool) Cause {
	return Cause{id, func(c *model.Cluster, effect, cause *Finding) bool {
		return cause.Severity != Info && (applies == nil || applies(c, effect, cause))
	}}
}

// SharesProcess reports whether two findings mention one process, possibly by different sessions: a streaming
// node is also a query node.
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
	return slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool {
		return of[n.Process] && cause.Mentions(n.Ref())
	})
}

// Serves reports whether two findings mention one query node, or one mentions a query node and the other a
// collection that it serves according to etcd.
func Serves(c *model.Cluster, effect, cause *Finding) bool {
	return Shares("nodes")(c, effect, cause) || c != nil && (serves(c, effect, cause) || serves(c, cause, effect))
}

// serves reports whether nodeFinding mentions a query node in a replica of a collection that collectionFinding
// mentions.
func serves(c *model.Cluster, nodeFinding, collectionFinding *Finding) bool {
	return slices.ContainsFunc(c.Replicas, func(r *model.Replica) bool {
		return collectionFinding.Mentions(facts.RefCollection(c, r.Collection)) &&
			slices.ContainsFunc(r.Nodes, func(id model.NodeID) bool {
				return nodeFinding.Mentions(facts.RefNode("querynode", id))
			})
	})
}

// ClusterWideOr returns a rule for causes that are about the whole cluster or about single objects. A cause about the
// whole cluster explains everything. For other causes applies decides; if it is nil, they explain nothing.
func ClusterWideOr(
	applies func(*model.Cluster, *Finding, *Finding) bool,
) func(*model.Cluster, *Finding, *Finding) bool {
	return func(c *model.Cluster, effect, cause *Finding) bool {
		return cause.Object == model.Ref{} || applies != nil && applies(c, effect, cause)
	}
}

// AboutSettings returns a rule that holds if a finding of bad-switches is about one of the keys.
func AboutSettings(keys ...string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, _, cause *Finding) bool {
		about := model.FoldConfigKey(cause.Object.Name)
		return slices.ContainsFunc(keys, func(k string) bool { return model.FoldConfigKey(k) == about })
	}
}

// StorageFails returns the Cause for a storage that fails for processes of these roles.
func StorageFails(roles ...string) Cause {
	return Cause{"storage-failing", func(c *model.Cluster, _, cause *Finding) bool {
		if cause.Severity == Info {
			return false
		}
		return slices.ContainsFunc(append([]model.Ref{cause.Object}, cause.Objects...), func(ref model.Ref) bool {
			return slices.ContainsFunc(append(roles, "standalone"), func(role string) bool {
				return slices.ContainsFunc(c.Sessions, func(s *model.Session) bool {
					return s.Role == role && facts.RefNode(s.Role, s.Node).ID == ref.ID
				})
			})
		})
	}}
}

// StorageReadOnly returns the Cause for a read-only storage, if it is the cluster's own.
func StorageReadOnly() Cause {
	return Cause{"storage-read-only", func(_ *model.Cluster, _, cause *Finding) bool { return cause.Severity == Error }}
}

// SameResourceGroup reports whether two findings are about nodes or replicas of one resource group. It returns true
// if that is unknown.
func SameResourceGroup(c *model.Cluster, effect, cause *Finding) bool {
	a, b := resourceGroupOf(c, effect.Object), resourceGroupOf(c, cause.Object)
	return a == "" || b == "" || a == b
}

// resourceGroupOf returns the resource group of a query node or a replica, "" if unknown.
func resourceGroupOf(c *model.Cluster, ref model.Ref) string {
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

// explains reports whether a finding about a missing role explains the findings of a check. MixCoord has the
// roles of all coordinators.
func (f *Finding) explains(c *model.Cluster, x *Check) bool {
	return slices.ContainsFunc(x.Roles, func(role string) bool {
		switch f.MissingRole {
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

// missingRoleChecks returns the checks whose findings mean that no process does the work of a role.
func missingRoleChecks() []string {
	return []string{"role-missing", "node-unreachable", "stale-session"}
}

// StopsTicks reports whether an unresponsive process keeps RootCoord from sending time ticks. RootCoord waits
// for each registered proxy (internal/rootcoord/timeticksync.go, until 2.5).
func StopsTicks(_ *model.Cluster, _, cause *Finding) bool {
	return slices.ContainsFunc(append([]model.Ref{cause.Object}, cause.Objects...), func(r model.Ref) bool {
		return r.Resource == "nodes" && strings.HasPrefix(r.ID, "proxy-")
	})
}

// Mentions reports whether a finding is about an object or lists it in Objects.
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
