package facts

import (
	"fmt"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// IsGone reports whether a node is only known by what others still tell of it: it has no session, and was
// not asked. It serves nothing that could be looked at.
func (f *Facts) IsGone(n *model.LiveNode) bool {
	return n.Outcome == model.NotAsked && Alive(f.Cluster) && f.SessionIn(n.Node, n.Role) == nil
}

// Damage says what is wrong with the file that the metadata were read from, "" if nothing: any record may be missing from it.
func (f *Facts) Damage() string {
	for _, g := range f.Gaps {
		if g.Damage {
			return g.Where + ": " + g.Reason
		}
	}
	return ""
}

// WhySilent says why a session told nothing.
func WhySilent(n *model.LiveNode) string {
	if n.Outcome == model.Answered {
		for _, c := range n.Calls {
			if c.Outcome != model.Answered && !c.OfTasks() && !c.OfTarget() {
				return c.Method + " " + c.Outcome.With(c.Reason)
			}
		}
	}
	if n.Outcome == model.Answered {
		return "it was not asked for this"
	}
	return n.Outcome.With(n.Reason)
}

// Because begins with ": " and says why processes told nothing; "" of none.
func Because(list []*model.LiveNode) string {
	if len(list) == 0 {
		return ""
	}
	text := ": " + list[0].Name() + ": " + WhySilent(list[0])
	if len(list) > 1 {
		text += fmt.Sprintf(", and %d more", len(list)-1)
	}
	return text
}

// Coordinators are the processes that do the work of a coordinator, MixCoord too.
func Coordinators(r *model.Runtime, role string) []*model.LiveNode {
	var list []*model.LiveNode
	for _, n := range r.Nodes {
		if n.Role == role || n.Role == "mixcoord" {
			list = append(list, n)
		}
	}
	return list
}

// ProcessLabel is a process's HTTP address, or the sessions it has where that is unknown.
func ProcessLabel(x *model.Process) string {
	if x.Address != "" || len(x.Nodes) == 0 {
		return x.Address
	}
	names := make([]string, len(x.Nodes))
	for i := range x.Nodes {
		names[i] = x.Nodes[i].Name
	}
	return words.Few(names)
}

// IsDown reports whether an outcome means that the session's own process is not there for anyone. What only
// kitescope may meet (no route, no credentials) does not.
func IsDown(o model.Outcome) bool {
	switch o {
	case model.Refused, model.TimedOut, model.Stale, model.CutOff:
		return true
	default:
		return false
	}
}
