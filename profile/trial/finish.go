package trial

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
	"kitescope/profile/pgo"
)

// Report is the result of a trial.
type Report struct {
	// Plan has no secrets. Seed is the seed that was used.
	Plan Plan
	Seed uint64
	// Folder is the output folder. Repeat is the command line that repeats the trial.
	Folder, Repeat string
	// Sessions has one element. It is a list because documents have a list.
	Sessions      []Session
	Took          [9]time.Duration
	Module        Module
	Plain, Packed *Build
	Rounds        []Round
	Judgement     *pgo.Judgement
	Pack          *Pack
	// Runs are in the order of execution.
	Runs       []Measured
	Comparison *bench.Comparison
	// Primary lists the metrics that determine the verdict.
	Primary []string
	// Profiled reports that the measured runs wrote profiles too, on both sides.
	Profiled bool
	// Cautions are reasons to distrust the figures.
	Cautions []string
}

// Verdict returns the verdict of the primary metrics. Worse takes precedence over better.
func (r *Report) Verdict() bench.Verdict {
	verdict, seen := bench.TooFew, false
	for _, line := range r.PrimaryLines() {
		switch {
		case line.Verdict == bench.Worse:
			return bench.Worse
		case !seen, line.Verdict == bench.Better, line.Verdict == bench.NoDifference && verdict == bench.TooFew:
			verdict, seen = line.Verdict, true
		}
	}
	return verdict
}

// PrimaryLines returns the lines of the primary metrics.
func (r *Report) PrimaryLines() []*bench.Line {
	var lines []*bench.Line
	if r.Comparison == nil {
		return nil
	}
	for i := range r.Comparison.Lines {
		if l := &r.Comparison.Lines[i]; slices.Contains(r.Primary, l.Metric.String()) {
			lines = append(lines, l)
		}
	}
	return lines
}

// Effect reports whether the program was built with the profile, as the go command recorded it. The go command does
// not record it for tests.
func (r *Report) Effect() pgo.Effect {
	switch {
	case r.Packed.PGO != "":
		return pgo.Used
	case !r.Packed.Recorded:
		return pgo.EffectUnknown
	}
	return pgo.NotUsed
}

// Failed returns the number of failed runs of a side.
func (r *Report) Failed(side string) (n int) {
	for i := range r.Runs {
		if r.Runs[i].Side == side && r.Runs[i].Failed != "" {
			n++
		}
	}
	return n
}

// finish is step 8: it compares the runs and completes the report.
func (t *trial) finish(context.Context) error {
	t.notify("comparing")
	r := t.report
	if err := t.compare(r); err != nil {
		return err
	}
	last := &r.Sessions[0]
	last.Ended, last.LoadAfter = t.plan.Now().UTC(), loadAverage()
	r.caution()
	return nil
}

// sets returns the runs to compare: without and with PGO, and both sides of the control.
func (t *trial) sets() (before, after *bench.Set, control [2]*bench.Set) {
	dropped := t.incompleteMetrics()
	sets := map[bool]map[string]*bench.Set{
		false: {
			sidePlain: {Name: "without PGO", Format: "pgo trial"}, sidePacked: {Name: "with PGO", Format: "pgo trial"},
		},
		true: {
			sidePlain: {Name: "without PGO", Format: "pgo trial"},
			sideCopy:  {Name: "without PGO, again", Format: "pgo trial"},
		},
	}
	for i := range t.report.Runs {
		r := &t.report.Runs[i]
		if set := sets[r.Control][r.Side]; set != nil {
			values := slices.DeleteFunc(slices.Clone(r.Values), func(v bench.Value) bool {
				return v.Benchmark == "" && slices.Contains(dropped, v.Name)
			})
			set.Runs = append(set.Runs, bench.Run{
				Name: strconv.Itoa(r.Number), Pair: strconv.Itoa(r.Pair), Values: values, Failed: r.Failed,
			})
		}
	}
	for _, kind := range sets {
		for _, set := range kind {
			slices.SortFunc(set.Runs, func(a, b bench.Run) int { return number(a.Pair) - number(b.Pair) })
		}
	}
	if t.plan.Control > 0 {
		control = [2]*bench.Set{sets[true][sidePlain], sets[true][sideCopy]}
	}
	return sets[false][sidePlain], sets[false][sidePacked], control
}

