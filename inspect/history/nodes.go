package history

import (
	"strings"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
)

// sessionChanged reports events of nodes. An active coordinator with standby support is registered twice, as
// {role} and as {role}-{id}, and counts as one node.
func sessionChanged(c *change) bool {
	before, _ := c.before.(*model.Session)
	after, _ := c.after.(*model.Session)
	if before != nil && after != nil && before.Name() == after.Name() {
		return c.sessionRewritten(before, after)
	}
	told := false
	if before != nil {
		told = c.sessionEnded(before, after)
	}
	if after != nil {
		told = c.sessionBegan(after) || told
	}
	return told
}

func (c *change) sessionBegan(s *model.Session) bool {
	name := s.Name()
	c.sessions[name]++
	ref, _, text := diff.Describe(s)
	if c.sessions[name] > 1 {
		return !s.Standby && c.emit(occurrence{kind: nodeChanged, object: ref, before: "standby", after: "active"})
	}
	return c.emit(occurrence{kind: nodeJoined, object: ref, after: text})
}

func (c *change) sessionEnded(s, next *model.Session) bool {
	name := s.Name()
	ref, _, text := diff.Describe(s)
	if c.sessions[name]--; c.sessions[name] > 0 {
		return !s.Standby && c.emit(occurrence{kind: nodeChanged, object: ref, before: "active", after: "standby"})
	}
	delete(c.sessions, name)
	n := occurrence{kind: nodeLeft, object: ref, before: text}
	switch {
	case s.Stopping:
		n.detail = "it was stopping"
	case next != nil:
		n.detail = next.Name() + " took its place"
	case marksStopping(s):
		n.kind, n.detail = nodeLost, "its lease expired"
	default:
		n.detail = "whether it shut down cleanly is not recorded"
	}
	return c.emit(n)
}

// marksStopping reports whether a terminating process marks its session as stopping first: query nodes since 2.2,
// index nodes since 2.3, streaming nodes. For other roles it is unknown whether a session was closed or expired.
func marksStopping(s *model.Session) bool {
	switch s.Role {
	case "querynode", "streamingnode":
		return s.Version != "" && !strings.HasPrefix(s.Version, "2.1.")
	case "indexnode":
		return s.Version != "" && !strings.HasPrefix(s.Version, "2.1.") && !strings.HasPrefix(s.Version, "2.2.")
	}
	return false
}

func (c *change) sessionRewritten(before, after *model.Session) bool {
	if !before.Stopping && after.Stopping {
		ref, _, _ := diff.Describe(after)
		return c.emit(occurrence{kind: nodeStopping, object: ref, before: before.State(), after: after.State()})
	}
	return c.emitAltered(nodeChanged)
}
