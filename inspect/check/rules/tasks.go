package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// taskObjects returns the collection and the segments of a task.
func taskObjects(p *check.Pass, t *model.Task) []model.Ref {
	var refs []model.Ref
	if t.Collection != 0 {
		refs = append(refs, facts.RefCollection(p.Cluster, t.Collection))
	}
	refs = append(refs, facts.Refs(t.Segments, facts.RefSegment)...)
	return refs
}

// taskNode returns the node of a task, e.g. "datanode-17", "datanode-17 (gone)" or "no node".
func taskNode(p *check.Pass, t *model.Task) string {
	switch {
	case t.Node <= 0:
		return "no node"
	case abandoned(p, t):
		return t.Node.Name("datanode") + " (gone)"
	}
	return t.Node.Name("datanode")
}

// taskLog returns the log to read about a task: the log of its data node, or DataCoord's if that node has no session.
func taskLog(p *check.Pass, t *model.Task) check.Hint {
	if t.Node > 0 && len(p.SessionsOf(t.Node)) > 0 {
		return check.Advise("the log of %s", t.Node.Name("datanode"))
	}
	return "the log of DataCoord"
}

// abandoned reports whether a task runs on a node that has no session.
func abandoned(p *check.Pass, t *model.Task) bool {
	return facts.Alive(p.Cluster) && t.Node > 0 && len(p.SessionsOf(t.Node)) == 0
}

// taskAge returns the time since a task started, as recorded in the task.
func taskAge(p *check.Pass, t *model.Task) time.Duration { return p.Age(t.StartedAt) }

// restartFor returns the step that restarts the task of a lost node, or no step if the node is registered.
func restartFor(p *check.Pass, t *model.Task) check.Step {
	if !abandoned(p, t) {
		return check.Step{}
	}
	return check.Do("restart DataCoord: it then gives the task to another node, or plans it again").
		Restarting(p.Cluster, 5*time.Minute, "datacoord")
}
