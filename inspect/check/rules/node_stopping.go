package rules

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// stoppingServing finds stopping and read-only query nodes that still serve.
var stoppingServing = &check.Check{
	ID:       "stopping-node-serving",
	Title:    "Stopping or read-only query node still serves",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesFail, check.AfterRestart},
	Starts:   "node_stopping | config_changed:autoBalance",
	Doc: `A query node got SIGTERM long ago and still holds segments. A stopping node marks its session, waits until
QueryCoord has moved its segments and shards to other nodes, and exits. Measured on 2.3.5 with small segments: no
search failed, the segments were gone after 2 seconds, the process after 12. It gives up after
` + "`common.gracefulStopTimeout`" + ` (1,800 seconds), whatever is left. Nodes that leave a replica are read-only in it
until they are empty.

Reported: a stopping query node that still has segments or leads shards, and a read-only node of a replica that still
serves it. A single run cannot show for how long. If repeated runs show the same counts, it is stuck: no other node
has room, or QueryCoord does not see it as stopping (Milvus issues 37446, 46678, 25249). A stopping node that serves
nothing is reported by node-stopping.`,
	Remedy: `Wait and run the check again: the number of segments must fall. If it does not, check the memory of the
other nodes of the resource group, and QueryCoord's log for the node. Do not kill the process before it is empty:
searches fail until its session expires.`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects | model.PartSegments,
	Needs: check.NeedDistribution,
	Run:   runStoppingServing,
	Roles: []string{"querycoord"},
}

func runStoppingServing(p *check.Pass) {
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
}

// readOnlyIn returns the collections with a replica in which a node is read-only.
func readOnlyIn(p *check.Pass, id model.NodeID) []model.CollectionID {
	var ids []model.CollectionID
	for _, r := range p.Replicas {
		if slices.Contains(r.RONodes, id) || slices.Contains(r.ROStreamingNodes, id) {
			ids = append(ids, r.Collection)
		}
	}
	return facts.CompactIDs(ids)
}

// servesOf counts the sealed segments and shards that a node serves, for all collections or for some.
func servesOf(d *model.Distribution, collections []model.CollectionID, all bool) (segments, shards int) {
	counts := func(id model.CollectionID) bool {
		if all {
			return true
		}
		_, ok := slices.BinarySearch(collections, id)
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

func reportStopping(
	p *check.Pass, n *model.LiveNode, stopping bool, leaving []model.CollectionID, segments, shards int, known bool,
	d *duties,
) {
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(), Objects: dutyRefs(p, d),
		Impact: "Searches still depend on it: what it holds when it exits cannot be searched until other nodes " +
			"load it.",
		Fix: check.Fix(
			check.Do("wait until it is empty; if it is killed earlier, searches fail"),
			check.Do("if the counts do not fall, check the memory of the other nodes, and look for its id, %s, in "+
				"QueryCoord's log", n.Node),
		),
		Evidence: append([]check.Evidence{
			check.Count("sealed segments", segments, n.Name()), check.Count("shards led", shards, n.Name()),
		}, d.evidence()...),
	}
	what := fmt.Sprintf("%s and %s", words.Plural(segments, "segment"), words.Plural(shards, "shard"))
	switch {
	case stopping && !known:
		f.Message = fmt.Sprintf("%s is stopping and did not report what it serves; other nodes request %s from it",
			n.Name(), what)
	case stopping:
		f.Message = fmt.Sprintf("%s is stopping and still serves %s", n.Name(), what)
	default:
		names := make([]string, len(leaving))
		for i, id := range leaving {
			names[i] = facts.CollectionLabel(p.Cluster, id)
		}
		f.Message = fmt.Sprintf("%s is leaving the replicas of %s and still serves %s in them",
			n.Name(), words.Summarize(names), what)
		f.Impact = "Searches of these collections still depend on a node that is leaving."
	}
	p.Report(f)
}

// nodeStopping finds processes that are stopping.
var nodeStopping = &check.Check{
	ID:       "node-stopping",
	Title:    "Process is stopping",
	Severity: check.Info,
	Symptoms: []string{check.AfterRestart},
	Starts:   "node_stopping",
	Doc: `A process got SIGTERM, and the cluster will soon have one process less. It marks its session as stopping,
hands over its work and exits. Measured on 2.3.5, a query node was empty after 2 seconds and gone after 12. Info. A
stopping query node that still serves is reported by stopping-node-serving instead.`,
	Remedy: `Do nothing if intended. If the process is still there after minutes, read its log for the reason. Start
another to replace it.`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects | model.PartChannels,
	Run:   runNodeStopping,
}

func runNodeStopping(p *check.Pass) {
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
			Severity: check.Info, Object: facts.RefNode(s.Role, s.Node), Objects: dutyRefs(p, &d),
			Evidence: append([]check.Evidence{check.Fact("session", "stopping", "etcd")}, d.evidence()...),
			Message:  facts.RoleLabel(s.Role) + " " + s.Name() + " is stopping",
			Impact:   "The cluster has one process less; others take over its work.",
			Fix:      check.Fix(check.Do("no action is needed if intended; start another to replace it")),
		}
		if n != nil && n.Distribution != nil {
			f.Message += " and no longer serves anything"
		}
		p.Report(f)
	}
}
