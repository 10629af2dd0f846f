package facts

import (
	"fmt"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// IsGone reports whether a node is known only from the responses of others: it has no session and was not asked.
// Checks have nothing to look at.
func (f *Facts) IsGone(n *model.LiveNode) bool {
	return n.Outcome == model.NotAsked && Alive(f.Cluster) && f.SessionIn(n.Node, n.Role) == nil
}

// Damage returns the damage of the file that the metadata was read from, "" if there is none. A damaged file may
// lack any record.
func (f *Facts) Damage() string {
	for _, g := range f.Gaps {
		if g.Damage {
			return g.Where + ": " + g.Reason
		}
	}
	return ""
}

// WhySilent returns the reason why a session did not respond.
func WhySilent(n *model.LiveNode) string {
	if n.Outcome == model.Answered {
		for _, c := range n.Calls {
			if c.Outcome != model.Answered && !c.OfTasks() && !c.OfTarget() {
				return c.Method + " " + c.Outcome.With(c.Reason)
			}
		}
	}
	if n.Outcome == model.Answered {
		return "not queried for this"
	}
	return n.Outcome.With(n.Reason)
}

// ReasonSuffix returns ": " and the reason why processes did not respond, or "" if list is empty.
func ReasonSuffix(list []*model.LiveNode) string {
	if len(list) == 0 {
		return ""
	}
	text := ": " + list[0].Name() + ": " + WhySilent(list[0])
	if len(list) > 1 {
		text += fmt.Sprintf(", and %d more", len(list)-1)
	}
	return text
}

// Coordinators returns the processes that do the work of a coordinator, including MixCoord.
func Coordinators(r *model.Runtime, role string) []*model.LiveNode {
	var list []*model.LiveNode
	for _, n := range r.Nodes {
		if n.Role == role || n.Role == "mixcoord" {
			list = append(list, n)
		}
	}
	return list
}

// ProcessLabel returns the HTTP address of a process, or its sessions if the address is unknown.
func ProcessLabel(x *model.Process) string {
	if x.Address != "" || len(x.Nodes) == 0 {
		return x.Address
	}
	names := make([]string, len(x.Nodes))
	for i := range x.Nodes {
		names[i] = x.Nodes[i].Name
	}
	return words.Summarize(names)
}

// IsDown reports whether an outcome means that the session's process is down for all clients. Outcomes that may
// affect only kitescope (no route, no credentials) do not.
func IsDown(o model.Outcome) bool {
	switch o {
	case model.Refused, model.TimedOut, model.Stale, model.CutOff:
		return true
	default:
		return false
	}
}
