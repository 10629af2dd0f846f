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

// missingRoles are the needed roles of which nobody is registered.
func missingRoles(c *model.Cluster) []string {
	var list []string
	for _, r := range neededRoles() {
		if needs(c, r) && len(holders(c, r.name)) == 0 && (r.replaced == "" || len(holders(c, r.replaced)) == 0) {
			list = append(list, r.name)
		}
	}
	return list
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

// standbys are the sessions that wait for the place of a coordinator.
func standbys(c *model.Cluster, role string) []*model.Session {
	var list []*model.Session
	for _, s := range c.Sessions {
		if s.Role == role && s.Standby {
			list = append(list, s)
		}
	}
	return list
}

// embedded reports whether a query node is part of a streaming node (2.6 and later).
func embedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(l model.Pair) bool { return strings.Contains(l.Key, "STREAMING-EMBEDDED") })
}

// others are the sessions that take over from one of a role: those that do not say that they cannot.
func (p *Pass) others(role string, id model.NodeID) []*model.Session {
	var list []*model.Session
	for _, s := range slices.Concat(holders(p.Cluster, role), standbys(p.Cluster, role)) {
		n := p.Runtime.LiveNode(role, s.Node)
		if s.Node == id || s.Stopping || n != nil && (isDown(n.Outcome) || n.Outcome == model.OtherCluster) {
			continue
		}
		list = append(list, s)
	}
	return list
}

// toll is what it costs that nobody does the work of a role.
type toll struct {
	severity Severity
	cost     float64
	impact   string
}

// tollOf says what fails while nobody does the work of a role.
func (p *Pass) tollOf(role string) toll {
	t := toll{severity: Error}
	switch role {
	case "indexnode":
		return p.tollOfBuilders(t)
	case "datanode":
		if dataNodesBuild(p.Cluster) {
			return p.tollOfBuilders(t)
		}
	case "rootcoord", "proxy", "mixcoord", "streamingnode":
		t.cost = 1
	case "querycoord", "querynode":
		if t.cost = 1; p.nothingLoaded() {
			t.severity, t.cost = Warning, 0
		}
	}
	t.impact = p.impactWithout(role)
	return t
}

// nothingLoaded reports whether no collection is to be in memory, as far as that is known.
func (p *Pass) nothingLoaded() bool { return p.Loaded.Has(model.PartServing) && len(p.LoadStates) == 0 }

// impactWithout says what fails while nobody does the work of a role. Of a missing QueryCoord, proxy, query
// node and index node seen on 2.3.5 with kill -9 and a client that goes on; of the others from Milvus's code.
func (p *Pass) impactWithout(role string) string {
	runs := releaseOf(p.Cluster)
	switch role {
	case "rootcoord":
		return "Nobody hands out timestamps and ids: inserts, deletes, searches and every change of a collection fail."
	case "mixcoord":
		return "Nobody hands out timestamps, segments and shard leaders: inserts, flushes, loads and every change fail, and searches whose shards move."
	case "querycoord":
		switch {
		case p.nothingLoaded():
			return "No collection can be loaded."
		case runs.before(release{2, 4}):
			return "Every search fails within seconds, as proxies ask it again and again who leads a shard; nothing is loaded, balanced or taken over from lost nodes."
		}
		return "Nothing is loaded, balanced or taken over from lost nodes; searches fail as soon as a proxy has to ask who leads a shard."
	case "datacoord":
		text := "Inserts fail as soon as they need a new segment; flushes and loads fail, nothing is compacted"
		if runs.before(release{2, 3}) {
			return text + "."
		}
		return text + ", and no index is built."
	case "indexcoord":
		return "No index is created or built, and loads that ask for one fail."
	case "proxy":
		return "No client is served: every search, insert and change fails."
	case "querynode":
		if p.nothingLoaded() {
			return "No collection can be loaded."
		}
		return "Nobody serves the loaded collections: every search fails."
	case "streamingnode":
		return "Nobody takes what is written or leads a shard: every insert and search fails."
	case "datanode":
		return "What is inserted stays in the message queue and in memory: nothing is written to storage, flushes do not end, and nothing is compacted."
	}
	return ""
}

// tollOfBuilders weighs that nobody builds indexes by what is asked of them: rows that wait, or will once they are flushed.
func (p *Pass) tollOfBuilders(t toll) toll {
	if !p.Loaded.Has(partsOfBuilds) {
		t.impact = "No index is built."
		return t
	}
	work := p.searchWork()
	var waiting, growing int64
	defined := false
	for _, x := range p.Collections {
		if x.Dropped() || !slices.ContainsFunc(p.IndexesOf(x.ID), func(i *model.Index) bool { return !i.Deleted && !flat(i.Type) }) {
			continue
		}
		defined = true
		rows := p.workOf(x.ID).growingRows
		growing += rows
		t.cost += work.share(x, rows)
	}
	p.eachUnbuilt(func(b build) {
		waiting += b.segment.Rows
		if onVector(b.collection, b.index) {
			t.cost += work.share(b.collection, b.segment.Rows)
		}
	})
	t.cost = min(1, t.cost)
	also, least := "", Info
	if dataNodesBuild(p.Cluster) {
		also, least = " Nothing is compacted or imported.", Warning
	}
	switch {
	case waiting > 0:
		t.impact = "No index is built: " + plural(waiting, "row") + " of flushed segments wait for theirs, and are compared one by one or not loaded." + also
	case growing > 0:
		t.severity = Warning
		t.impact = "No index is built: " + plural(growing, "growing row") + " will have none when they are flushed, and searches go on comparing them one by one." + also
	case defined:
		t.severity = Warning
		t.impact = "No index is built: what is flushed or compacted from now on has none." + also
	default:
		t.severity = least
		t.impact = "None now: no index is defined that has to be built." + also
	}
	return t
}

// lackChecks are the checks that find that nobody does the work of a role.
func lackChecks() []string { return []string{"role-missing", "node-unreachable", "stale-session"} }

// explains reports whether what a check finds follows from it that nobody does the work of a role. MixCoord is all coordinators.
func (f *Finding) explains(c *model.Cluster, x *Check) bool {
	return slices.ContainsFunc(x.Roles, func(role string) bool {
		switch f.Lacks {
		case role, wholeCluster:
			return true
		case "mixcoord":
			return strings.HasSuffix(role, "coord")
		case "datanode":
			return role == "indexnode" && dataNodesBuild(c)
		}
		return false
	})
}

// dataNodesBuild reports whether data nodes build the indexes (2.6 and later).
func dataNodesBuild(c *model.Cluster) bool {
	return hasRole(c, "mixcoord") || hasRole(c, "streamingnode") || releaseOf(c).known() && !releaseOf(c).before(release{2, 6})
}
