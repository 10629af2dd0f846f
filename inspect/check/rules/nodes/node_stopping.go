package nodes

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// stoppingServing finds query nodes that are on their way out and still serve.
var stoppingServing = &check.Check{
	ID:       "stopping-node-serving",
	Title:    "Stopping or read-only query node still serves",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `A query node that is told to stop (SIGTERM) marks its session as stopping, waits until QueryCoord has moved its segments and shards to others, and exits. Measured on 2.3.5 with small segments: no
search failed, the segments were gone after 2 seconds, the process after 12. It gives up after ` + "`common.gracefulStopTimeout`" + ` (1,800 seconds), whatever is left on it. Nodes that leave a replica are read-only
in it until they are empty.

A finding is a stopping query node that still has segments or leads shards, and a read-only node of a replica that still serves it. One look cannot tell how long that has been so: with every look that shows the
same figures it is more surely stuck, because no other node has room, or QueryCoord does not see it as stopping (milvus issues 37446, 46678, 25249). No finding is a stopping node that serves nothing
any more, see node-stopping.`,
	Remedy: `Wait, and look again: the number of segments must fall. If it does not, see whether the other nodes of the resource group have the memory, and QueryCoord's log for the node. Killing the process before it is empty
fails searches until its session has ended.`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects | model.PartSegments,
	Needs: check.NeedDistribution,
	Run:   runStoppingServing,
	Roles: []string{"querycoord"},
}

func runStoppingServing(p *check.Pass) error {
	for _, n := range p.Runtime.QueryNodes() {
		s := p.SessionIn(n.Node, n.Role)
		stopping := s != nil && s.Stopping || n.State == "Stopping"
		leaving := readOnlyIn(p, n.Node)
		if !stopping && len(leaving) == 0 {
			continue
		}
		d := dutiesOf(p, n.Role, n.Node)
		segments, shards, known := d.segments, len(d.leads), n.Distribution != nil
		if known {
			segments, shards = servesOf(n.Distribution, leaving, stopping)
		}
		if segments+shards > 0 {
			reportStopping(p, n, stopping, leaving, segments, shards, known, &d)
		}
	}
	return nil
}

// readOnlyIn are the collections whose replicas have a node as read-only.
func readOnlyIn(p *check.Pass, id model.NodeID) []model.CollectionID {
	var ids []model.CollectionID
	for _, r := range p.Replicas {
		if slices.Contains(r.RONodes, id) || slices.Contains(r.ROStreamingNodes, id) {
			ids = append(ids, r.Collection)
		}
	}
	return facts.CompactIDs(ids)
}

// servesOf counts what a node serves: all of it, or of some collections.
func servesOf(d *model.Distribution, of []model.CollectionID, all bool) (segments, shards int) {
	counts := func(id model.CollectionID) bool {
		if all {
			return true
		}
		_, ok := slices.BinarySearch(of, id)
		return ok
	}
	for i := range d.Sealed {
		if counts(d.Sealed[i].Collection) {
			segments++
		}
	}
	for i := range d.Leaders {
		if counts(d.Leaders[i].Collection) {
			shards++
		}
	}
	return segments, shards
}

func reportStopping(p *check.Pass, n *model.LiveNode, stopping bool, leaving []model.CollectionID, segments, shards int, known bool, d *duties) {
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(), Objects: dutyRefs(p, d),
		Impact: "Searches still depend on it; whatever is on it when it exits fails until others have it.",
		Hint:   check.Advise("wait until it is empty; if the numbers do not fall, look at the memory of the other nodes and at QueryCoord's log for node %s", n.Node),
		Evidence: append([]check.Evidence{
			check.Count("sealed segments", segments, n.Name()), check.Count("shards that it leads", shards, n.Name()),
		}, d.evidence()...),
	}
	what := fmt.Sprintf("%s and %s", words.Plural(segments, "segment"), words.Plural(shards, "shard"))
	switch {
	case stopping && !known:
		f.Message = fmt.Sprintf("%s is stopping, and does not say what it serves; others ask it for %s", n.Name(), what)
	case stopping:
		f.Message = fmt.Sprintf("%s is stopping, and still serves %s", n.Name(), what)
	default:
		names := make([]string, len(leaving))
		for i, id := range leaving {
			names[i] = facts.CollectionLabel(p.Cluster, id)
		}
		f.Message = fmt.Sprintf("%s is leaving the replicas of %s, and still serves %s of them", n.Name(), words.Few(names), what)
		f.Impact = "Searches of these collections still depend on a node that is to leave them."
	}
	p.Report(f)
}

// nodeStopping tells of processes that are on their way out.
var nodeStopping = &check.Check{
	ID:       "node-stopping",
	Title:    "Process is stopping",
	Severity: check.Info,
	Since:    "0.3",
	Doc: `A process that got SIGTERM marks its session as stopping, hands over what it has and exits; measured on 2.3.5, a query node was empty after 2 seconds and gone after 12. This tells which processes are
at it, as an information: there will be one less. A stopping query node that still serves is a finding of its own, stopping-node-serving, and not named here as well.`,
	Remedy: `Nothing, if it was meant. A process that is still there after minutes waits for something: see its log. To have as many as before, start another.`,
	Parts:  model.PartSessions | model.PartServing | model.PartObjects | model.PartChannels,
	Run:    runNodeStopping,
}

func runNodeStopping(p *check.Pass) error {
	for _, s := range p.Sessions {
		if !s.Stopping {
			continue
		}
		n := p.Runtime.LiveNode(s.Role, s.Node)
		if n != nil && n.Distribution != nil && len(n.Distribution.Sealed)+len(n.Distribution.Leaders) > 0 {
			continue
		}
		d := dutiesOf(p, s.Role, s.Node)
		f := check.Finding{
			Severity: check.Info, Object: facts.RefNode(s.Role, s.Node), Objects: dutyRefs(p, &d), Evidence: append([]check.Evidence{check.Fact("session", "stopping", "etcd")}, d.evidence()...),
			Message: facts.RoleLabel(s.Role) + " " + s.Name() + " is stopping",
			Impact:  "There will be one less; others take over what it had.",
			Hint:    "nothing, if it was meant; start another to have as many as before",
		}
		if n != nil && n.Distribution != nil {
			f.Message += ", and serves nothing any more"
		}
		p.Report(f)
	}
	return nil
}
