package main

import (
	"bufio"
	"context"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/render/clusters"
)

// watchDiagnosis runs the checks on a live cluster now, and again after each change of its metadata and each
// round of calls to its processes. It writes findings that are new, worse or gone.
func (d *diagnosis) watchDiagnosis(ctx context.Context, a *cli.App) error {
	a.RunClock() // findings are held for a while
	lost := newLossReporter(a)
	nodes := d.flags.nodes
	w := &diagnosisWatch{App: a, diagnosis: d, live: nodes.Live && len(nodes.Recordings) == 0, started: time.Now()}
	f := watchedSource{App: a, nodes: nodes, want: d.want, every: d.flags.interval}
	return f.run(ctx, func(u history.Update) error {
		u.Lost = nil // an unresponsive process is already a finding
		lost.handle(u)
		return w.handle(u)
	})
}

// diagnosisWatch holds the state of a watch: the findings written so far and the last cluster.
type diagnosisWatch struct {
	*cli.App
	*diagnosis
	live    bool
	started time.Time
	memory  check.Judge
	hold    check.Hold
	tracker check.Tracker
	known   map[string]bool // findings whose fixes were written
	last    *model.Cluster
	shown   bool
}

// handle runs the checks on a new cluster. If only time has passed, it runs them again on the last cluster,
// provided that a finding may appear or end with time.
func (w *diagnosisWatch) handle(u history.Update) error {
	switch {
	case u.Cluster != nil && !w.shouldWait(u.Cluster):
		w.last = u.Cluster
	case !timePassed(u) || !w.hold.Pending():
		return nil
	}
	return w.show(w.last, w.diagnosis.judge(w.App, w.last, &w.memory))
}

// timePassed reports whether an update is empty, which means that only time has passed.
func timePassed(u history.Update) bool { return u.Cluster == nil && u.Progress == "" && u.Err == nil }

// firstReportTimeout is the longest time that the first report waits for the processes and for etcd's health.
const firstReportTimeout = 15 * time.Second

// shouldWait reports whether the first report should still wait for data. Without the wait it would list checks as
// skipped only because the processes have not responded yet or were scraped only once.
func (w *diagnosisWatch) shouldWait(c *model.Cluster) bool {
	waits := c.Etcd == nil || w.live && (c.Runtime == nil || scrapedOnce(c))
	return !w.shown && waits && time.Since(w.started) < firstReportTimeout
}

func (w *diagnosisWatch) show(c *model.Cluster, judged *check.Report) error {
	held, unable := w.hold.Next(judged)
	report, stale := w.baseline.Apply(held, rules.All())
	changes, blind := w.tracker.Next(report)
	first := !w.shown
	w.shown = true
	err := w.Write(func(out *bufio.Writer) error {
		if !first || w.format.Structured() {
			return clusters.Changes(out,
				&clusters.WatchReport{Report: report, Changes: changes, Blind: blind, Unable: unable, Known: w.known},
				w.format, w.options.Options)
		}
		shown := &clusters.Diagnosis{
			Report: report, Stale: stale, Bar: w.bar, All: w.diagnosis.flags.all, Version: cli.Version,
		}
		return clusters.Findings(out, shown, w.format, w.options)
	})
	if w.known == nil {
		w.known = map[string]bool{}
	}
	for _, f := range report.Findings {
		w.known[f.Key()] = w.known[f.Key()] || f.Severity > check.Info
	}
	if err != nil || !first {
		return err
	}
	return w.diagnosis.reportMissing(w.App, c, report)
}
