package preflight

import (
	"fmt"
	"slices"

	"kitescope/inspect/model"
)

// UnfitError is why a plan is none for a cluster. What would help depends on who asks.
type UnfitError struct {
	Why  Unfit
	Plan Plan
}

// Unfit is a reason why a plan is none for a cluster.
type Unfit int

// Reasons why a plan is none for a cluster.
const (
	RunningUnknown Unfit = iota // nothing tells which version runs
	Older                       // what is wanted is older, on a way forward
	Newer                       // what is wanted is newer, on a way back
	RunsAlready
	PatchUnsaid // which of the running release is wanted
)

func (e *UnfitError) Error() string {
	from, to := e.Plan.From, e.Plan.To
	switch e.Why {
	case RunningUnknown:
		return "the running version is unknown: the source does not record it"
	case Older:
		return fmt.Sprintf("%s is older than the running version (%s)", to, from)
	case Newer:
		return fmt.Sprintf("%s is newer than the running version (%s)", to, from)
	case RunsAlready:
		return fmt.Sprintf("%s is running already: nothing to do", from)
	default:
		return fmt.Sprintf("%s is running, and %s does not name a patch version", from, to)
	}
}

// For is the plan with the version that a cluster runs, unless From is known already; and why it is none for the cluster, nil where it is
// one.
func (p Plan) For(c *model.Cluster) (Plan, *UnfitError) {
	if !p.From.Known() {
		p.From = Running(c)
	}
	unfit := func(why Unfit) (Plan, *UnfitError) { return p, &UnfitError{why, p} }
	switch {
	case !p.From.Known():
		return unfit(RunningUnknown)
	case !p.Back && p.To.Before(p.From):
		return unfit(Older)
	case p.Back && p.From.Before(p.To):
		return unfit(Newer)
	case p.To == p.From && len(c.Version.Others) == 0: // while an upgrade rolls there is something to do
		return unfit(RunsAlready)
	case p.To.Patch < 0 && p.To.Release == p.From.Release:
		return unfit(PatchUnsaid)
	}
	return p, nil
}

// Wanted are versions that a person may want, the newest first: the newest one known to be out, and those that ways lead over.
func Wanted() []string {
	list := []string{Version{newest(), 2}.String()}
	for _, s := range slices.Backward(stops()) {
		list = append(list, s.over.String())
	}
	return list
}
