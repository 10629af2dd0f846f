// Command latency compares kitescope's account of request times with a client's measurements, on a real
// Milvus cluster.
//
// It starts the cluster of ../shared/milvus and fills it. Then it plays one Situation after the other. A
// client (client.py) sends requests and measures each, while kitescope queries all processes twice and saves
// a bundle. On the bundle it runs "latency" for the phases and "why" for the cause. Then the cause is
// removed, and the same client measures the gain. The expected cause is part of the Situation. A situation
// that fails costs only its own row. The table goes into docs/evidence/latency.md. All output is kept, so
// each row can be analyzed.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

type options struct {
	list, running, leave                bool
	reportOnly, again                   bool
	only, keep, kitescope, docs, record string
	window, total, healthy              time.Duration
	nice                                int
}

func main() {
	var o options
	flag.BoolVar(&o.list, "list", false, "list the situations and exit")
	flag.BoolVar(&o.running, "running", false, "use the running cluster with the data of client.py instead of "+
		"starting one")
	flag.BoolVar(&o.leave, "leave", false, "leave the cluster running at the end")
	flag.BoolVar(&o.reportOnly, "report", false, "only write the recorded results into the document")
	flag.BoolVar(&o.again, "again", false, "run -kitescope again on the bundles of an earlier run (its folder in "+
		"-keep, its results in -record), without a cluster")
	flag.StringVar(&o.only, "only", "", "play only these situations, comma-separated; does not write the document")
	flag.StringVar(&o.keep, "keep", "", "output folder; default: a temporary one")
	flag.StringVar(&o.kitescope, "kitescope", "", "the kitescope binary under test")
	flag.StringVar(&o.docs, "docs", "", "the document whose table is replaced")
	flag.StringVar(&o.record, "record", "results.jsonl", "the results file")
	flag.DurationVar(&o.window, "window", 25*time.Second, "how long each situation is observed")
	flag.DurationVar(&o.total, "total", 2*time.Hour, "time limit of the run")
	flag.IntVar(&o.nice, "nice", 0, "nice value of the cluster and its client on a busy machine, -20 to 19")
	flag.DurationVar(&o.healthy, "healthy", 0, "no injection: diagnose a healthy cluster under clients repeatedly "+
		"for this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, o.total)
	err := run(ctx, &o, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

// chosen returns the situations to play.
func (o *options) chosen() ([]*Situation, error) {
	all := situations()
	if o.only == "" {
		return all, nil
	}
	var some []*Situation
	for name := range strings.SplitSeq(o.only, ",") {
		i := slices.IndexFunc(all, func(s *Situation) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown situation %q; -list prints the names", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

func run(ctx context.Context, o *options, out io.Writer) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	if o.list {
		for _, s := range chosen {
			if _, err := fmt.Fprintf(out, "%-16s %s; fix: %s\n", s.Name, s.What, s.Cure); err != nil {
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
		return lab.WriteReport(o.docs, "latency", report(results, situations()))
	}
	if o.kitescope == "" {
		return errors.New("-kitescope is required: the binary under test")
	}
	if o.again && o.keep == "" {
		return errors.New("-again needs the folder of an earlier run: give -keep")
	}
	l, err := lab.Open(".", "client.py", o.keep)
	if err != nil {
		return err
	}
	r := &runner{lab: l, kitescope: &lab.Kitescope{File: o.kitescope}, window: o.window, out: l.Out}
	r.log = func(format string, words ...any) {
		_, _ = fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, words...))
	}
	if o.again {
		return r.rejudge(ctx, o)
	}
	defer func() {
		l.UndoAll()
		if !o.leave {
			l.Stop()
		}
	}()
	r.log("output folder: %s", l.Out)
	l.SetPriority(o.nice)
	if !o.running {
		if err := r.fresh(ctx, o.healthy > 0); err != nil {
			return err
		}
	}
	if o.healthy > 0 {
		return r.churn(ctx, o.healthy)
	}
	return r.all(ctx, o, chosen, out)
}

// fresh starts a new cluster with the data of client.py. Unless usual is set, automatic compaction is off, so
// that small segments stay.
func (r *runner) fresh(ctx context.Context, usual bool) error {
	r.log("starting a new cluster")
	settings := []string{"SEGMAX=512", "AUTOBALANCE=true"}
	if !usual {
		settings = append(settings, "DATACOORD_COMPACTION_ENABLEAUTOCOMPACTION=false")
	}
	if err := r.lab.Recreate(ctx, settings...); err != nil {
		return err
	}
	r.lab.SetPriority(r.lab.Nice)
	return r.lab.Client(ctx, 10*time.Minute, "seed")
}

// rejudge judges the saved output of an earlier run.
func (r *runner) rejudge(ctx context.Context, o *options) error {
	results, err := lab.ReadResults[Result](o.record)
	if err != nil {
		return err
	}
	if err := r.rerun(ctx, results, situations()); err != nil {
		return err
	}
	if err := lab.SaveResults(o.record, results, r.lab.Home, r.lab.Out, filepath.Dir(r.lab.Tools)); err != nil ||
		o.docs == "" {
		return err
	}
	return lab.WriteReport(o.docs, "latency", report(results, situations()))
}

func (r *runner) all(ctx context.Context, o *options, chosen []*Situation, out io.Writer) error {
	var results []*Result
	for _, s := range chosen {
		r.log("situation %s: %s", s.Name, s.What)
		load := load1()
		result := r.play(ctx, s)
		result.Load1, result.Window, result.Nice = load, o.window.String(), o.nice
		if ctx.Err() != nil {
			result.Broken = strings.TrimPrefix(result.Broken+"; the run ended: "+context.Cause(ctx).Error(), "; ")
		}
		results = append(results, result)
		if err := lab.SaveResults(o.record, results, r.lab.Home, r.lab.Out, filepath.Dir(r.lab.Tools)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if result.Broken != "" {
			r.log("BROKEN %s", result.Broken)
			if err := r.fresh(ctx, o.healthy > 0); err != nil {
				return err
			}
		}
	}
	text := report(results, situations())
	if o.docs != "" && o.only == "" && ctx.Err() == nil {
		if err := lab.WriteReport(o.docs, "latency", text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, text)
	return errors.Join(err, ctx.Err())
}
