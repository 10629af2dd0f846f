package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// onsetTolerance is the tolerance of an onset from metadata. It is more than half of the time between two timestamps
// that Milvus reserves.
const onsetTolerance = 5 * time.Second

// metadataChecks lists checks that use only data in etcd. The other checks of a fault use answers of processes.
var metadataChecks = []string{
	"role-missing", "replica-dead-node", "collection-unindexed", "small-segments", "checkpoint-lag",
	"channel-unwatched",
}

// since formats the time from the injection to at.
func since(injected, at time.Time) string {
	return fmt.Sprintf("%+.1f s", at.Sub(injected).Seconds())
}

func (s *Match) text(injected time.Time) string {
	if s.Event == nil {
		return "-"
	}
	return "`" + s.Event.Kind + "` " + since(injected, s.Event.Time)
}

func (o *Onset) text(injected time.Time) string {
	switch {
	case o == nil:
		return "no finding"
	case o.Check == "" || o.Began.IsZero():
		return "-"
	}
	return "`" + o.Check + "` " + since(injected, o.Began)
}

func (o *Onset) place() string {
	if o == nil || o.Place == 0 {
		return "-"
	}
	return strconv.Itoa(o.Place)
}

// withinTolerance reports whether the onset is near enough. A finding of metadata must begin within five seconds of the
// time when etcd knew of the fault, and a finding of answers within one interval plus five seconds of the
// injection. Both are dated by timestamps in etcd.
func (o *Onset) withinTolerance(r *Result) bool {
	switch every, _ := time.ParseDuration(r.Every); {
	case o.Check == "" || o.Began.IsZero():
		return false
	case slices.Contains(metadataChecks, o.Check):
		return o.Began.Sub(r.Known).Abs() <= onsetTolerance
	default:
		late := o.Began.Sub(r.Injected)
		return late >= -onsetTolerance && late <= every+onsetTolerance
	}
}

func (o *Onset) ranksFirst() bool { return o.Place == 1 || o.Place == 2 }

// precededByEvent reports whether the fault's event is dated before the onset or shortly after, or whether one of the
// two times is unknown. etcd learns of a dead process later than a client that calls it.
func (r *Result) precededByEvent() bool {
	return r.Recorded.Event == nil || r.Onset.Began.IsZero() ||
		!r.Recorded.Event.Time.After(r.Onset.Began.Add(onsetTolerance))
}

// tally counts the results.
type tally struct {
	played, recorded, inSnapshot int
	onsets, onTime               int
	preceded, first              int // onsets preceded by the event of their fault
	looks, same, apart           int
	steady                       int // looks without differences, except those of windows
	compared, other, unexplained int // findings
	rows, short                  strings.Builder
}

// report returns the generated part of docs/evidence/history.md: the bars, a row for each fault, then the
// shortcomings.
func report(results []*Result) string {
	var t tally
	known := faults()
	for _, r := range results {
		if i := slices.IndexFunc(known, func(f *Fault) bool { return f.Name == r.Name }); i >= 0 {
			t.add(known[i], r)
		}
	}
	var b strings.Builder
	t.bars(&b)
	b.WriteString("\n| fault | in etcd after | `history` of the recording | `history` of the snapshot | finding, " +
		"began after | rank among preceding changes | differing findings: before, during |\n" +
		"|---|---|---|---|---|---|---|\n")
	b.WriteString(t.rows.String())
	b.WriteString("\nMisses, except findings that depend on a window of seconds or on a change between the query " +
		"and the recorder's round:\n\n")
	if t.short.Len() == 0 {
		t.short.WriteString("- nothing\n")
	}
	return b.String() + t.short.String()
}

