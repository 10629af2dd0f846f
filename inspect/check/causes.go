package check

import (
	"slices"

	"kitescope/inspect/model"
)

// shares reports whether two findings speak of a common object of a resource: a node, a collection.
func shares(resource string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, effect, cause *Finding) bool {
		if effect.Object.Resource == resource && cause.mentions(effect.Object) {
			return true
		}
		for i := range effect.Objects {
			if effect.Objects[i].Resource == resource && cause.mentions(effect.Objects[i]) {
				return true
			}
		}
		return false
	}
}

// speaksOf reports whether a finding of bad-switches is about one of some keys.
func speaksOf(keys ...string) func(*model.Cluster, *Finding, *Finding) bool {
	return func(_ *model.Cluster, _, cause *Finding) bool {
		about := model.FoldConfigKey(cause.Object.Name)
		return slices.ContainsFunc(keys, func(k string) bool { return model.FoldConfigKey(k) == about })
	}
}

// storageFails is the cause that a storage is, which fails for processes of these roles.
func storageFails(roles ...string) Cause {
	return Cause{"storage-failing", func(c *model.Cluster, _, cause *Finding) bool {
		if cause.Severity == Info {
			return false
		}
		return slices.ContainsFunc(append([]model.Ref{cause.Object}, cause.Objects...), func(ref model.Ref) bool {
			return slices.ContainsFunc(append(roles, "standalone"), func(role string) bool {
				return slices.ContainsFunc(c.Sessions, func(s *model.Session) bool { return s.Role == role && refNode(s.Role, s.Node).ID == ref.ID })
			})
		})
	}}
}

// takesNoWrites is the cause that such a storage is, where it is the cluster's own.
func takesNoWrites() Cause {
	return Cause{"storage-read-only", func(_ *model.Cluster, _, cause *Finding) bool { return cause.Severity == Error }}
}

// inOneRegion reports whether two findings are about nodes or replicas of one resource group, as far as that is known.
func inOneRegion(c *model.Cluster, effect, cause *Finding) bool {
	a, b := regionOf(c, effect.Object), regionOf(c, cause.Object)
	return a == "" || b == "" || a == b
}

// regionOf is the resource group of a query node or a replica, "" if that is unknown.
func regionOf(c *model.Cluster, ref model.Ref) string {
	for _, g := range c.ResourceGroups {
		if slices.ContainsFunc(g.Nodes, func(id model.NodeID) bool { return ref == refNode("querynode", id) }) {
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

// isDown reports whether an outcome means that the session's own process is not there for anyone. What only
// kitescope may meet (no route, no credentials) does not.
func isDown(o model.Outcome) bool {
	switch o {
	case model.Refused, model.TimedOut, model.Stale, model.CutOff:
		return true
	default:
		return false
	}
}
