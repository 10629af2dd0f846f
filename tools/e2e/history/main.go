// Command history compares kitescope's account of the past of a real Milvus cluster with the actual faults
// and their times.
//
// It starts the cluster of ../shared/milvus, fills it, puts it under light load and makes kitescope record
// it. It injects one Fault after the other, notes the time, runs "diagnose" before and during the fault, and
// mends it. At the end only the recording is used: for the events ("history"), the start of findings and the
// changes before them ("diagnose --since"), and the findings at each moment of an earlier run of "diagnose".
// The events are also read from a snapshot of etcd, as far back as it goes. The table goes into
// docs/evidence/history.md. All output is kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

type options struct {
	list, running, leave, reportOnly, again bool
	only, keep, kitescope, docs, record     string
	every, total                            time.Duration
	nice                                    int
}

func main() {
	var o options
	flag.BoolVar(&o.list, "list", false, "list the faults and exit")
	flag.BoolVar(&o.running, "running", false, "use the running cluster with its data instead of starting one")
	flag.BoolVar(&o.leave, "leave", false, "leave the cluster running at the end")
	flag.BoolVar(&o.reportOnly, "report", false, "only write the recorded results into the document")
	flag.BoolVar(&o.again, "again", false, "run -kitescope again on the recording of an earlier run (its folder in "+
		"-keep, its results in -record), without a cluster")
	flag.StringVar(&o.only, "only", "", "inject only these faults, comma-separated; does not write the document")
	flag.StringVar(&o.keep, "keep", "", "output folder; default: a temporary one")
	flag.StringVar(&o.kitescope, "kitescope", "", "the kitescope binary under test")
	flag.StringVar(&o.docs, "docs", "", "the document whose table is replaced")
	flag.StringVar(&o.record, "record", "results.jsonl", "the results file")
	flag.DurationVar(&o.every, "every", 15*time.Second, "interval at which the recorder queries the processes")
	flag.DurationVar(&o.total, "total", 2*time.Hour, "time limit of the run")
	flag.IntVar(&o.nice, "nice", 0, "nice value of the cluster and its client on a busy machine, -20 to 19")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, o.total)
	err := run(ctx, &o, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// chosen returns the faults to inject.
func (o *options) chosen() ([]*Fault, error) {
	all := faults()
	if o.only == "" {
		return all, nil
	}
	var some []*Fault
	for name := range strings.SplitSeq(o.only, ",") {
		i := slices.IndexFunc(all, func(f *Fault) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown fault %q; -list prints the names", name)
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
		for _, f := range chosen {
			if _, err := fmt.Fprintf(out, "%-18s %s\n", f.Name, f.What); err != nil {
				return err
			}
		}
		return nil
	}
	if o.reportOnly {
		r, err := lab.ReadResults[Result](o.record)
		if err != nil {
			return err
		}
		return lab.WriteReport(o.docs, "history", report(r))
	}
	if o.kitescope == "" || o.again && o.keep == "" {
		return errors.New("-kitescope is required; -again also needs -keep, the folder of an earlier run")
	}
	l, err := lab.Open(".", "../latency/client.py", o.keep)
	if err != nil {
		return err
	}
	r := &runner{lab: l, kitescope: &lab.Kitescope{File: o.kitescope}, every: o.every, record: o.record}
	r.log = func(format string, words ...any) {
		_, _ = fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, words...))
	}
	r.log("output folder: %s", l.Out)
	var results []*Result
	if o.again {
		results, err = lab.ReadResults[Result](o.record)
	} else {
		results, err = r.recordFaults(ctx, o, chosen)
	}
	if len(results) == 0 {
		return err
	}
	// read the recording, however the run ended
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute)
	defer cancel()
	r.analyze(asking, results)
	text := report(results)
	err = errors.Join(err, lab.SaveResults(o.record, results, l.Home, l.Out, l.Tools))
	if o.docs != "" && o.only == "" && ctx.Err() == nil {
		err = errors.Join(err, lab.WriteReport(o.docs, "history", text))
	}
	_, err2 := io.WriteString(out, text)
	return errors.Join(err, err2, ctx.Err())
}

// recordFaults injects the faults into a cluster that is recorded.
func (r *runner) recordFaults(ctx context.Context, o *options, chosen []*Fault) ([]*Result, error) {
	l := r.lab
	defer func() {
		l.UndoAll()
		if !o.leave {
			l.Stop()
		}
	}()
	l.SetPriority(o.nice)
	if !o.running {
		r.log("starting a new cluster")
		if err := l.Recreate(ctx, "SEGMAX=512", "AUTOBALANCE=true",
			"DATACOORD_COMPACTION_ENABLEAUTOCOMPACTION=false"); err != nil {
			return nil, err
		}
		l.SetPriority(o.nice)
		for _, name := range []string{"docs", "wide", "many"} {
			if err := l.Client(ctx, 5*time.Minute, "make", name); err != nil {
				return nil, err
			}
		}
	}
	return r.faults(ctx, chosen)
}
