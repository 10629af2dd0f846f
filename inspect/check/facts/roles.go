package facts

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// Role is a part of the work of a cluster that needs at least one process.
type Role struct {
	Name string // the role name of its sessions
	// from is the first version that has the role, until the first that no longer has it. Zero means no bound.
	from, until Release
	// Replaced is the role of later versions that does the same work. During a rolling upgrade both exist.
	Replaced string
}

// NeededRoles returns the roles that a Milvus cluster needs (cmd/roles and internal/util/typeutil/type.go of each
// version). Since 2.3 DataCoord registers as IndexCoord, too. Since 2.6 one process is all coordinators, data nodes
// build the indexes, and streaming nodes consume the channels and lead the shards. Standalone registers all of
// these roles.
func NeededRoles() []Role {
	united, indexed := Release{2, 6}, Release{2, 3}
	return []Role{
		{Name: "rootcoord", until: united, Replaced: "mixcoord"},
		{Name: "querycoord", until: united, Replaced: "mixcoord"},
		{Name: "datacoord", until: united, Replaced: "mixcoord"},
		{Name: "indexcoord", until: indexed},
		{Name: "mixcoord", from: united},
		{Name: "proxy"},
		{Name: "querynode"},
		{Name: "streamingnode", from: united},
		{Name: "datanode"},
		{Name: "indexnode", until: united, Replaced: "mixcoord"},
	}
}

// Needs reports whether the running version needs a role. For an unknown version it returns true for the roles that
// every version has, possibly under another name.
func Needs(c *model.Cluster, r Role) bool {
	runs := ReleaseOf(c)
	if !runs.Known() {
		return r.from == Release{} && r.until != Release{2, 3}
	}
	return !runs.Before(r.from) && (r.until == Release{} || runs.Before(r.until))
}

// NeedsRole is like Needs, with the name of a role.
func NeedsRole(c *model.Cluster, name string) bool {
	return slices.ContainsFunc(NeededRoles(), func(r Role) bool { return r.Name == name && Needs(c, r) })
}

// Holders returns the sessions that do the work of a role. It excludes standbys, and query nodes embedded in a
// streaming node, because these load no segments.
func Holders(c *model.Cluster, role string) []*model.Session {
	return slices.DeleteFunc(Processes(c, role), func(s *model.Session) bool { return s.Standby })
}

// Processes returns the sessions of a role, including standbys, without query nodes embedded in a streaming node.
func Processes(c *model.Cluster, role string) []*model.Session {
	var list []*model.Session
	for _, s := range c.Sessions {
		if s.Role == role && !(role == "querynode" && IsEmbedded(s)) {
			list = append(list, s)
		}
	}
	return list
}

// IsEmbedded reports whether a query node is embedded in a streaming node (2.6 and later).
func IsEmbedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(l model.Pair) bool {
		return strings.Contains(l.Key, "STREAMING-EMBEDDED")
	})
}

// DataNodesBuild reports whether data nodes build the indexes (2.6 and later).
func DataNodesBuild(c *model.Cluster) bool {
	return HasRole(c, "mixcoord") || HasRole(c, "streamingnode") ||
		ReleaseOf(c).Known() && !ReleaseOf(c).Before(Release{2, 6})
}
