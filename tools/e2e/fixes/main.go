// Command fixes tests kitescope's fixes on a real Milvus. It injects a fault, runs diagnose, executes exactly
// the printed step, and runs diagnose until the finding is gone and clients succeed. The result of each fix
// goes into the table of docs/evidence/fixes.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

type options struct {
	kitescope, docs, only, keep, etcd, proxy, storage, release string
	list, running, alone                                       bool
}

func main() {
	var o options
	flag.StringVar(&o.kitescope, "kitescope", "", "the kitescope binary under test")
	flag.StringVar(&o.docs, "docs", "", "the document with the table of fixes; empty: no document is written")
	flag.StringVar(&o.only, "only", "", "play only the fixes of these names, comma-separated")
	flag.StringVar(&o.keep, "keep", "", "output folder; default: a temporary one")
	flag.StringVar(&o.etcd, "etcd", lab.EtcdAddress, "address of etcd")
	flag.StringVar(&o.proxy, "proxy", lab.ProxyAddress, "address of the proxy")
	flag.StringVar(&o.storage, "storage", "", "folder of the object store; default: the cluster's")
	flag.StringVar(&o.release, "release", "2.3.5", "version of Milvus")
	flag.BoolVar(&o.list, "list", false, "list the plays and exit")
	flag.BoolVar(&o.running, "running", false, "use the running cluster instead of starting one")
	flag.BoolVar(&o.alone, "standalone", false, "the cluster is one process: play only what works there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fixes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	chosen := slices.DeleteFunc(plays(), func(p *Play) bool {
		return o.alone && p.Cluster || o.only != "" && !slices.Contains(strings.Split(o.only, ","), p.Name)
	})
	if o.list {
		for _, p := range chosen {
			fmt.Printf("%-28s %-24s %s\n", p.Name, p.Check, strings.Join(p.Steps, "; "))
		}
		return nil
	}
	l, err := lab.Open(".", "client.py", o.keep)
	if err != nil {
		return err
	}
	w := &World{
		Lab: l, kitescope: &lab.Kitescope{File: o.kitescope}, etcd: o.etcd, proxy: o.proxy, storage: o.storage,
		log: func(format string, words ...any) {
			fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", words...)
		},
	}
	if w.storage == "" {
		w.storage = l.Data()
	}
	if !o.running && !o.alone {
		if err := l.Recreate(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
			return err
		}
	}
	return rounds(ctx, o, w, chosen)
}

func rounds(ctx context.Context, o *options, w *World, chosen []*Play) error {
	cured, played := 0, 0
	var broken []error
	for _, p := range chosen {
		w.log("play %s", p.Name)
		outcome := w.play(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if outcome.Broken != nil {
			broken = append(broken, fmt.Errorf("%s could not be played: %w", p.Name, outcome.Broken))
			w.log("BROKEN %v", outcome.Broken)
			continue
		}
		played++
		if outcome.Failed == nil {
			cured++
		}
		verdict := outcome.verdict(o.release, time.Now().UTC())
		w.log("%s", verdict)
		if o.docs == "" {
			continue
		}
		for _, step := range outcome.Steps {
			if err := record(o.docs, p.Check, step.Text, verdict); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d fixes played, %d worked\n", played, cured)
	return errors.Join(broken...)
}
