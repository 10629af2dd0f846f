package cluster

import (
	"errors"
	"fmt"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/preflight"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui"
)

// Words that may follow the name of the page, in addition to the target version.
const (
	backWord    = "back"
	runningWord = "running="
)

// planInput is a plan as the user entered it, and the same plan resolved for the current cluster.
type planInput struct {
	plan     preflight.Plan // From is set only if the user entered it
	resolved preflight.Plan // resolved for the cluster
}

func openPreflight(m *tui.Model, args []string) (tui.Page, error) {
	plan, err := parse(args)
	if err != nil {
		return nil, err
	}
	a := &planInput{plan: plan, resolved: plan}
	if env := m.Env(); env != nil {
		if err := a.resolve(env.Cluster); err != nil {
			return nil, err
		}
	}
	return tui.NewFindingsPage(&tui.Findings{
		Name: a.name(), CommandLine: a.command(), Checks: a.checks, About: a.about, Annotate: a.annotate,
	}), nil
}

// parse parses the words after the name of the page, in any order.
func parse(args []string) (plan preflight.Plan, err error) {
	for _, word := range args {
		running, isRunning := strings.CutPrefix(word, runningWord)
		switch {
		case word == backWord || word == "--back":
			plan.Back = true
		case isRunning:
			plan.From, err = preflight.ParseVersion(running)
		case plan.To.Known():
			err = fmt.Errorf("unexpected argument %q", word)
		default:
			plan.To, err = preflight.ParseVersion(word)
		}
		if err != nil {
			return plan, fmt.Errorf("%s: type %s", words.Sanitize(err.Error()), forms())
		}
	}
	if !plan.To.Known() {
		return plan, errors.New("version required: " + forms() + " (tab completes)")
	}
	return plan, nil
}

// forms returns examples of the input, with the newest and the oldest version.
func forms() string {
	known := preflight.SuggestedTargets()
	return "preflight " + known[0] + ", or preflight " + known[len(known)-1] + " " + backWord
}

// completions returns the completions of a line: newer versions, back, and older ones.
func completions(m *tui.Model) []string {
	var running preflight.Version
	if env := m.Env(); env != nil {
		running = preflight.Running(env.Cluster)
	}
	var newer, older []string
	for _, text := range preflight.SuggestedTargets() {
		v, err := preflight.ParseVersion(text)
		switch {
		case err != nil || v == running:
		case v.Before(running):
			older = append(older, text)
		default:
			newer = append(newer, text)
		}
	}
	return append(append(newer, backWord), older...)
}

// resolve applies the plan to a cluster. It returns an error with a hint if the plan does not fit the cluster.
func (a *planInput) resolve(c *model.Cluster) error {
	of, unfit := a.plan.For(c)
	a.resolved = of
	if unfit == nil {
		return nil
	}
	to, forward := a.plan.To.String(), planInput{plan: a.plan}
	forward.plan.Back = false
	hint := map[preflight.PlanProblem]string{
		preflight.RunningUnknown: "type :" + a.name() + " " + runningWord + "2.5.16",
		preflight.TargetOlder:    "type :" + a.name() + " " + backWord,
		preflight.TargetNewer:    "type :" + forward.name(),
		preflight.AlreadyRunning: "choose another version",
		preflight.PatchMissing:   "give the full version, e.g. " + to + ".1",
	}
	return errors.New(unfit.Error() + "; " + hint[unfit.Why])
}

func (a *planInput) checks(c *model.Cluster) ([]*check.Check, error) {
	if err := a.resolve(c); err != nil {
		return nil, err
	}
	return preflight.Checks(a.resolved), nil
}

// name returns the words that open the page in the palette.
func (a *planInput) name() string {
	text := "preflight " + a.plan.To.String()
	if a.plan.Back {
		text += " " + backWord
	}
	if a.plan.From.Known() {
		text += " " + runningWord + a.plan.From.String()
	}
	return text
}

func (a *planInput) command() string {
	c := shellquote.Shell("preflight").Word("--to", a.plan.To.String())
	if a.plan.Back {
		c = c.Word("--back")
	}
	if a.plan.From.Known() {
		c = c.Word("--running", a.plan.From.String())
	}
	return c.String()
}

// change returns the plan for reports.
func (a *planInput) change() *clusters.Preflight {
	return &clusters.Preflight{
		From: a.resolved.From.String(), To: a.resolved.To.String(), Next: a.resolved.Next().String(),
		Back: a.resolved.Back,
	}
}

func (a *planInput) about() string {
	if !a.resolved.From.Known() { // no cluster yet
		return "to " + a.resolved.To.String()
	}
	return a.change().Text()
}

func (a *planInput) annotate(d *clusters.Diagnosis) { d.Preflight = a.change() }