// incompleteMetrics returns the metrics to drop: those that some successful runs lack, because the other runs would not
// be a random sample, and CPU time if CPU time per request is available.
func (t *trial) incompleteMetrics() []string {
	seen, runs := map[string]int{}, 0
	for i := range t.report.Runs {
		r := &t.report.Runs[i]
		if r.Failed != "" {
			continue
		}
		runs++
		for _, v := range r.Values {
			if v.Benchmark == "" {
				seen[v.Name]++
			}
		}
	}
	var names []string
	for _, name := range []string{MetricCPUPerRequest, MetricRSS} {
		if seen[name] < runs {
			names = append(names, name)
		}
	}
	if !slices.Contains(names, MetricCPUPerRequest) {
		names = append(names, MetricCPU)
	}
	return names
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // trial wrote it
	return n
}

func (t *trial) compare(r *Report) error {
	before, after, control := t.sets()
	var err error
	r.Comparison, err = bench.Compare(before, after, bench.Options{
		Level: t.plan.Level, Effect: t.plan.Effect, Control: control,
	})
	if err != nil {
		return err
	}
	r.Primary = primary(r.Comparison)
	if err := t.writeRuns("runs.jsonl", before, after); err != nil {
		return err
	}
	if control[0] != nil {
		return t.writeRuns("control.jsonl", control[0], control[1])
	}
	return nil
}

// primary returns the metrics that determine the verdict: CPU time and wall time or, if the load prints its
// number of requests, the rate and the CPU time per request.
func primary(c *bench.Comparison) []string {
	var clock, rates, each []string
	for i := range c.Lines {
		l := &c.Lines[i]
		own, name := l.Metric.Benchmark == "", l.Metric.String()
		switch {
		case own && l.Metric.Name == MetricCPUPerRequest:
			each = append(each, name)
		case own && (l.Metric.Name == MetricCPU || l.Metric.Name == MetricWall):
			clock = append(clock, name)
		case isRate(l.Metric.Unit, l.Better):
			rates = append(rates, name)
		}
	}
	if len(each) > 0 {
		return append(rates, each...)
	}
	return clock
}

func (t *trial) writeRuns(name string, sets ...*bench.Set) error {
	var b bytes.Buffer
	for _, s := range sets {
		if err := read.WriteRuns(&b, s); err != nil {
			return err
		}
	}
	if err := t.folder.write(b.Bytes(), name); err != nil {
		return fmt.Errorf("save the runs: %w", err)
	}
	return nil
}

// caution adds reasons to distrust the figures.
func (r *Report) caution() {
	add := func(format string, args ...any) { r.Cautions = append(r.Cautions, fmt.Sprintf(format, args...)) }
	session := &r.Sessions[0]
	for _, load := range [][]float64{session.Machine.Load, session.LoadAfter} {
		if len(load) > 0 && load[0] > busyLoad*float64(session.Machine.Cores) {
			add("the machine was busy: a load average of %.1f on %d cores; figures vary more than on a quiet one",
				load[0], session.Machine.Cores)
			break
		}
	}
	for i := range r.Comparison.Lines {
		if l := &r.Comparison.Lines[i]; l.Verdict == bench.Worse && !slices.Contains(r.Primary, l.Metric.String()) {
			add("%s got worse, by %+.1f%%", l.Metric.String(), 100*(l.Ratio-1))
		}
	}
	if r.Profiled {
		add("measured runs wrote profiles too, for both programs: absolute times are slightly high (--profile-load " +
			"takes profiles separately)")
	}
	if c := r.Comparison.Control; c != nil {
		for i := range c.Lines {
			if v := c.Lines[i].Verdict; v == bench.Better || v == bench.Worse || v == bench.Changed {
				add("the control shows a difference in %s between a program and its own copy: do not trust changes "+
					"of that size", c.Lines[i].Metric.String())
			}
		}
	}
	if r.Effect() == pgo.NotUsed {
		add("the program was built without the profile: a difference has another cause")
	}
	if a, b := r.Failed(sidePlain), r.Failed(sidePacked); a+b > 0 {
		add("%d runs without PGO and %d with PGO failed", a, b)
	}
	if r.Plain.GoVersion != r.Packed.GoVersion {
		add("the programs were built by different versions of Go: %s and %s", r.Plain.GoVersion, r.Packed.GoVersion)
	}
	if r.Plain.SHA256 == r.Packed.SHA256 {
		add("both programs are bit-identical: the profile changed nothing")
	}
}

// busyLoad is the load average per core above which other programs are assumed to be running.
const busyLoad = 1.25
