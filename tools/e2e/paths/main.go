package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

type options struct {
	seed                                uint64
	rounds, from, nice                  int
	plan, running, mending, reportOnly  bool
	only, keep, kitescope, docs, record string
	churn                               time.Duration
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "seed that the rounds are drawn from")
	flag.IntVar(&o.rounds, "rounds", 10, "number of rounds")
	flag.IntVar(&o.from, "from", 1, "number of the first round, to play a seed in parts")
	flag.IntVar(&o.nice, "nice", -19, "nice value of the cluster on a busy machine")
	flag.BoolVar(&o.plan, "plan", false, "print the plan and exit")
	flag.BoolVar(&o.running, "running", false, "use the running cluster with the collections of client.py instead "+
		"of starting one")
	flag.BoolVar(&o.mending, "mending", false, "the seed is used while kitescope is being fixed: its score is not "+
		"evidence")
	flag.BoolVar(&o.reportOnly, "report", false, "only write the score of the recorded rounds into the document")
	flag.StringVar(&o.only, "only", "", "play only rounds whose plan has one of these texts, comma-separated, "+
		"-rounds of them")
	flag.StringVar(&o.keep, "keep", "", "output folder, also of bundles; default: a temporary one")
	flag.StringVar(&o.kitescope, "kitescope", "", "the binary under test")
	flag.StringVar(&o.docs, "docs", "", "the document whose score is replaced")
	flag.StringVar(&o.record, "record", "results.jsonl", "the results file")
	flag.DurationVar(&o.churn, "churn", 0, "no faults: run a healthy cluster under clients for this long, half of "+
		"it on a starved host")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "paths:", err)
		os.Exit(1)
	}
}

// chosen returns the numbers of the rounds that are to be played.
func (o *options) chosen() []int {
	var all []int
	for n := o.from; len(all) < o.rounds && n < o.from+100_000; n++ {
		if slices.ContainsFunc(strings.Split(o.only, ","), func(s string) bool {
			return strings.Contains(plan(round(o.seed, n)), s)
		}) {
			all = append(all, n)
		}
	}
	return all
}

func run(ctx context.Context, o *options, out io.Writer) error {
	if o.plan {
		for _, n := range o.chosen() {
			if _, err := fmt.Fprintf(out, "%d/%d  %s\n", o.seed, n, plan(round(o.seed, n))); err != nil {
				return err
			}
		}
		return nil
	}
	if o.reportOnly {
		results, err := lab.ReadResults[Result](o.record)
		if err != nil {
			return err
		}
		return lab.WriteReport(o.docs, "paths", report(results))
	}
	if o.kitescope == "" {
		return errors.New("-kitescope is required: the binary under test")
	}
	base, err := lab.Open(".", "client.py", o.keep)
	if err != nil {
		return err
	}
	base.SetPriority(o.nice)
	l := &Lab{Lab: base, kitescope: &lab.Kitescope{File: o.kitescope}}
	defer l.UndoAll()
	log := func(format string, words ...any) {
		_, _ = fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, words...))
	}
	start := l.recreate
	if o.running {
		start = l.heal
	}
	if err := start(ctx); err != nil {
		return err
	}
	if o.churn > 0 {
		return churn(ctx, l, o.churn, log)
	}
	return rounds(ctx, o, l, out, log)
}

func rounds(ctx context.Context, o *options, l *Lab, out io.Writer, log func(string, ...any)) error {
	results, err := lab.ReadResults[Result](o.record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	keep, well := l.Out, true
	for _, n := range o.chosen() {
		l.Out = filepath.Join(keep, fmt.Sprintf("%d-%d", o.seed, n))
		if err := errors.Join(os.RemoveAll(l.Out), os.MkdirAll(l.Out, 0o755)); err != nil {
			return err
		}
		if !well {
			log("starting a new cluster")
			if err := l.recreate(ctx); err != nil {
				return err
			}
		}
		r := &runner{lab: l, actions: round(o.seed, n), log: log}
		log("round %d/%d: %s", o.seed, n, plan(r.actions))
		result := &Result{Seed: o.seed, Round: n, At: time.Now().UTC().Truncate(time.Second), Mending: o.mending}
		well = r.play(ctx, result)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result.print(log)
		results = append(results, result)
		if err := lab.SaveResults(o.record, results, l.Home, keep); err != nil {
			return err
		}
	}
	if o.docs != "" && o.only == "" {
		if err := lab.WriteReport(o.docs, "paths", report(results)); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, report(results))
	return err
}

func (r *Result) print(log func(string, ...any)) {
	if r.Broken != "" {
		log("BROKEN %s", r.Broken)
	}
	log("FELT after %.0f s: %s; later: %s", r.Began, symptomText(r.Symptoms), symptomText(r.LateSymptoms))
	log("SCORE loud %v (%.0f s after, took %.1f s), injected at place %d, or next to it %d, --watch %.0f s (any "+
		"%.0f s)", r.Alerting, r.Look, r.Took, r.Place, r.Next, r.Watch, r.WatchAny)
	for _, i := range r.Impact {
		log("   impact of %s: %q, right %v", i.Kind, i.State, i.Right)
	}
	for i, f := range r.Findings {
		log("   %d. %s", i+1, f)
	}
}
