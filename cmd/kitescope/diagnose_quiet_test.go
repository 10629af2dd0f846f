package main

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/model"
)

// watchedWorlds feeds worlds of the fault library to a watched diagnosis, one after each round of calls, in
// virtual time.
type watchedWorlds struct {
	t     *testing.T
	out   strings.Builder
	watch *diagnosisWatch
	now   time.Time
	// interval is the default time between rounds. took is the duration of a round: a window of 1.5 s and
	// some calls.
	interval, took time.Duration
}

func watchWorlds(t *testing.T) *watchedWorlds {
	t.Helper()
	w := &watchedWorlds{t: t, now: time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC), took: 1700 * time.Millisecond}
	s := scriptStreams(&w.out, io.Discard, nil)
	s.Now = func() time.Time { return w.now }
	a := &cli.App{Streams: s}
	var err error
	if w.interval, err = time.ParseDuration(diagnoseCommand(a).Flags().Lookup("interval").DefValue); err != nil {
		t.Fatal(err)
	}
	w.watch = &diagnosisWatch{App: a, diagnosis: new(diagnosis)}
	return w
}

// round plays one round that begins now and finds the world r. It returns the lines that the watch wrote.
func (w *watchedWorlds) round(r *check.Report) []string {
	w.t.Helper()
	w.now = w.now.Add(w.took)
	parts := r.Cluster.Runtime.RuntimeParts
	parts.Kind, parts.From, parts.To = "live", w.now.Add(-w.took), w.now
	now := *r
	now.Now, now.Cluster = w.now, r.Cluster.WithRuntime(model.BuildRuntime(parts))
	before := w.out.Len()
	if err := w.watch.show(now.Cluster, &now); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(w.interval)
	return strings.Split(strings.TrimSuffix(w.out.String()[before:], "\n"), "\n")
}

// worlds plays the named cases on the capture of a healthy cluster. The healthy cluster is the first report.
func worlds(t *testing.T, names ...string) []*check.Report {
	t.Helper()
	library, err := faulttest.OpenLibrary("../../testdata/faults", "../../testdata/snapshots")
	if err != nil {
		t.Fatal(err)
	}
	base, err := library.Base(t.Context(), "cluster-2.3.5-healthy")
	if err != nil {
		t.Fatal(err)
	}
	list := []*check.Report{base.Report}
	for _, name := range names {
		i := slices.IndexFunc(library.Cases, func(c *faulttest.Case) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("no case %s", name)
		}
		r, err := library.Cases[i].Play(t.Context(), base)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestWatchIsQuiet checks that at most 40 lines are written in ten minutes on a healthy cluster in which
// collections come and go. Infos and unknown results flap, and the host is so busy that in a third of the
// rounds the queue or a process is slow.
func TestWatchIsQuiet(t *testing.T) {
	t.Parallel() // it takes a few seconds
	churn := worlds(t,
		"ddl-creating-now", "records-not-yet", "checkpoint-not-yet", "index-defined-just-now", "index-building",
		"index-building-queue", "index-waits-in-queue", "loading", "loading-partition", "index-not-loaded-just-loaded",
		"segment-just-flushed-not-loaded", "segment-moving", "compaction-running", "delete-some", "large-nq-uneven",
		"few-requests", "consistency-wait-few", "process-busy", "process-late-once", "blind-one-distribution",
		"blind-metrics-missing", "collection-released-just-now", "segment-dropped-just-now",
		"collection-dropped-just-now", "dropped-recently")
	starved := worlds(t, "wal-append-slow", "process-slow-datanode")[1:]
	for _, r := range churn {
		if worst, found := r.Worst(); found && worst > check.Info {
			t.Fatalf("a world of the churn is not healthy: %s", r.Findings[0].Message)
		}
	}
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := watchWorlds(t)
		w.round(churn[0])
		first := w.out.Len()
		for began := w.now; w.now.Sub(began) < 10*time.Minute; {
			of := churn
			if random.IntN(3) == 0 {
				of = starved
			}
			w.round(of[random.IntN(len(of))])
		}
		text := w.out.String()[first:]
		t.Logf("seed %d: %d lines", seed, strings.Count(text, "\n"))
		if strings.Count(text, "\n") > 40 {
			t.Errorf("seed %d:\n%s", seed, text)
		}
	}
}

// TestWatchIsPrompt checks the time from a fault to its finding: at most 6 s in the median and 15 s at the
// 95th percentile. Each fault is injected at ten moments between two rounds.
func TestWatchIsPrompt(t *testing.T) {
	t.Parallel() // it takes a few seconds
	list := worlds(t,
		"node-killed-5s", "node-hangs", "data-node-dead", "datacoord-dead", "querycoord-dead", "proxy-dead",
		"all-query-nodes-gone", "kafka-down", "etcd-nospace", "storage-failing-writes", "quota-denied",
		"no-shard-leader", "shard-not-serviceable", "replica-short", "process-slow-datanode", "wal-append-slow",
		"proxy-starved", "consumption-lag", "read-queue-full", "timetick-lag")
	var all []time.Duration
	for _, faulty := range list[1:] {
		for phase := range 10 {
			w := watchWorlds(t)
			w.round(list[0])
			w.round(list[0])
			// The fault is injected at or after the start of the last round, which does not see it.
			fault := w.now.Add(-(w.interval + w.took) * time.Duration(phase) / 10)
			for {
				begun := w.now
				lines := w.round(faulty)
				if slices.ContainsFunc(lines, func(l string) bool {
					return strings.Contains(l, " new") || strings.Contains(l, " worse ")
				}) {
					all = append(all, begun.Add(w.took).Sub(fault))
					break
				}
				if w.now.Sub(fault) > time.Minute {
					t.Fatalf("%s is not written:\n%s", faulty.Findings[0].Message, w.out.String())
				}
			}
		}
	}
	slices.Sort(all)
	median, late := all[len(all)/2], all[len(all)*95/100]
	t.Logf("median %s, p95 %s", median, late)
	if median > 6*time.Second || late > 15*time.Second {
		t.Errorf("median %s, p95 %s", median, late)
	}
}
