package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// roleLoss is the severity, cost and impact of a role that no process fills.
type roleLoss struct {
	severity check.Severity
	cost     float64
	impact   string
}

// lossOfRole returns the severity, cost and impact of a role that no process fills.
func lossOfRole(p *check.Pass, role string) roleLoss {
	t := roleLoss{severity: check.Error}
	switch role {
	case "indexnode":
		return lossOfBuilders(p, t)
	case "datanode":
		if facts.DataNodesBuild(p.Cluster) {
			return lossOfBuilders(p, t)
		}
	case "rootcoord", "proxy", "mixcoord", "streamingnode":
		t.cost = 1
	case "querycoord", "querynode":
		if t.cost = 1; nothingLoaded(p) {
			t.severity, t.cost = check.Warning, 0
		}
	}
	t.impact = impactWithout(p, role)
	return t
}

// nothingLoaded reports whether load states were read and there are none, i.e. no collection belongs in memory.
func nothingLoaded(p *check.Pass) bool {
	return p.Loaded.Has(model.PartServing) && len(p.LoadStates) == 0
}

// impactWithout returns the effect of a role that no process fills. The effects of a missing QueryCoord, proxy, query
// node and index node were measured on 2.3.5 with kill -9 and a running client. The other effects are from Milvus's
// code.
func impactWithout(p *check.Pass, role string) string {
	runs := facts.ReleaseOf(p.Cluster)
	switch role {
	case "rootcoord":
		return "No timestamps and ids are handed out: inserts, deletes, searches and all collection changes fail."
	case "mixcoord":
		return "No timestamps, segments or shard leaders are handed out: inserts, flushes, loads and all changes " +
			"fail, and searches of shards that move."
	case "querycoord":
		switch {
		case nothingLoaded(p):
			return "No collection can be loaded."
		case runs.Before(facts.Release{Major: 2, Minor: 4}):
			return "Every search fails within seconds, because proxies need shard leaders from it; " +
				"nothing is loaded, balanced or recovered from lost nodes."
		}
		return "Nothing is loaded, balanced or recovered from lost nodes; searches fail once a proxy needs a shard " +
			"leader."
	case "datacoord":
		text := "Inserts fail once they need a new segment; flushes and loads fail, nothing is compacted"
		if runs.Before(facts.Release{Major: 2, Minor: 3}) {
			return text + "."
		}
		return text + ", and no index is built."
	case "indexcoord":
		return "No index is created or built, and loads that need one fail."
	case "proxy":
		return "Every request fails: searches, inserts and changes."
	case "querynode":
		if nothingLoaded(p) {
			return "No collection can be loaded."
		}
		return "No node serves the loaded collections: every search fails."
	case "streamingnode":
		return "No node accepts writes or leads shards: every insert and search fails."
	case "datanode":
		return "Inserted rows stay in the message queue and in memory: nothing is written to storage, flushes do not " +
			"finish, and nothing is compacted."
	}
	return ""
}

// lossOfBuilders weighs missing index builders by their work: rows that wait for an index, and growing rows that will
// wait once they are flushed.
func lossOfBuilders(p *check.Pass, t roleLoss) roleLoss {
	if !p.Loaded.Has(facts.PartsOfBuilds) {
		p.NoteUnseen("segments that wait for an index")
		t.impact = "No index is built."
		return t
	}
	work := p.SearchWork()
	var waiting, growing int64
	defined := false
	for _, x := range p.Existing() {
		if !slices.ContainsFunc(p.IndexesOf(x.ID), func(i *model.Index) bool {
			return !i.Deleted && !facts.IsFlat(i.Type)
		}) {
			continue
		}
		defined = true
		rows := p.WorkOf(x.ID).GrowingRows
		growing += rows
		t.cost += work.Share(x, rows)
	}
	p.EachUnbuilt(func(b facts.Build) {
		waiting += b.Segment.Rows
		if facts.OnVector(b.Collection, b.Index) {
			t.cost += work.Share(b.Collection, b.Segment.Rows)
		}
	})
	t.cost = min(1, t.cost)
	also, least := "", check.Info
	if facts.DataNodesBuild(p.Cluster) {
		also, least = " Nothing is compacted or imported.", check.Warning
	}
	switch {
	case waiting > 0:
		t.impact = "No index is built: " + words.Plural(waiting, "row") +
			" of flushed segments wait for one, and are searched by brute force or not loaded." + also
	case growing > 0:
		t.severity = check.Warning
		t.impact = "No index is built: " + words.Plural(growing, "growing row") +
			" will have none when flushed, and stay on brute-force search." + also
	case defined:
		t.severity = check.Warning
		t.impact = "No index is built: segments flushed or compacted from now on have none." + also
	default:
		t.severity = least
		t.impact = "None yet: no index is defined that needs building." + also
	}
	return t
}

// successors returns the sessions that can take over from a node of a role. It excludes the node itself and sessions
// that are stopping, down or of another cluster.
func successors(p *check.Pass, role string, id model.NodeID) []*model.Session {
	var list []*model.Session
	for _, s := range slices.Concat(facts.Holders(p.Cluster, role), standbys(p.Cluster, role)) {
		n := p.Runtime.LiveNode(role, s.Node)
		if s.Node == id || s.Stopping || n != nil && (facts.IsDown(n.Outcome) || n.Outcome == model.OtherCluster) {
			continue
		}
		list = append(list, s)
	}
	return list
}

// standbys returns the standby sessions of a coordinator role.
func standbys(c *model.Cluster, role string) []*model.Session {
	var list []*model.Session
	for _, s := range c.Sessions {
		if s.Role == role && s.Standby {
			list = append(list, s)
		}
	}
	return list
}

// missingRoles returns the needed roles without a registered process.
func missingRoles(c *model.Cluster) []string {
	var list []string
	for _, r := range facts.NeededRoles() {
		if facts.Needs(c, r) && len(facts.Holders(c, r.Name)) == 0 &&
			(r.Replaced == "" || len(facts.Holders(c, r.Replaced)) == 0) {
			list = append(list, r.Name)
		}
	}
	return list
}
