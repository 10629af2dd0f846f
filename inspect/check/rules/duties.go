package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// duties holds the objects that depend on one session.
type duties struct {
	role          string
	collections   []model.CollectionID // with the query node in a replica, or with a channel that the node consumes
	singleReplica int                  // number of collections with a single replica
	replicas      int                  // number of replicas with the node as a member
	leads         []string             // channels that it leads, as reported by QueryCoord and query nodes
	watches       []string             // channels that the data or streaming node consumes
	segments      int                  // sealed segments that shard leaders request from it
	rows          int64
}

// dutiesOf returns the objects that depend on a session, according to metadata and the other processes.
func dutiesOf(p *check.Pass, role string, id model.NodeID) duties {
	d := duties{role: role}
	switch role {
	case "querynode":
		queryDuties(p, &d, id)
	case "datanode", "streamingnode":
		for _, v := range p.VChannels {
			if v.Watched && v.Watcher == id && v.Removal != "removed" {
				d.watches = append(d.watches, v.Name)
				d.collections = append(d.collections, v.Collection)
			}
		}
		d.collections = facts.CompactIDs(d.collections)
	}
	return d
}

func queryDuties(p *check.Pass, d *duties, id model.NodeID) {
	for _, r := range p.Replicas {
		if !slices.Contains(facts.MembersOf(r), id) {
			continue
		}
		d.replicas++
		d.collections = append(d.collections, r.Collection)
		if len(p.ReplicasOf(r.Collection)) < 2 {
			d.singleReplica++
		}
	}
	d.collections = facts.CompactIDs(d.collections)
	if p.Runtime == nil {
		return
	}
	for i := range p.Runtime.ShardLeaders {
		if s := &p.Runtime.ShardLeaders[i]; slices.Contains(s.Nodes, id) {
			d.leads = append(d.leads, s.Channel)
		}
	}
	for _, r := range p.Runtime.Replicas {
		for i := range r.Leaders {
			if slices.Contains(r.Leaders[i].Nodes, id) {
				d.leads = append(d.leads, r.Leaders[i].Channel)
			}
		}
	}
	d.leads = slices.Compact(slices.Sorted(slices.Values(d.leads)))
	addRequestedSegments(p, d, id)
}

// addRequestedSegments counts the segments that shard leaders request from a node, and their rows.
func addRequestedSegments(p *check.Pass, d *duties, id model.NodeID) {
	named := p.Views.QueriedNodes()
	var seen facts.SegmentSet // two leaders request the same segment while a shard is moved
	for _, n := range p.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Leaders {
			view := &n.Distribution.Leaders[i]
			if !slices.Contains(named[view], id) {
				continue
			}
			for _, s := range view.Sealed {
				if s.Node != id || !seen.Add(s.ID) {
					continue
				}
				d.segments++
				if record := p.Segment(s.ID); record != nil {
					d.rows += record.Rows
				}
			}
		}
	}
}

// loss returns the share of searches that fail while the session does not respond. It assumes that all loaded
// collections are searched equally often, and counts 1/n of each collection with n replicas.
func loss(p *check.Pass, d *duties) float64 {
	if d.role != "querynode" || len(p.LoadStates) == 0 {
		return 0
	}
	var lost float64
	for _, id := range d.collections {
		if p.LoadState(id) != nil {
			lost += 1 / float64(max(1, len(p.ReplicasOf(id))))
		}
	}
	return min(1, lost/float64(len(p.LoadStates)))
}

// impact describes the consequences if the session does not respond. others are the other sessions of its role.
func impact(p *check.Pass, d *duties, others []*model.Session) string {
	switch d.role {
	case "querynode":
		if len(d.collections) == 0 {
			return "It is in no replica, so nothing depends on it yet."
		}
		text := "It is in the replicas of " + words.Plural(len(d.collections), "loaded collection")
		switch {
		case d.singleReplica == len(d.collections):
			text += ", none of which has another replica: their searches fail while they depend on it"
		case d.singleReplica > 0:
			text += fmt.Sprintf(", %s of which have no other replica: their searches fail while they depend on it",
				words.Number(d.singleReplica))
		}
		if len(d.leads) > 0 {
			text += "; it leads " + words.Plural(len(d.leads), "shard")
		}
		return text + "."
	case "datanode", "streamingnode":
		if len(d.watches) == 0 {
			return "It consumes no channel."
		}
		return fmt.Sprintf("It consumes %s of %s: their rows are not written to storage, flushes wait and growing "+
			"segments keep growing.",
			words.Plural(len(d.watches), "channel"), words.Plural(len(d.collections), "collection"))
	case "proxy":
		if len(others) == 0 {
			return "Clients connected to it fail."
		}
		return "Clients connected to it fail; those of " + facts.SessionNames(others) + " are not affected."
	case "indexnode":
		return "Its index builds wait until they are assigned to another node."
	}
	if text := impactWithout(p, d.role); text != "" && len(others) > 0 {
		return "Until " + facts.SessionNames(others) + " takes over: " + strings.ToLower(text[:1]) + text[1:]
	}
	return "Operations that need its decision wait."
}

