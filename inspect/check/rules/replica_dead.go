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

// replicaDeadNode reports query nodes without a session that replicas or resource groups still list.
var replicaDeadNode = &check.Check{
	ID:       "replica-dead-node",
	Title:    "Replica or resource group lists nodes that are gone",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.AfterRestart},
	Starts:   "node_lost node_left | node_stopping replica_changed resource_group_changed",
	Doc: `Searches fail with "node not found" because a replica lists a dead query node. QueryCoord removes a node
from replicas and resource group when its session ends. Reported: a listed node without a session of that id.
QueryCoord missed its end, as after a restart in 2.4 (Milvus issues 33200, 33207, 32665), or was down itself. Such a
replica is assigned segments and shards that no node serves.

Info if QueryCoord itself no longer has the node: other nodes have taken over, and the record in etcd is rewritten
when another node joins or leaves (seen on 2.3.5; it may stay for days). The same holds for the default resource group
alone if QueryCoord was not queried: it takes all nodes.

Error if all nodes of a replica are gone and no other replica is left, otherwise a warning. Since 2.4 a node that left
a replica before it stopped may stay listed in it as read-only for a minute
(` + "`queryCoord.checkNodeInReplicaInterval`" + `: 60; issue 32665): info. Not judged: metadata without a single
session, as of a stopped cluster or a backup, and Milvus 2.1, which stores replicas differently.`,
	Remedy: `Restart QueryCoord: it reads the sessions when it starts (up to 2.3 searches fail until it is back). If
the replica stays without nodes, release and load the collection. A resource group that keeps a dead node counts
capacity that it does not have: transfer nodes, or drop the group once it is empty.`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects,
	Run:   runReplicaDeadNode,
	Roles: []string{"querycoord", "querynode"},
}

func runReplicaDeadNode(p *check.Pass) {
	if !facts.Alive(p.Cluster) {
		p.Skip("no process is registered: the cluster is stopped, or its sessions were not saved")
		return
	}
	if facts.IsLegacy(p.Cluster) {
		p.Skip("Milvus 2.1 and older store replicas differently")
		return
	}
	dead := deadMembers(p)
	for _, id := range deadIDs(dead) {
		reportDead(p, id, dead[id])
	}
}

// deadMember is a query node without a session, with the replicas and resource groups that list it.
type deadMember struct {
	replicas []*model.Replica
	groups   []string
	leaving  bool // read-only in all the replicas
}

func deadMembers(p *check.Pass) map[model.NodeID]*deadMember {
	dead := make(map[model.NodeID]*deadMember)
	entry := func(id model.NodeID) *deadMember {
		if id == 0 || p.SessionIn(id, "querynode", "streamingnode", "standalone") != nil {
			return nil
		}
		if dead[id] == nil {
			dead[id] = &deadMember{}
		}
		return dead[id]
	}
	for _, r := range p.Replicas {
		for _, id := range facts.MembersOf(r) {
			if d := entry(id); d != nil {
				leaving := slices.Contains(r.RONodes, id) || slices.Contains(r.ROStreamingNodes, id)
				d.leaving = leaving && (d.leaving || len(d.replicas) == 0)
				d.replicas = append(d.replicas, r)
			}
		}
	}
	for _, g := range p.ResourceGroups {
		for _, id := range g.Nodes {
			if d := entry(id); d != nil {
				d.groups = append(d.groups, g.Name)
			}
		}
	}
	return dead
}

