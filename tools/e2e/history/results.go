package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// Result is the result of one fault, a line of the record.
type Result struct {
	Name    string   `json:"name"`
	Every   string   `json:"every"`
	Objects []string `json:"objects"`
	// Injected is the time right before the injection, and Mended the time when the fault was removed. Known
	// is the time when etcd reported the change to a watch of etcdctl.
	Injected time.Time `json:"injected"`
	Known    time.Time `json:"known"`
	Mended   time.Time `json:"mended"`
	// Before and During are results of "diagnose" on the live cluster.
	Before *Diagnosis `json:"before,omitempty"`
	During *Diagnosis `json:"during,omitempty"`
	// Recorded and Snapshot are the event in the history, from the recording and from the snapshot of etcd.
	Recorded Match `json:"recorded"`
	Snapshot Match `json:"snapshot"`
	// Onset is the start of the finding according to "diagnose --since".
	Onset  *Onset `json:"onset,omitempty"`
	Broken string `json:"broken,omitempty"` // the run itself failed and is no evidence about kitescope
}

// Diagnosis is a result of "diagnose" and its differences to the recording at the same moment.
type Diagnosis struct {
	From     time.Time  `json:"from"`
	To       time.Time  `json:"to"`
	Findings []*Finding `json:"findings"`
	// Other lists the findings that only one side has: the live cluster or the recording. Apart lists the
	// subset that differs in the same way from the recording after the next round of calls. A change in
	// between cannot explain those.
	Other []string `json:"other,omitempty"`
	Apart []string `json:"apart,omitempty"`
	// Compared is the number of findings on either side.
	Compared int `json:"compared"`
}

// Finding is the compared part of a finding of "diagnose -o json".
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Object   struct {
		Resource string `json:"resource"`
		ID       string `json:"id"`
		Name     string `json:"name"`
	} `json:"object"`
	Message string    `json:"message,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Before  []Event   `json:"before,omitempty"`
}

// earlier reports whether the start of f is known and before at. A zero at means unknown and counts as later.
func (f *Finding) earlier(at time.Time) bool {
	return !f.Began.IsZero() && (at.IsZero() || f.Began.Before(at))
}

func (f *Finding) key() string {
	return f.Severity + " " + f.Check + " " + f.Object.Resource + "/" + f.Object.ID
}

// Event is the used part of an event of "history -o json".
type Event struct {
	Time    time.Time `json:"time"`
	Error   *float64  `json:"time_error_seconds,omitempty"`
	Kind    string    `json:"kind"`
	Object  named     `json:"object"`
	ID      any       `json:"object_id,omitempty"`
	Of      string    `json:"collection,omitempty"`
	Message string    `json:"message"`
}

// named is an object as history prints it, in one word, or as diagnose does, in parts.
type named string

// UnmarshalJSON implements json.Unmarshaler.
func (n *named) UnmarshalJSON(text []byte) error {
	var parts struct{ Resource, ID, Name string }
	if json.Unmarshal(text, (*string)(n)) == nil {
		return nil
	}
	err := json.Unmarshal(text, &parts)
	*n = named(strings.Trim(parts.Resource+"/"+parts.ID+" "+parts.Name, "/ "))
	return err
}

// Match is the first matching event, or the reason in Why if there is none.
type Match struct {
	Event *Event `json:"event,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Onset is the start of a finding, and the place of the fault among the events before it; 0: not among them.
