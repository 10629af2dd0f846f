package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/source"
	"kitescope/render"
)

// watchDiagnosis judges a live cluster once, and then again with each change of its metadata
// and each round of questions to its processes. It tells what is new, worse or gone.
func (d *diagnosis) watchDiagnosis(ctx context.Context, a *cli.App) error {
	c, err := a.Connection()
	if err != nil {
		return err
	}
	src, err := a.Loader().Open(ctx, a.Spec(c))
	if err != nil {
		return err
	}
	defer src.Close()
	live, ok := src.(source.Watcher)
	if !ok {
		return &cli.UsageError{Err: fmt.Errorf("--watch: %s does not change", src.Origin().Location), Advice: "it needs a live source: --from etcd://host:port"}
	}
	spec, err := a.Following(c, d.flags.nodes)
	if err != nil {
		return err
	}
	feed, done, err := a.Loader().Feed(spec)
	if err != nil {
		return err
	}
	defer done()
	feed.Interval, feed.Every = cli.RefreshInterval, d.flags.interval
	w := &diagnosisWatch{App: a, diagnosis: d, asks: feed.Ask != nil, started: time.Now()}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	lost := newLossTeller(a)
	err = feed.FollowLive(ctx, live, d.want, func(u news.Update) {
		u.Lost = nil // what does not answer is a finding
		lost.take(u)
		if u.Cluster == nil || w.early(u.Cluster) {
			return
		}
		if err := w.show(u.Cluster); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// diagnosisWatch remembers what was told.
type diagnosisWatch struct {
	*cli.App
	*diagnosis
	asks    bool
	started time.Time
	memory  check.Judge
	tracker check.Tracker
	shown   bool
}

// firstPatience is how long the first report waits for the processes and for etcd's health.
const firstPatience = 15 * time.Second

// early reports whether the first report can wait for more: a check that is skipped because the nodes
// are only just being asked is no news.
func (w *diagnosisWatch) early(c *model.Cluster) bool {
	waits := c.Etcd == nil || w.asks && c.Runtime == nil
	return !w.shown && waits && time.Since(w.started) < firstPatience
}

func (w *diagnosisWatch) show(c *model.Cluster) error {
	report, stale := w.baseline.Apply(w.diagnosis.judge(w.App, c, &w.memory), rules.All())
	changes, blind := w.tracker.Next(report)
	first := !w.shown
	w.shown = true
	err := w.Write(func(out *bufio.Writer) error {
		if !first || w.format.Structured() {
			return render.Changes(out, report, w.Now(), changes, blind, w.format, w.options)
		}
		shown := &render.Diagnosis{Report: report, Stale: stale, FailOn: w.failOn, Never: w.never, All: w.diagnosis.flags.all, Version: cli.VersionText()}
		return render.Findings(out, shown, w.format, w.options)
	})
	if err != nil || !first {
		return err
	}
	return w.diagnosis.judgedAll(w.App, c, report)
}
