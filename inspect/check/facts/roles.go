package facts

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// Role is a part of the work of a cluster that at least one process has to do.
type Role struct {
	Name string // of its sessions
	// from is the first version that has it, until the first that has it no more; zero: every version.
	from, until Release
	// Replaced is the role of later versions that does its work: while an upgrade rolls both are there.
	Replaced string
}

// NeededRoles are the roles of Milvus that a cluster cannot do without (cmd/roles and internal/util/typeutil/type.go of each version). From
// 2.3 on DataCoord registers as IndexCoord besides; from 2.6 on one process is all coordinators, data nodes build the
// indexes, and streaming nodes consume the channels and lead the shards. Standalone registers all of them, too.
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

// Needs reports whether the version that runs needs a role. Of an unknown version it is what all have, or have in others.
func Needs(c *model.Cluster, r Role) bool {
	runs := ReleaseOf(c)
	if !runs.Known() {
		return r.from == Release{} && r.until != Release{2, 3}
	}
	return !runs.Before(r.from) && (r.until == Release{} || runs.Before(r.until))
}

// NeedsRole is needs of a role's name.
func NeedsRole(c *model.Cluster, name string) bool {
	return slices.ContainsFunc(NeededRoles(), func(r Role) bool { return r.Name == name && Needs(c, r) })
}

// Holders are the sessions that do the work of a role: no standby, and no query node that is part of a streaming
// node, which loads no segments.
func Holders(c *model.Cluster, role string) []*model.Session {
	return slices.DeleteFunc(Processes(c, role), func(s *model.Session) bool { return s.Standby })
}

// Processes are the sessions of a role, standbys too, without query nodes that are part of a streaming node.
func Processes(c *model.Cluster, role string) []*model.Session {
	var list []*model.Session
	for _, s := range c.Sessions {
		if s.Role == role && !(role == "querynode" && IsEmbedded(s)) {
			list = append(list, s)
		}
	}
	return list
}

// IsEmbedded reports whether a query node is part of a streaming node (2.6 and later).
func IsEmbedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(l model.Pair) bool { return strings.Contains(l.Key, "STREAMING-EMBEDDED") })
}

// DataNodesBuild reports whether data nodes build the indexes (2.6 and later).
func DataNodesBuild(c *model.Cluster) bool {
	return HasRole(c, "mixcoord") || HasRole(c, "streamingnode") || ReleaseOf(c).Known() && !ReleaseOf(c).Before(Release{2, 6})
}
