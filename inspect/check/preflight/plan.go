package preflight

import (
	"fmt"
	"slices"

	"kitescope/inspect/model"
)

// PlanError is the reason why a plan does not fit a cluster. The caller adds the hint.
type PlanError struct {
	Why  PlanProblem
	Plan Plan
}

// PlanProblem is a kind of reason why a plan does not fit a cluster.
type PlanProblem int

// Reasons why a plan does not fit a cluster.
const (
	RunningUnknown PlanProblem = iota // the running version is unknown
	TargetOlder                       // the target of an upgrade is older
	TargetNewer                       // the target of a rollback is newer
	AlreadyRunning
	PatchMissing // the target is the running release without a patch version
)

func (e *PlanError) Error() string {
	from, to := e.Plan.From, e.Plan.To
	switch e.Why {
	case RunningUnknown:
		return "the running version is unknown: the source does not record it"
	case TargetOlder:
		return fmt.Sprintf("%s is older than the running version (%s)", to, from)
	case TargetNewer:
		return fmt.Sprintf("%s is newer than the running version (%s)", to, from)
	case AlreadyRunning:
		return fmt.Sprintf("%s is already running: nothing to do", from)
	default:
		return fmt.Sprintf("%s is running, and %s has no patch version", from, to)
	}
}

// For returns the plan with From set to the version that the cluster runs, unless From is already known. The error
// is the reason why the plan does not fit the cluster, nil if it fits.
func (p Plan) For(c *model.Cluster) (Plan, *PlanError) {
	if !p.From.Known() {
		p.From = Running(c)
	}
	unfit := func(why PlanProblem) (Plan, *PlanError) { return p, &PlanError{why, p} }
	switch {
	case !p.From.Known():
		return unfit(RunningUnknown)
	case !p.Back && p.To.Before(p.From):
		return unfit(TargetOlder)
	case p.Back && p.From.Before(p.To):
		return unfit(TargetNewer)
	case p.To == p.From && len(c.Version.Others) == 0: // during a rolling upgrade there is still work to do
		return unfit(AlreadyRunning)
	case p.To.Patch < 0 && p.To.Release == p.From.Release:
		return unfit(PatchMissing)
	}
	return p, nil
}

// SuggestedTargets returns likely target versions, the newest first: the newest known release and the stops of
// upgrades.
func SuggestedTargets() []string {
	list := []string{Version{newest(), 2}.String()}
	for _, s := range slices.Backward(stops()) {
		list = append(list, s.version.String())
	}
	return list
}