type Onset struct {
	Check string    `json:"check"`
	Began time.Time `json:"began"`
	Place int       `json:"place"`
	First string    `json:"first,omitempty"` // the first event before it
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// analyze runs kitescope on the recording and the snapshot and stores the events, onsets and differences of each
// fault.
func (r *runner) analyze(ctx context.Context, results []*Result) {
	by := map[string]*Fault{}
	for _, f := range faults() {
		by[f.Name] = f
	}
	for _, result := range results {
		f := by[result.Name]
		if f == nil || result.Broken != "" {
			continue
		}
		result.Recorded = r.findEvent(ctx, f, result, r.recording(), "recorded")
		result.Snapshot = r.findEvent(ctx, f, result, r.snapshot(), "snapshot")
		result.Onset = r.onset(ctx, f, result)
		r.compare(ctx, result.Name+"-before", result.Before)
		r.compare(ctx, result.Name+"-during", result.During)
		r.log("%s: %s; %s; %d and %d other findings", f.Name, result.Recorded.text(result.Injected),
			result.Onset.text(result.Injected), len(result.Before.Other), len(result.During.Other))
	}
}

// findEvent returns the event of a fault in the history, from shortly before the injection on.
func (r *runner) findEvent(ctx context.Context, f *Fault, result *Result, from, name string) Match {
	early := max(f.Early, onsetTolerance) // times of revisions are not exact
	var events []*Event
	err := r.kitescope.Ask(ctx, r.lab, from, filepath.Join(r.lab.Out, result.Name+"-"+name+".json"), &events, "history",
		"--since", stamp(result.Injected.Add(-early)), "--until", stamp(result.Mended.Add(time.Minute)))
	if err != nil {
		return Match{Why: err.Error()}
	}
	for _, e := range events {
		if f.matches(e, result.Objects) && e.Time.Before(result.Mended.Add(f.Late)) {
			return Match{Event: e}
		}
	}
	return Match{Why: fmt.Sprintf("none of %s among %d events", strings.Join(f.Events, ", "), len(events))}
}

// matches reports whether e is an expected event of the fault.
func (f *Fault) matches(e *Event, objects []string) bool {
	text := strings.ToLower(string(e.Object) + " " + fmt.Sprint(e.ID) + " " + e.Of + " " + e.Message)
	return slices.Contains(f.Events, e.Kind) && lab.Mentions(text, objects)
}

// onset returns the onset of the earliest finding that reports the fault. It returns nil if the live cluster
// had no such finding during the fault.
func (r *runner) onset(ctx context.Context, f *Fault, result *Result) *Onset {
	was := map[string]bool{}
	for _, x := range result.Before.Findings {
		was[x.key()] = true
	}
	of := func(x *Finding) bool { return !was[x.key()] && slices.Contains(f.Checks, x.Check) }
	if !slices.ContainsFunc(result.During.Findings, of) {
		return nil
	}
	var findings []*Finding
	err := r.kitescope.Ask(ctx, r.lab, r.recording(), filepath.Join(r.lab.Out, result.Name+"-since.json"), &findings,
		"diagnose", "--since", stamp(result.Injected.Add(-30*time.Second)), "--at", stamp(result.During.To))
	if err != nil {
		return &Onset{First: err.Error()}
	}
	best := &Onset{First: "no such finding"}
	for _, x := range findings {
		if !of(x) || best.Check != "" && !x.earlier(best.Began) {
			continue
		}
		best = &Onset{Check: x.Check, Began: x.Began}
		for i := range x.Before {
			if best.First == "" {
				best.First = x.Before[i].Kind + " " + string(x.Before[i].Object)
			}
			if best.Place == 0 && f.matches(&x.Before[i], result.Objects) {
				best.Place = i + 1
			}
		}
	}
	return best
}

// compare stores the differences between a live look and the recording, at the same moment and after the next
// round of calls.
func (r *runner) compare(ctx context.Context, name string, then *Diagnosis) {
	at, err := r.diagnoseAt(ctx, name+"-at", then.To)
	if err != nil {
		then.Other, then.Apart = []string{err.Error()}, []string{err.Error()}
		return
	}
	behind, err := r.diagnoseAt(ctx, name+"-behind", then.To.Add(r.nextRound()))
	if err != nil {
		behind = at
	}
	then.Other, then.Apart, then.Compared = diffFindings(keys(then.Findings), keys(at), keys(behind))
}

// nextRound returns how long after a look the recorder has completed another round.
func (r *runner) nextRound() time.Duration { return r.every + settleTime }

// settleTime is the maximum time for processes to respond to the recorder and for the recorder to write that.
const settleTime = 4 * time.Second

// diagnoseAt returns the findings of "diagnose" at a moment of the recording.
func (r *runner) diagnoseAt(ctx context.Context, name string, at time.Time) (findings []*Finding, err error) {
	err = r.kitescope.Ask(ctx, r.lab, r.recording(), filepath.Join(r.lab.Out, name+".json"), &findings, "diagnose",
		"--at", stamp(at))
	return findings, err
}

func keys(list []*Finding) map[string]bool {
	all := map[string]bool{}
	for _, f := range list {
		all[f.key()] = true
	}
	return all
}

// diffFindings returns the findings that are only live or only recorded. at is the recording at the moment of the
// look, whose last round of calls was before it, and behind is the recording after the next round. apart
// holds the findings that are live but in neither recording, or in both recordings but not live. compared is
// the number of all findings.
func diffFindings(live, at, behind map[string]bool) (other, apart []string, compared int) {
	for key := range live {
		if at[key] {
			continue
		}
		other = append(other, "live: "+key)
		if !behind[key] {
			apart = append(apart, "live: "+key)
		}
	}
	for key := range at {
		if live[key] {
			continue
		}
		other = append(other, "recorded: "+key)
		if behind[key] {
			apart = append(apart, "recorded: "+key)
		}
		compared++
	}
	slices.Sort(other)
	slices.Sort(apart)
	return other, apart, compared + len(live)
}
