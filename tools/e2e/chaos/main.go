package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

type options struct {
	seed                                uint64
	rounds, from                        int
	plan, running, mending, reportOnly  bool
	only, keep, kitescope, docs, record string
	churn                               time.Duration
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "seed that the rounds are drawn from")
	flag.IntVar(&o.rounds, "rounds", 10, "number of rounds")
	flag.IntVar(&o.from, "from", 1, "number of the first round, to play a seed in parts")
	flag.BoolVar(&o.plan, "plan", false, "print the plan and exit")
	flag.BoolVar(&o.running, "running", false, "use the running cluster with the data of client.py instead of "+
		"starting one")
	flag.BoolVar(&o.mending, "mending", false, "the seed is used while kitescope is being fixed: its score is not "+
		"evidence")
	flag.BoolVar(&o.reportOnly, "report", false, "only write the score of the recorded rounds into the document")
	flag.StringVar(&o.only, "only", "", "play only rounds with this kind of fault, -rounds of them")
	flag.StringVar(&o.keep, "keep", "", "output folder; default: a temporary one")
	flag.StringVar(&o.kitescope, "kitescope", "", "the kitescope binary under test")
	flag.StringVar(&o.docs, "docs", "", "the document whose score is replaced")
	flag.StringVar(&o.record, "record", "results.jsonl", "the results file")
	flag.DurationVar(&o.churn, "churn", 0, "no faults: run a healthy cluster under clients for this long, with --watch")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// chosen returns the numbers of the rounds to play.
func (o *options) chosen() []int {
	var all []int
	for n := o.from; len(all) < o.rounds && n < o.from+100000; n++ {
		if o.only == "" {
			all = append(all, n)
			continue
		}
		for _, d := range round(o.seed, n) {
			if d.Kind.Name == o.only {
				all = append(all, n)
				break
			}
		}
	}
	return all
}

func run(ctx context.Context, o *options, out io.Writer) error {
	if o.plan {
		for _, n := range o.chosen() {
			_, err := fmt.Fprintf(out, "%d/%d  %s\n", o.seed, n, plan(round(o.seed, n)))
			if err != nil {
				return err
			}
		}
		return nil
	}
	if o.reportOnly {
		results, err := readResults(o.record)
		if err != nil {
			return err
		}
		return writeReport(o.docs, results)
	}
	if o.kitescope == "" {
		return errors.New("-kitescope is required: the binary under test")
	}
	l, err := openLab(o)
	if err != nil {
		return err
	}
	defer l.UndoAll()
	log := func(format string, words ...any) {
		_, _ = fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, words...))
	}
	if !o.running {
		if err := l.recreate(ctx); err != nil {
			return err
		}
	}
	if o.churn > 0 {
		return l.healthy(ctx, o.churn, log)
	}
	return rounds(ctx, o, l, out, log)
}

func plan(draws []Draw) string {
	var words []string
	for _, d := range draws {
		text := d.String()
		if d.Kind.Decoy {
			text += " (decoy)"
		}
		words = append(words, text)
	}
	return strings.Join(words, " + ")
}

func openLab(o *options) (*Lab, error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	l, err := lab.Open(here, "client.py", o.keep)
	if err != nil {
		return nil, err
	}
	return &Lab{Lab: l, dir: here, kitescope: &lab.Kitescope{File: o.kitescope}, sessionNames: map[string]string{}}, nil
}

func rounds(ctx context.Context, o *options, l *Lab, out io.Writer, log func(string, ...any)) error {
	keep := l.Out
	well := true
	for _, n := range o.chosen() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Out = filepath.Join(keep, fmt.Sprintf("%d-%d", o.seed, n))
		if err := os.RemoveAll(l.Out); err != nil {
			return err
		}
		if err := os.MkdirAll(l.Out, 0o755); err != nil {
			return err
		}
		if !well {
			log("starting a new cluster")
			if err := l.recreate(ctx); err != nil {
				return err
			}
		}
		r := &runner{lab: l, draws: round(o.seed, n), log: log}
		log("round %d/%d: %s", o.seed, n, plan(r.draws))
		result := Result{Seed: o.seed, Round: n, At: time.Now().UTC().Truncate(time.Second), Mending: o.mending}
		well = r.play(ctx, &result)
		for _, f := range result.Faults {
			log("SCORE %s %s: place %d after %.0f s by %s, --watch after %.0f s %s", f.Kind, f.Args, f.Place, f.Seconds,
				f.By, f.Watch, f.Missed)
		}
		if result.Broken != "" {
			log("BROKEN %s", result.Broken)
		}
		log("WELL %v", well)
		if ctx.Err() == nil {
			if err := result.save(o.record, l); err != nil {
				return err
			}
		}
	}
	results, err := readResults(o.record)
	if err != nil {
		return err
	}
	if o.docs != "" && o.only == "" {
		if err := writeReport(o.docs, results); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, report(results))
	return err
}
