package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

const (
	baselineTime = 60 * time.Second  // of a cluster that is well are the past that rounds are held against
	healthyTime  = 12 * time.Second  // is how long it has to be as it was then before a round
	wait         = 150 * time.Second // for that
	hold         = 35 * time.Second  // how long an action has to be felt in
	bar          = 20 * time.Second  // how long what is felt goes on, unless --watch names it sooner

	recent = 2 * time.Second // before a look, in which requests have to be bad for it to see
)

// Played is one action of a round.
type Played struct {
	Action  string `json:"action"`
	Effect  string `json:"effect"`
	Present bool   `json:"there"`
}

// Result is one round, a line of results.jsonl.
type Result struct {
	Seed         uint64    `json:"seed"`
	Round        int       `json:"round"`
	At           time.Time `json:"at"`
	Mending      bool      `json:"mending,omitempty"` // the seed was used while kitescope was mended
	Actions      []Played  `json:"actions"`
	Symptoms     []Symptom `json:"felt,omitempty"` // until the look
	LateSymptoms []Symptom `json:"felt_later,omitempty"`
	Began        float64   `json:"felt_seconds,omitempty"` // from the injection until it began to be felt
	Look         float64   `json:"look_seconds,omitempty"` // from then until the look was over
	Took         float64   `json:"took_seconds,omitempty"`
	Exit         int       `json:"exit"`
	Alerting     bool      `json:"loud,omitempty"`
	Impact       []Impact  `json:"impact,omitempty"`
	ExtraKinds   []string  `json:"impact_over,omitempty"` // kinds that are not well by the impact, and were not felt
	Place        int       `json:"place,omitempty"`       // of the first loud finding that names what was injected
	Next         int       `json:"next,omitempty"`        // or what is next to it on a path
	Checks       int       `json:"checks,omitempty"`      // actions for which there is a check
	Causes       int       `json:"causes,omitempty"`      // and which a finding of one names
	Watch        float64   `json:"watch_seconds,omitempty"`
	WatchAny     float64   `json:"watch_any_seconds,omitempty"` // until a finding that names anything
	Findings     []string  `json:"findings,omitempty"`          // the first of the look that follow from no other
	Errors       []string  `json:"errors,omitempty"`            // of a round in which nothing was felt
	PreExisting  []string  `json:"errors_before,omitempty"`     // those present before the injection
	// number of other errors that name no injected component
	False    int      `json:"false_errors,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Broken   string   `json:"broken,omitempty"` // the round itself went wrong, and is not scored
}

var errUnhealthy = errors.New("the cluster is not healthy")

type runner struct {
	lab     *Lab
	actions []*Action
	log     func(format string, words ...any)
}

// play plays one round, and reports whether the cluster is well after it.
func (r *runner) play(ctx context.Context, result *Result) (well bool) {
	err := r.round(ctx, result)
	if err != nil {
		result.Broken = err.Error()
	}
	if ctx.Err() != nil { // interrupted: nothing is started any more
		r.lab.UndoAll()
		return false
	}
	healed := r.lab.heal(ctx)
	if healed != nil {
		r.log("not healed: %v", healed)
	}
	return healed == nil && !errors.Is(err, errUnhealthy) &&
		!slices.ContainsFunc(r.actions, func(a *Action) bool { return a.Fresh })
}

func (r *runner) round(ctx context.Context, result *Result) error {
	l := r.lab
	l.sessionNames = map[string][]string{}
	watch, err := l.kitescope.Watch(ctx, l.Lab, l.Out)
	if err != nil {
		return err
	}
	defer watch.End()
	file := filepath.Join(l.Out, "requests.jsonl")
	end, err := l.startProbe(ctx, file)
	if err != nil {
		return err
	}
	defer end()
	by, err := r.waitHealthy(ctx, file)
	if err != nil {
		return err
	}
	l.recordSessions(ctx)
	if err := r.inject(ctx); err != nil {
		return err
	}
	injected := time.Now() // a process that had to be started again for it is back by now
	felt := r.waitForSymptoms(ctx, file, by, injected)
	asked := time.Now()
	look, err := l.kitescope.Diagnose(ctx, l.Lab, filepath.Join(l.Out, "look.json"), injected)
	if err != nil {
		return err
	}
	markEnded(felt, readRequests(file), by, asked.Add(-recent), time.Now())
	for _, a := range r.actions {
		there, how := a.effect(ctx, l)
		result.Actions = append(result.Actions, Played{a.String(), how, there})
		r.log("effect %v: %s", there, how)
	}
	effect := slices.ContainsFunc(result.Actions, func(a Played) bool { return a.Present })
	if !effect && len(felt) > 0 &&
		!slices.ContainsFunc(felt, func(f Symptom) bool { return !slices.Equal(f.Failures, []string{"slow"}) }) {
		return fmt.Errorf("no fault took effect, and other load on the machine slows the requests: %s",
			symptomText(felt))
	}
	since := unix(injected)
	if start, there := firstSymptom(felt); there {
		since += start
		_ = lab.Wait(ctx, time.Until(injected.Add(bar+time.Duration(start*1e9))), "--watch", func() bool {
			return firstAlert(lab.Appeared(watch.Events(), injected, time.Now()), r.names(true), since) > 0
		})
	}
	l.recordSessions(ctx)
	later := symptomsOf(readRequests(file), by, injected, time.Now())
	result.LateSymptoms = slices.DeleteFunc(later, func(f Symptom) bool {
		return slices.ContainsFunc(felt, func(g Symptom) bool { return g.Kind == f.Kind })
	})
	r.score(result, look, felt, watch.Events(), injected, asked)
	if !watch.Alive() {
		return errors.New("--watch exited on its own")
	}
	if result.bad() || result.Mending && len(felt) > 0 {
		if err := l.kitescope.Bundle(ctx, l.Lab, filepath.Join(l.Out, "during.kite")); err != nil {
			r.log("no bundle: %v", err)
		}
	}
	return nil
}

// inject does the actions of the round.
func (r *runner) inject(ctx context.Context) error {
	for _, a := range r.actions {
		r.log("inject %s", a)
		if err := a.inject(ctx, r.lab, a); err != nil {
			return fmt.Errorf("inject %s: %w", a, err)
		}
	}
	return nil
}

// waitHealthy waits until requests are as they were when the cluster was known to be well, or, where that is not known
// or no longer so, until none has failed for a minute. It returns how long requests took then.
func (r *runner) waitHealthy(ctx context.Context, file string) (map[string]Baseline, error) {
	l := r.lab
	for began := time.Now(); ; {
		if err := lab.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		now, all := time.Now(), readRequests(file)
		if isHealthy(all, l.baseline, now) {
			return l.baseline, nil
		}
		by, bad := baseline(all, now.Add(-baselineTime), now)
		// It takes a few seconds until it is connected.
		if time.Since(began) > baselineTime+5*time.Second && bad == 0 && len(by) == len(kinds) {
			l.baseline = by
			return by, nil
		}
		if time.Since(began) > wait {
			return nil,
				fmt.Errorf("%w: %d requests failed in a minute, %d kinds of %d succeeded", errUnhealthy, bad, len(by),
					len(kinds))
		}
	}
}

// isHealthy reports whether requests of all kinds succeeded of late, none failed, and none were slower than in the
// past.
func isHealthy(all []request, by map[string]Baseline, now time.Time) bool {
	from := now.Add(-healthyTime)
	if len(by) == 0 || len(all) == 0 || all[0].Began > unix(from) {
		return false
	}
	recent, bad := baseline(all, from, now)
	return bad == 0 && len(recent) == len(kinds) && len(symptomsOf(all, by, from, now)) == 0
}

// waitForSymptoms waits until something has been felt for ten seconds.
func (r *runner) waitForSymptoms(
	ctx context.Context, file string, by map[string]Baseline, injected time.Time,
) []Symptom {
	for {
		if lab.Sleep(ctx, time.Second) != nil {
			return nil
		}
		felt := symptomsOf(readRequests(file), by, injected, time.Now())
		if since, there := firstSymptom(felt); there && time.Since(injected).Seconds() > since+window ||
			time.Since(injected) > hold {
			return felt
		}
	}
}

// firstSymptom returns how many seconds after the injection something was felt.
func firstSymptom(felt []Symptom) (seconds float64, there bool) {
	for i, f := range felt {
		if i == 0 || f.Since < seconds {
			seconds = f.Since
		}
	}
	return seconds, len(felt) > 0
}

func (r *runner) score(
	result *Result, look *lab.Diagnosis, felt []Symptom, events []lab.Finding, injected, asked time.Time,
) {
	result.Symptoms, result.Took, result.Exit, result.Alerting = felt, look.Took, look.Exit, hasAlert(look)
	names, all := r.names(false), r.names(true)
	for i := range look.Findings {
		if f := &look.Findings[i]; f.Cause == nil && len(result.Findings) < 5 {
			result.Findings = append(result.Findings, f.String())
		}
	}
	if look.Stderr != "" && len(look.Findings) == 0 {
		result.Findings = append(result.Findings, look.Stderr)
	}
	for _, said := range look.Impact {
		fine := said.State == "fine" || said.State == "idle" || said.State == "unknown"
		kind := said.Request
		if kind == "describe" { // the client reads metadata as a part of DDL
			kind = "ddl"
		}
		if !fine && !slices.ContainsFunc(felt, func(f Symptom) bool { return f.Kind == kind }) {
			result.ExtraKinds = append(result.ExtraKinds, said.Request+" "+said.State)
		}
	}
	if len(felt) == 0 {
		result.Errors, result.Warnings = lines(look.Findings, "error"), lines(look.Findings, "warning")
		for i := range look.Findings {
			switch f := &look.Findings[i]; {
			case f.Severity != "error":
			case lab.WasOpen(events, f, injected):
				result.PreExisting = append(result.PreExisting, f.String())
			case !namesOne(f, names) && !namesOne(root(look, f), names):
				result.False++
			}
		}
		return
	}
	result.Began, _ = firstSymptom(felt)
	since := unix(injected) + result.Began
	result.Look = round1(unix(asked) - since + look.Took)
	result.Impact = impactOf(felt, look)
	result.Place, result.Next = place(look, names), place(look, all)
	for i, a := range r.actions {
		if checks := a.checks(); checks != nil && i < len(result.Actions) && result.Actions[i].Present {
			result.Checks++
			if slices.ContainsFunc(look.Findings, func(f lab.Finding) bool {
				return f.IsAlert() && slices.Contains(checks, f.Check) && namesOne(&f, r.lab.namesOf(a.Components))
			}) {
				result.Causes++
			}
		}
	}
	risen := lab.Appeared(events, injected, time.Now())
	result.Watch, result.WatchAny = firstAlert(risen, all, since), firstAlert(risen, nil, since)
}

// names returns the words by which a finding names what is acted on, or also what is next to it on a path.
func (r *runner) names(next bool) []string {
	var all []string
	for _, a := range r.actions {
		all = append(all, append(r.lab.namesOf(a.Components), a.names...)...)
		if next {
			all = append(all, r.lab.namesOf(a.neighbors())...)
		}
	}
	return all
}

// bad reports whether the look of a round is to be looked into.
func (r *Result) bad() bool {
	if len(r.Symptoms) == 0 {
		return len(r.Errors) > 0
	}
	return !r.Alerting || r.Next == 0 || r.Next > 2 ||
		slices.ContainsFunc(r.Impact, func(i Impact) bool { return i.State != "" && !i.Right })
}

func (r *Result) what() string {
	var all []string
	for _, a := range r.Actions {
		all = append(all, "`"+a.Action+"`")
	}
	return strings.Join(all, " and ")
}

func symptomText(felt []Symptom) string {
	var all []string
	for _, f := range felt {
		all = append(all, fmt.Sprintf("%s %s (%d of %d)", f.Kind, strings.Join(f.Failures, "+"), f.Bad, f.Total))
	}
	return strings.Join(all, ", ")
}
