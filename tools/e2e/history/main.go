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
	flag.BoolVar(&o.list, "list", false, "print the faults, and do nothing")
	flag.BoolVar(&o.running, "running", false, "take the cluster that runs and has the data, without starting it anew")
	flag.BoolVar(&o.leave, "leave", false, "leave the cluster running at the end")
	flag.BoolVar(&o.reportOnly, "report", false, "write the recorded results into the document, and do nothing else")
	flag.BoolVar(&o.again, "again", false, "ask -kitescope about the recording in -keep, the folder of an earlier run, whose results are in -record, without a cluster")
	flag.StringVar(&o.only, "only", "", "bring about only these faults, comma-separated; the document is left alone")
	flag.StringVar(&o.keep, "keep", "", "folder for all that is written; a temporary one else")
	flag.StringVar(&o.kitescope, "kitescope", "", "the binary that is asked")
	flag.StringVar(&o.docs, "docs", "", "the document that the table is written into")
	flag.StringVar(&o.record, "record", "results.jsonl", "the file of the results")
	flag.DurationVar(&o.every, "every", 15*time.Second, "how often the recorder asks the processes")
	flag.DurationVar(&o.total, "total", 2*time.Hour, "when the run ends at the latest")
	flag.IntVar(&o.nice, "nice", 0, "how much the cluster and its client go after others on a machine that is used, -20 to 19")
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
			return nil, fmt.Errorf("no fault is called %q; -list prints them", name)
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
		return errors.New("no binary to ask: give -kitescope; -again needs -keep, the folder of an earlier run")
	}
	l, err := lab.Open(".", "../latency/client.py", o.keep)
	if err != nil {
		return err
	}
	r := &runner{lab: l, asked: &lab.Kitescope{File: o.kitescope}, every: o.every, record: o.record}
	r.log = func(format string, words ...any) {
		_, _ = fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, words...))
	}
	r.log("what is seen is kept in %s", l.Out)
	var results []*Result
	if o.again {
		results, err = lab.ReadResults[Result](o.record)
	} else {
		results, err = r.film(ctx, o, chosen)
	}
	if len(results) == 0 {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute) // read the recording, however the run ended
	defer cancel()
	r.ask(asking, results)
	text := report(results)
	err = errors.Join(err, lab.SaveResults(o.record, results, l.Home, l.Out, l.Tools))
	if o.docs != "" && o.only == "" && ctx.Err() == nil {
		err = errors.Join(err, lab.WriteReport(o.docs, "history", text))
	}
	_, err2 := io.WriteString(out, text)
	return errors.Join(err, err2, ctx.Err())
}

// film injects the faults into a cluster that is recorded.
func (r *runner) film(ctx context.Context, o *options, chosen []*Fault) ([]*Result, error) {
	l := r.lab
	defer func() {
		l.TakeBack()
		if !o.leave {
			l.Stop()
		}
	}()
	l.Prefer(o.nice)
	if !o.running {
		r.log("starting the cluster anew")
		if err := l.Fresh(ctx, "SEGMAX=512", "AUTOBALANCE=true", "DATACOORD_COMPACTION_ENABLEAUTOCOMPACTION=false"); err != nil {
			return nil, err
		}
		l.Prefer(o.nice)
		for _, name := range []string{"docs", "wide", "many"} {
			if err := l.Client(ctx, 5*time.Minute, "make", name); err != nil {
				return nil, err
			}
		}
	}
	return r.faults(ctx, chosen)
}
