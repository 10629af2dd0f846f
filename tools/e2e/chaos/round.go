package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// GracePeriod is how long a finding may stay after the cluster is healthy again. On a healthy cluster, handing over
// flushed segments takes up to 68 s, and checkpoints move once a minute (docs/evidence/diagnosis.md).
const GracePeriod = 100 * time.Second

// Outcome is the result of one injected action.
type Outcome struct {
	Kind    string  `json:"kind"`
	Args    string  `json:"args"`
	Decoy   bool    `json:"decoy,omitempty"`
	Present bool    `json:"there"`
	Seen    string  `json:"seen"`            // according to other means
	Place   int     `json:"place,omitempty"` // the best place
	By      string  `json:"by,omitempty"`    // the check
	Seconds float64 `json:"seconds,omitempty"`
	Watch   float64 `json:"watch_seconds,omitempty"` // until --watch reported it
	Missed  string  `json:"missed,omitempty"`        // the reason if it counts as a miss
}

// Result is the result of one round, a line of results.jsonl.
type Result struct {
	Seed     uint64    `json:"seed"`
	Round    int       `json:"round"`
	At       time.Time `json:"at"`
	Mending  bool      `json:"mending,omitempty"` // the seed was used while kitescope was being fixed
	Faults   []Outcome `json:"faults"`
	Before   []string  `json:"false_before,omitempty"`
	During   []string  `json:"false_during,omitempty"`
	After    []string  `json:"false_after,omitempty"`
	Searches string    `json:"searches,omitempty"`
	Broken   string    `json:"broken,omitempty"` // the round itself failed and is no evidence about kitescope
}

type runner struct {
	lab   *Lab
	draws []Draw
	want  []*wanted
	log   func(format string, words ...any)
}

// play plays one round on a healthy cluster. It reports whether the cluster is healthy afterwards.
func (r *runner) play(ctx context.Context, result *Result) (well bool) {
	l := r.lab
	defer l.UndoAll()
	defer l.EndBackground(false)
	began := time.Now()
	w, err := l.kitescope.Watch(ctx, l.Lab, l.Out)
	if err != nil {
		result.Broken = err.Error()
		return false
	}
	defer w.End()
	if err := r.before(ctx, result); err != nil {
		result.Broken = err.Error()
		return false
	}
	probe := l.Command(ctx, l.Python(), "-W", "ignore", filepath.Join(l.dir, "client.py"), lab.ProxyAddress, "probe",
		filepath.Join(l.Out, "probe.jsonl"))
	if probe.Start() == nil {
		defer func() { _ = probe.Cancel(); _ = probe.Wait() }()
	}
	_ = lab.Sleep(ctx, 5*time.Second)
	injected := time.Now()
	r.recordFalse(&result.Before, alarms(lab.Appeared(w.Events(), began, injected), nil), "--watch")
	for _, d := range r.draws {
		r.log("inject %s", d)
		if err := d.Kind.Inject(ctx, l, d.Args); err != nil {
			result.Broken = fmt.Sprintf("inject %s: %v", d, err)
			break
		}
	}
	if result.Broken == "" {
		r.during(ctx, result, w, injected)
	}
	healing := time.Now()
	searches, failed, worst := l.searchStats(injected, healing)
	result.Searches = fmt.Sprintf("%d of %d searches failed, the slowest took %.2f s", failed, searches, worst)
	if err := r.heal(ctx); err != nil {
		r.log("not healed: %v", err)
		result.Broken = strings.TrimPrefix(result.Broken+"; not healed: "+err.Error(), "; ")
		return false
	}
	well = r.after(ctx, result, w)
	return well && !slices.ContainsFunc(r.draws, func(d Draw) bool { return d.Kind.Fresh })
}

func (r *runner) recordFalse(into *[]string, findings []Finding, where string) {
	for i := range findings {
		line := where + ": " + findings[i].String()
		if !slices.Contains(*into, line) {
			r.log("FALSE %s", line)
			*into = append(*into, line)
		}
	}
}

// before waits until the cluster is quiet, first according to other means and then to kitescope.
func (r *runner) before(ctx context.Context, result *Result) error {
	if err := r.lab.waitQuiet(ctx); err != nil {
		return err
	}
	left, err := r.waitSilent(ctx, "before")
	r.recordFalse(&result.Before, left, "diagnose")
	if err != nil {
		return err
	}
	sessions, err := r.lab.Sessions(ctx)
	if err != nil {
		return err
	}
	r.lab.recordSessions(sessions)
	r.prepare()
	return nil
}

// waitQuiet waits until all processes are healthy and nothing is moved, built or handed over.
func (l *Lab) waitQuiet(ctx context.Context) error {
	for _, p := range lab.AllProcesses {
		if _, err := l.Healthz(ctx, p, 10*time.Second); err != nil {
			return fmt.Errorf("%s is not healthy: %w", p, err)
		}
	}
	_, err := l.stateNow(ctx, "--settle", "8", "--timeout", "300")
	return err
}