func deadIDs(dead map[model.NodeID]*deadMember) []model.NodeID {
	ids := make([]model.NodeID, 0, len(dead))
	for id := range dead {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// survivors returns the number of registered members of a replica that take segments. Query nodes inside
// streaming nodes (2.6) take channels only, and count only if there are no other members.
func survivors(p *check.Pass, r *model.Replica) int {
	n := 0
	members := r.Nodes
	if len(members) == 0 {
		members = r.StreamingNodes
	}
	for _, id := range members {
		if s := p.SessionIn(id, "querynode", "streamingnode", "standalone"); s != nil && !s.Stopping {
			n++
		}
	}
	return n
}

func reportDead(p *check.Pass, id model.NodeID, d *deadMember) {
	f := check.Finding{Severity: check.Warning, Object: facts.RefNode("querynode", id)}
	var lost, names, by []string
	for _, r := range d.replicas {
		f.Objects = append(f.Objects, facts.RefReplica(r), facts.RefCollection(p.Cluster, r.Collection))
		names = append(names, facts.CollectionLabel(p.Cluster, r.Collection))
		if survivors(p, r) == 0 && len(p.ReplicasOf(r.Collection)) < 2 {
			lost = append(lost, facts.CollectionLabel(p.Cluster, r.Collection))
		}
	}
	for _, g := range d.groups {
		f.Objects = append(f.Objects, model.Ref{Resource: "resource-groups", ID: g, Name: g})
	}
	f.Evidence = []check.Evidence{
		check.Factf("replicas with it as a member", "etcd", "%s, of %s", check.N(len(d.replicas)),
			words.Summarize(slices.Compact(slices.Sorted(slices.Values(names))))),
		check.Fact("resource groups with it as a member", words.Summarize(d.groups), "etcd"),
		check.Fact("session", "none", "etcd"),
	}
	if len(d.replicas) > 0 {
		by = append(by, words.Plural(len(d.replicas), "replica"))
	}
	if len(d.groups) > 0 {
		by = append(by, "resource group "+words.Summarize(d.groups))
	}
	f.Message = fmt.Sprintf("querynode-%s is gone but still listed in %s", id, strings.Join(by, " and "))
	f.Impact = "Segments and shards that QueryCoord assigns to it are not served; other nodes have to load its data."
	f.Fix = check.Fix(check.Do("restart QueryCoord: it reads the sessions when it starts").
		Restarting(p.Cluster, 2*time.Minute, "querycoord"))
	switch {
	case removedByQueryCoord(p, id, d):
		f.Severity = check.Info
		f.Message += " in etcd; QueryCoord itself no longer has it"
		f.Impact = "None: nothing is assigned to it."
		f.Fix = check.Fix(check.Do("no action is needed: the record in etcd is rewritten when another query node " +
			"joins or leaves"))
		f.Evidence = append(f.Evidence,
			check.Fact("nodes of the groups in QueryCoord", groupCountsText(p, d.groups), "QueryCoord"))
		lost = nil
	case len(d.replicas) == 0:
		f.Impact = "The resource group counts a node that does not exist."
		f.Fix = check.Fix(
			check.Shell(check.Kitescope("get resource-groups --live")).
				Does("shows whether QueryCoord itself counts it"),
			check.Do("if it does, restart QueryCoord").Restarting(p.Cluster, 2*time.Minute, "querycoord"),
		)
		if !slices.ContainsFunc(d.groups, func(name string) bool { return name != facts.DefaultGroup }) {
			f.Severity, f.Impact = check.Info,
				"None if QueryCoord itself no longer has it: the default group takes all nodes."
		}
	case d.leaving && len(d.groups) == 0:
		f.Severity = check.Info
		f.Message += ", as read-only"
		f.Impact = "None: it had left the replicas before it stopped, and is removed within a minute."
		f.Fix = check.Fix(check.Do("wait a minute; if it is still listed then, restart QueryCoord").
			Restarting(p.Cluster, 2*time.Minute, "querycoord"))
	}
	if len(lost) > 0 {
		f.Severity = check.Error
		f.Cost = min(1, float64(len(lost))/float64(max(1, len(p.LoadStates))))
		f.Message += fmt.Sprintf("; %s %s no other node", words.Summarize(lost), words.Agree(len(lost), "has", "have"))
		f.Impact = "No node serves " + words.Summarize(lost) + ": every search fails."
		f.Fix = check.Fix(check.Do("start query nodes in the resource group: QueryCoord assigns the replicas to "+
			"them").Interrupting(2*time.Minute, "nothing"),
			check.Do("if it does not, release and load the collections").
				Interrupting(5*time.Minute, "searches of them until they are loaded again"))
	}
	p.Report(f)
}

// removedByQueryCoord reports whether QueryCoord itself no longer has the node in any replica or group that lists it in
// etcd. Groups of 2.3 report only the number of their nodes.
func removedByQueryCoord(p *check.Pass, id model.NodeID, d *deadMember) bool {
	if p.Runtime == nil {
		return false
	}
	for _, r := range d.replicas {
		i := slices.IndexFunc(p.Runtime.Replicas, func(x *model.LiveReplica) bool { return x.ID == r.ID })
		if i < 0 || slices.Contains(p.Runtime.Replicas[i].Nodes, id) {
			return false
		}
	}
	for _, name := range d.groups {
		g := reportedGroup(p, name)
		switch {
		case g == nil || slices.Contains(g.Nodes, id):
			return false
		case len(g.Nodes) == 0 && (g.Available < 0 || int(g.Available) > registeredIn(p, name)):
			return false
		}
	}
	return true
}

// reportedGroup returns a resource group as QueryCoord reports it, or nil if it does not report the group.
func reportedGroup(p *check.Pass, name string) *model.LiveResourceGroup {
	i := slices.IndexFunc(p.Runtime.Groups, func(g *model.LiveResourceGroup) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return p.Runtime.Groups[i]
}

// registeredIn returns the number of registered nodes in a resource group.
func registeredIn(p *check.Pass, name string) int {
	n := 0
	for _, g := range p.ResourceGroups {
		for _, id := range g.Nodes {
			if g.Name == name && p.SessionIn(id, "querynode", "streamingnode", "standalone") != nil {
				n++
			}
		}
	}
	return n
}

// groupCountsText returns the number of nodes that QueryCoord counts in each resource group, as text.
func groupCountsText(p *check.Pass, names []string) string {
	var list []string
	for _, name := range names {
		if g := reportedGroup(p, name); g != nil && g.Available >= 0 {
			list = append(list, name+": "+words.Number(g.Available))
		}
	}
	return words.Summarize(list)
}