// promoteToRole turns a finding about a process into one about its role, because no other process does its work.
func promoteToRole(p *check.Pass, f *check.Finding, role string) {
	t := lossOfRole(p, role)
	f.Severity, f.Cost, f.Impact, f.MissingRole = max(t.severity, check.Warning), max(f.Cost, t.cost), t.impact, role
}

// addOtherSessions adds to a finding the sessions of other roles that its process has registered.
func addOtherSessions(f *check.Finding, group []*model.LiveNode) {
	for _, n := range group[1:] {
		if n.Role != group[0].Role {
			f.Objects = append(f.Objects, n.Ref())
			f.Evidence = append(f.Evidence, check.Fact("registered by the same process", n.Name(), "etcd"))
		}
	}
}

// restartSteps returns the fix for a dead process, with the sessions that take over from it.
func restartSteps(p *check.Pass, n *model.LiveNode, others []*model.Session) []check.Step {
	ttl := p.SettingSeconds("common.session.ttl", defaultTTL, n.Role, "querycoord", "rootcoord", "mixcoord")
	switch {
	case len(others) == 0:
		return append(check.Fix(check.Do("restart %s: there is no other %s to take over", n.Name(),
			check.RoleHint(n.Role)).
			Interrupting(2*time.Minute, "nothing")), check.UnwritableStorageSteps(p.Facts, n.Role)...)
	case n.Role == "proxy":
		return check.Fix(check.Do("restart %s, or point its clients to %s", n.Name(), facts.NamesOf(others)).
			Interrupting(2*time.Minute, "nothing"))
	}
	return append(check.Fix(check.Do("restart %s; its session expires %s after it stops, and %s %s over",
		n.Name(), ttl, facts.NamesOf(others), words.Agree(len(others), "takes", "take")).
		Interrupting(2*time.Minute, "nothing")), check.UnwritableStorageSteps(p.Facts, n.Role)...)
}

// killSteps returns the fix for a process that hangs, with the sessions that cannot take over meanwhile.
func killSteps(p *check.Pass, n *model.LiveNode, others []*model.Session) []check.Step {
	look := check.Do("look at its CPU, memory and log")
	if len(others) == 0 || n.Role == "proxy" {
		return check.Fix(look,
			check.Do("if it hangs, kill it and start it again: there is no other %s", check.RoleHint(n.Role)).
				Restarting(p.Cluster, 2*time.Minute, n.Role))
	}
	return check.Fix(look,
		check.Do("if it hangs, kill it: %s cannot take over while it keeps its session alive", facts.NamesOf(others)).
			Restarting(p.Cluster, 2*time.Minute, n.Role))
}

func (d *duties) evidence() []check.Evidence {
	var list []check.Evidence
	if d.role == "querynode" {
		list = append(list, check.Count("replicas with it as a member", d.replicas, "etcd"),
			check.Fact("shards led, per QueryCoord", words.Summarize(d.leads), "QueryCoord"))
	}
	if d.segments > 0 {
		list = append(list,
			check.Factf("segments that leaders request from it", "leaders' views", "%s, %s",
				check.Plural(d.segments, "segment"), check.Plural(d.rows, "row")))
	}
	if len(d.watches) > 0 {
		list = append(list, check.Fact("channels consumed", words.Summarize(d.watches), "etcd"))
	}
	return list
}

// dutyRefs returns references to the collections and channels that depend on the session.
func dutyRefs(p *check.Pass, d *duties) []model.Ref {
	var refs []model.Ref
	for _, id := range d.collections {
		refs = append(refs, facts.RefCollection(p.Cluster, id))
	}
	for _, v := range slices.Concat(d.leads, d.watches) {
		refs = append(refs, facts.RefVChannel(v))
	}
	return refs
}
