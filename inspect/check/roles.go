package check

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// role is a part of the work of a cluster that at least one process has to do.
type role struct {
	name string // of its sessions
	// from is the first version that has it, until the first that has it no more; zero: every version.
	from, until release
	// replaced is the role of later versions that does its work: while an upgrade rolls both are there.
	replaced string
}

// neededRoles are the roles of Milvus that a cluster cannot do without (cmd/roles and internal/util/typeutil/type.go of each version). From
// 2.3 on DataCoord registers as IndexCoord besides; from 2.6 on one process is all coordinators, data nodes build the
// indexes, and streaming nodes consume the channels and lead the shards. Standalone registers all of them, too.
func neededRoles() []role {
	united, indexed := release{2, 6}, release{2, 3}
	return []role{
		{name: "rootcoord", until: united, replaced: "mixcoord"},
		{name: "querycoord", until: united, replaced: "mixcoord"},
		{name: "datacoord", until: united, replaced: "mixcoord"},
		{name: "indexcoord", until: indexed},
		{name: "mixcoord", from: united},
		{name: "proxy"},
		{name: "querynode"},
		{name: "streamingnode", from: united},
		{name: "datanode"},
		{name: "indexnode", until: united, replaced: "mixcoord"},
	}
}

// needs reports whether the version that runs needs a role. Of an unknown version it is what all have, or have in others.
func needs(c *model.Cluster, r role) bool {
	runs := releaseOf(c)
	if !runs.known() {
		return r.from == release{} && r.until != release{2, 3}
	}
	return !runs.before(r.from) && (r.until == release{} || runs.before(r.until))
}

// needsRole is needs of a role's name.
func needsRole(c *model.Cluster, name string) bool {
	return slices.ContainsFunc(neededRoles(), func(r role) bool { return r.name == name && needs(c, r) })
}

// holders are the sessions that do the work of a role: no standby, and no query node that is part of a streaming
// node, which loads no segments.
func holders(c *model.Cluster, role string) []*model.Session {
	var list []*model.Session
	for _, s := range c.Sessions {
		if s.Role == role && !s.Standby && !(role == "querynode" && embedded(s)) {
			list = append(list, s)
		}
	}
	return list
}

// embedded reports whether a query node is part of a streaming node (2.6 and later).
func embedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(l model.Pair) bool { return strings.Contains(l.Key, "STREAMING-EMBEDDED") })
}

// dataNodesBuild reports whether data nodes build the indexes (2.6 and later).
func dataNodesBuild(c *model.Cluster) bool {
	return hasRole(c, "mixcoord") || hasRole(c, "streamingnode") || releaseOf(c).known() && !releaseOf(c).before(release{2, 6})
}