// add counts a fault.
func (t *tally) add(f *Fault, r *Result) {
	if r.Broken != "" {
		fmt.Fprintf(&t.rows, "| %s | the run failed: %s | | | | | |\n", f.What, lab.Clean(r.Broken))
		return
	}
	t.played++
	t.recorded, t.inSnapshot = t.recorded+btoi(r.Recorded.Event != nil), t.inSnapshot+btoi(r.Snapshot.Event != nil)
	if r.Recorded.Event == nil {
		fmt.Fprintf(&t.short, "- `%s`: not in history: %s\n", r.Name, lab.Clean(r.Recorded.Why))
	}
	if o := r.Onset; o != nil {
		told := r.precededByEvent()
		t.onsets, t.onTime, t.preceded, t.first = t.onsets+1, t.onTime+btoi(o.withinTolerance(r)),
			t.preceded+btoi(told), t.first+btoi(told && o.ranksFirst())
		if !o.withinTolerance(r) || told && !o.ranksFirst() {
			fmt.Fprintf(&t.short, "- `%s`: onset %s, rank of the event %s; ranked first: %s\n", r.Name,
				o.text(r.Injected), o.place(), lab.Clean(o.First))
		}
	}
	for _, l := range []*Diagnosis{r.Before, r.During} {
		t.look(r.Name, l)
	}
	fmt.Fprintf(&t.rows, "| %s | %s | %s | %s | %s | %s | %d, %d |\n", f.What, since(r.Injected, r.Known),
		r.Recorded.text(r.Injected), r.Snapshot.text(r.Injected),
		r.Onset.text(r.Injected), r.Onset.place(), len(r.Before.Other), len(r.During.Other))
}

// look counts a look.
func (t *tally) look(name string, l *Diagnosis) {
	t.looks, t.compared = t.looks+1, t.compared+l.Compared
	t.same, t.other = t.same+btoi(len(l.Other) == 0), t.other+len(l.Other)
	t.apart, t.unexplained = t.apart+btoi(len(l.Apart) == 0), t.unexplained+len(l.Apart)
	lasting := slices.DeleteFunc(slices.Clone(l.Apart), isWindowed)
	t.steady += btoi(len(lasting) == 0)
	for _, x := range lasting {
		fmt.Fprintf(&t.short, "- `%s`: %s\n", name, lab.Clean(x))
	}
}

// bars writes the wanted and the reached values.
func (t *tally) bars(b *strings.Builder) {
	fmt.Fprintf(b, "| criterion | target | result |\n|---|---|---|\n")
	fmt.Fprintf(b, "| faults that `history` of the recording lists | all | %d of %d |\n", t.recorded, t.played)
	fmt.Fprintf(b, "| the same, from an etcd snapshot taken at the end, which holds the last 1,000 revisions | - | "+
		"%d of %d |\n", t.inSnapshot, t.played)
	fmt.Fprintf(b, "| onset of findings that the live cluster had too: from metadata within 5 s of the change in "+
		"etcd, from responses within one interval plus 5 s of the injection | 95%% | %d of %d |\n", t.onTime, t.onsets)
	fmt.Fprintf(b, "| the fault is among the first two changes listed as preceding, if etcd had it by then | 90%% | "+
		"%d of %d |\n", t.first, t.preceded)
	fmt.Fprintf(b, "| runs where `diagnose --at` on the recording has exactly the findings of the live `diagnose` | "+
		"100%% | %d of %d (%d of %d findings) |\n", t.same, t.looks, t.compared-t.other, t.compared)
	fmt.Fprintf(b, "| the same, except findings in only one of the two rounds of responses around the run | - | %d "+
		"of %d (%d of %d findings) |\n", t.apart, t.looks, t.compared-t.unexplained, t.compared)
	fmt.Fprintf(b, "| the same, except also checks over a window of seconds, which differs between the two | - | %d "+
		"of %d |\n", t.steady, t.looks)
}

// windows lists the checks that judge only rates, means or shares of time in a window of seconds:
// milliseconds of the requests in it, CPU time used in it, or how long a process kept the caller waiting in
// it. A look and the recorder have different windows. Checks that count rows, settings, sessions or times of
// metadata are not in the list.
var windows = []string{
	"consistency-wait", "read-queue-full", "worker-slow", "segment-thread-wait", "growing-search-time", "large-nq",
	"reduce-heavy", "proxy-queue", "proxy-starved", "metadata-cache-miss", "wal-append-slow", "gc-pause",
	"rate-limited", "storage-slow", "few-requests", "cpu-skew", "process-slow",
}

// isWindowed reports whether a finding that differs is of such a check.
func isWindowed(x string) bool {
	words := strings.Fields(x)
	return len(words) > 2 && slices.Contains(windows, words[2])
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}
