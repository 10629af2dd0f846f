package check

import (
	"time"

	"kitescope/inspect/model"
)

// taskObjects are the task, its collection and its segments.
func (p *Pass) taskObjects(t *model.Task) []model.Ref {
	var refs []model.Ref
	if t.Collection != 0 {
		refs = append(refs, refCollection(p.Cluster, t.Collection))
	}
	for _, id := range t.Segments[:min(len(t.Segments), maxObjects)] {
		refs = append(refs, refSegment(id))
	}
	return refs
}

// taskNode is where a task runs: "datanode-17", "node 17, which is gone", "no node".
func (p *Pass) taskNode(t *model.Task) string {
	sessions := p.SessionsOf(t.Node)
	switch {
	case t.Node <= 0:
		return "no node"
	case len(sessions) > 0:
		return sessions[0].Name()
	case p.abandoned(t):
		return "node " + t.Node.String() + ", which is gone"
	}
	return "node " + t.Node.String()
}

// logOf is the log that tells of a task.
func (p *Pass) logOf(t *model.Task) Hint {
	if sessions := p.SessionsOf(t.Node); t.Node > 0 && len(sessions) > 0 {
		return advise("the log of %s", sessions[0].Name())
	}
	return "the log of DataCoord"
}

// abandoned reports whether a task runs on a node that has no session.
func (p *Pass) abandoned(t *model.Task) bool {
	return alive(p.Cluster) && t.Node > 0 && len(p.SessionsOf(t.Node)) == 0
}

// since is how long a task has been there, as far as it records that.
func (p *Pass) since(t *model.Task) time.Duration { return p.age(t.StartedAt) }