// waitSilent runs diagnose until it has no finding of severity warning or above, at most for GracePeriod. It returns
// the findings that are left.
func (r *runner) waitSilent(ctx context.Context, name string) ([]Finding, error) {
	for end := time.Now().Add(GracePeriod); ; {
		look, err := r.lab.diagnose(ctx, name, time.Now())
		if err != nil {
			return nil, err
		}
		left := alarms(look.Findings, nil)
		if len(left) == 0 || time.Now().After(end) {
			if len(left) > 0 {
				r.lab.bundle(ctx, name)
			}
			return left, nil
		}
		if err := lab.Sleep(ctx, 5*time.Second); err != nil {
			return nil, err
		}
	}
}

func (r *runner) during(ctx context.Context, result *Result, w *lab.Watch, injected time.Time) {
	limit, hold := time.Duration(0), time.Duration(0)
	for _, d := range r.draws {
		limit, hold = max(limit, d.Kind.Limit), max(hold, d.Kind.Hold)
		result.Faults = append(result.Faults, Outcome{Kind: d.Kind.Name, Args: d.Args.String(), Decoy: d.Kind.Decoy})
	}
	injectedAll := time.Now()
	if slices.ContainsFunc(r.draws, func(d Draw) bool { return d.Kind.Anew }) {
		if sessions, err := r.lab.Sessions(ctx); err == nil {
			r.lab.recordSessions(sessions)
		}
		r.want = nil
		r.prepare()
	}
	var more []string
	if slices.ContainsFunc(r.draws, func(d Draw) bool { return d.Kind.Storage }) && r.lab.hasFlag(ctx, "--storage ") {
		more = []string{"--storage", r.lab.Data()}
	}
	for n := 1; ; n++ {
		_ = lab.Sleep(ctx, min(time.Duration(n)*2*time.Second, 15*time.Second))
		before := r.observe(ctx)
		look, err := r.lab.diagnose(ctx, fmt.Sprintf("during-%d", n), injectedAll, more...)
		if err != nil {
			result.Broken = err.Error()
			return
		}
		look.Seen = r.observe(ctx)
		r.judge(ctx, result, look, before, n)
		done := !slices.ContainsFunc(result.Faults, func(o Outcome) bool {
			return !o.Decoy && o.Present && (o.Place == 0 || o.Place > 2)
		})
		past := time.Since(injectedAll)
		if ctx.Err() != nil || past >= hold && (done || past >= limit+15*time.Second) {
			break
		}
	}
	events := w.Events()
	r.recordFalse(&result.During, alarms(lab.Appeared(events, injected, time.Now()), r.want), "--watch")
	if !w.Alive() {
		result.During = append(result.During, "--watch exited on its own")
	}
	for i := range result.Faults {
		o := &result.Faults[i]
		for _, f := range lab.Appeared(events, injected, time.Now()) {
			if r.want[i].about(&f) && o.Watch == 0 {
				o.Watch = max(lab.Seconds(f.Time().Sub(injectedAll)), 0.1)
			}
		}
		if !o.Present || o.Decoy {
			continue
		}
		if d := r.draws[i]; o.Place == 0 || o.Place > 2 {
			o.Missed = fmt.Sprintf("not named first or second within %.0f s", lab.Seconds(time.Since(injectedAll)))
		} else if o.Seconds > d.Kind.Limit.Seconds()+15 {
			o.Missed = fmt.Sprintf("named after %.0f s", o.Seconds)
		}
	}
}

func (r *runner) observe(ctx context.Context) []Observation {
	seen := make([]Observation, len(r.draws))
	for i, d := range r.draws {
		seen[i] = d.Kind.Observe(ctx, r.lab, d.Args)
	}
	return seen
}

// judge scores one look. A fault has to be named if it was there before and after the look, in the same
// processes.
func (r *runner) judge(ctx context.Context, result *Result, look *Diagnosis, before []Observation, n int) {
	l := r.lab
	bad := false
	for i, d := range r.draws {
		o, w, now := &result.Faults[i], r.want[i], look.Seen[i]
		o.Seen = now.What
		if d.Kind.Decoy {
			o.Present = true
			continue
		}
		w.now = w.all
		if len(d.Args.Processes) > 0 {
			w.now = l.resolve(l.acceptedNames(now.Processes))
		}
		if !before[i].Present || !now.Present || !slices.Equal(before[i].Processes, now.Processes) {
			continue
		}
		o.Present = true
		place, left, by := r.rankCause(look, w)
		switch {
		case place > 0 && place <= 2 && len(left) == 0:
			if o.Place == 0 || o.Place > 2 {
				o.Place, o.By, o.Seconds = place, by, look.After
			}
		case o.Place > 0 && o.Place <= 2:
			bad = true
			o.Missed = fmt.Sprintf("named after %.0f s, but not after %.0f s, when it was still there (%s)", o.Seconds,
				look.After, now.What)
		default:
			bad = true
			if place > 2 {
				o.Place = place
			}
		}
		r.log("%.0f s: %s: place %d (%s), not named %v; %s", look.After, d.Kind.Name, place, by, left, now.What)
	}
	false1 := alarms(look.Findings, r.want)
	r.recordFalse(&result.During, false1, "diagnose")
	if bad || len(false1) > 0 {
		for i, f := range look.Findings {
			r.log("   %d. %s", i+1, f.String())
		}
		l.bundle(ctx, fmt.Sprintf("during-%d", n))
	}
}

