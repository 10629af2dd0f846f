package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// exact is how near an onset from metadata has to be.
const exact = 5 * time.Second

// since says how long after the injection something was.
func since(injected, at time.Time) string {
	return fmt.Sprintf("%+.1f s", at.Sub(injected).Seconds())
}

func (s *Seen) text(injected time.Time) string {
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

// near reports whether a finding began when its fault did: within five seconds, or one interval of answers, of when it was to be seen.
func (o *Onset) near(f *Fault, r *Result) bool {
	every, _ := time.ParseDuration(r.Every)
	late := o.Began.Sub(r.Injected)
	return o.Check != "" && late >= -max(exact, every) && late <= f.Late+max(exact, every)
}

// report is the generated part of docs/HISTORY.md: the bars, a row for each fault, then what fell short.
func report(results []*Result) string {
	by := map[string]*Fault{}
	for _, f := range faults() {
		by[f.Name] = f
	}
	var b, rows, short strings.Builder
	played, recorded, kept, onsets, near, first, looks, same, steady := 0, 0, 0, 0, 0, 0, 0, 0, 0
	for _, r := range results {
		f := by[r.Name]
		if f == nil {
			continue
		}
		if r.Broken != "" {
			fmt.Fprintf(&rows, "| %s | the run went wrong: %s | | | | |\n", f.What, lab.Clean(r.Broken))
			continue
		}
		played++
		recorded, kept = recorded+one(r.Recorded.Event != nil), kept+one(r.Snapshot.Event != nil)
		if r.Recorded.Event == nil {
			fmt.Fprintf(&short, "- `%s`: history has nothing of it: %s\n", r.Name, lab.Clean(r.Recorded.Why))
		}
		place := "-"
		if r.Onset != nil {
			onsets++
			near, first = near+one(r.Onset.near(f, r)), first+one(r.Onset.Place == 1 || r.Onset.Place == 2)
			if r.Onset.Place > 0 {
				place = strconv.Itoa(r.Onset.Place)
			}
			if !r.Onset.near(f, r) || r.Onset.Place == 0 || r.Onset.Place > 2 {
				fmt.Fprintf(&short, "- `%s`: onset %s, the event is number %s; said first: %s\n", r.Name, r.Onset.text(r.Injected), place, lab.Clean(r.Onset.First))
			}
		}
		for _, other := range [][]string{r.OtherBefore, r.OtherDuring} {
			looks, same, steady = looks+1, same+one(len(other) == 0), steady+one(counted(other) == 0)
			for _, x := range other {
				if counted([]string{x}) > 0 {
					fmt.Fprintf(&short, "- `%s`: %s\n", r.Name, lab.Clean(x))
				}
			}
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %d, %d |\n", f.What, r.Recorded.text(r.Injected), r.Snapshot.text(r.Injected), r.Onset.text(r.Injected), place, len(r.OtherBefore), len(r.OtherDuring))
	}
	fmt.Fprintf(&b, "| bar | wanted | reached |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| faults that `history` of the recording tells | all | %d of %d |\n", recorded, played)
	fmt.Fprintf(&b, "| of a snapshot of etcd at the end, which keeps the last 1,000 revisions here | - | %d of %d |\n", kept, played)
	fmt.Fprintf(&b, "| onset of the finding, where the cluster itself had one: within 5 s, or one interval of answers, of when it was to be seen | 95%% | %d of %d |\n", near, onsets)
	fmt.Fprintf(&b, "| the fault is among the first two of what changed first | 90%% | %d of %d |\n", first, onsets)
	fmt.Fprintf(&b, "| `diagnose --at` of the recording finds what `diagnose` found then | 100%% | %d of %d |\n", same, looks)
	fmt.Fprintf(&b, "| the same, but for what is judged by a window of a few seconds, of which a look has one and the recorder another | - | %d of %d |\n", steady, looks)
	b.WriteString("\n| fault | `history` of the recording: after the injection | of the snapshot | finding, began after the injection | place of the fault before it | findings that differ: before, during |\n|---|---|---|---|---|---|\n")
	b.WriteString(rows.String())
	b.WriteString("\nWhat fell short:\n\n")
	if short.Len() == 0 {
		short.WriteString("- nothing\n")
	}
	return b.String() + short.String()
}

// measured are the checks that judge what was counted in a window: a look of its own has one of its own, and the recorder another.
var measured = []string{
	"proxy-starved", "proxy-queue", "wal-append-slow", "metadata-cache-miss", "segment-thread-wait", "growing-search-time", "few-requests", "gc-pause",
	"worker-slow", "consistency-wait", "read-queue-full", "reduce-heavy", "large-nq", "storage-slow", "cpu-skew", "brute-force-share", "process-slow",
}

// counted is how many findings differ that are of no window.
func counted(other []string) int {
	n := 0
	for _, x := range other {
		words := strings.Fields(x)
		n += one(len(words) < 3 || !slices.Contains(measured, words[2]))
	}
	return n
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