func (r *runner) rankCause(look *Diagnosis, w *wanted) (place int, left [][]string, by string) {
	if w.Unreadable && len(look.Findings) == 0 {
		text := strings.ToLower(look.Stderr)
		if look.Exit != 0 && lab.Mentions(text, []string{lab.EtcdAddress}) {
			return 1, nil, "stderr"
		}
		return 0, w.now, ""
	}
	place, left = w.place(look.Findings, r.want)
	for i := range look.Findings {
		if by == "" && w.about(&look.Findings[i]) {
			by = look.Findings[i].Severity + " " + look.Findings[i].Check
		}
	}
	return place, left, by
}

func (r *runner) heal(ctx context.Context) error {
	var errs error
	for _, d := range slices.Backward(r.draws) {
		r.log("heal %s", d)
		errs = errors.Join(errs, d.Kind.Heal(ctx, r.lab, d.Args))
	}
	r.lab.UndoAll()
	if errs != nil || slices.ContainsFunc(r.draws, func(d Draw) bool { return d.Kind.Fresh }) {
		return errs
	}
	if err := r.lab.EnsureRunning(ctx, lab.AllProcesses...); err != nil {
		return err
	}
	if err := r.lab.waitQuiet(ctx); err != nil {
		return err
	}
	began := time.Now()
	return lab.Wait(ctx, 60*time.Second, "searches succeed", func() bool {
		searches, failed, _ := r.lab.searchStats(time.Now().Add(-6*time.Second), time.Now())
		return time.Since(began) > 6*time.Second && searches > 0 && failed == 0
	})
}

func (r *runner) after(ctx context.Context, result *Result, w *lab.Watch) bool {
	if slices.ContainsFunc(r.draws, func(d Draw) bool { return d.Kind.Fresh }) {
		return false
	}
	healed := time.Now()
	r.log("healed, by etcd, processes and searches")
	left, err := r.waitSilent(ctx, "after")
	if err != nil {
		result.Broken = err.Error()
		return false
	}
	r.recordFalse(&result.After, left, "diagnose")
	// --watch holds a finding for up to two minutes after it was last found.
	_ = lab.Wait(ctx, 130*time.Second, "watch is silent", func() bool {
		return len(alarms(openFindings(w.Events(), time.Now()), nil)) == 0
	})
	watched := alarms(openFindings(w.Events(), time.Now()), nil)
	r.recordFalse(&result.After, watched, "--watch")
	r.log("silent %.0f s after", time.Since(healed).Seconds())
	return len(left) == 0 && len(watched) == 0
}

// recordSessions saves the sessions of processes, because they may be gone when they have to be named.
func (l *Lab) recordSessions(sessions map[string]lab.Session) {
	for p, s := range sessions {
		l.sessionNames[p] = fmt.Sprintf("%s-%d", s.Role, s.ID)
		l.Address[p] = s.Address
	}
}

// resolve replaces each @process by its session and address.
func (l *Lab) resolve(all [][]string) [][]string {
	var out [][]string
	for _, list := range all {
		var words []string
		for _, w := range list {
			switch {
			case strings.HasPrefix(w, "@"):
				words = append(words, l.sessionNames[w[1:]], l.Address[w[1:]])
			default:
				words = append(words, w)
			}
		}
		out = append(out, words)
	}
	return out
}

// prepare determines the expected findings before anything is injected.
func (r *runner) prepare() {
	for _, d := range r.draws {
		w := &wanted{Want: d.Kind.Want(d.Args)}
		w.all = r.lab.resolve(w.Names)
		if len(d.Args.Processes) > 0 {
			w.all = r.lab.resolve(r.lab.acceptedNames(d.Args.Processes))
		}
		w.now = w.all
		r.want = append(r.want, w)
	}
}

// save appends a line to the record. It removes the paths of the lab and of this program.
func (r *Result) save(file string, l *Lab) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	for _, place := range []string{l.Home, l.dir} {
		line = bytes.ReplaceAll(line, []byte(place+"/"), nil)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
