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

// Result is what became of one fault, a line of the record.
type Result struct {
	Name    string   `json:"name"`
	Every   string   `json:"every"`
	Objects []string `json:"objects"`
	// Injected is right before it was done, Known when etcd told of it, by a watch that is not kitescope's; Mended when it was taken away.
	Injected time.Time `json:"injected"`
	Known    time.Time `json:"known"`
	Mended   time.Time `json:"mended"`
	// Before and During are what "diagnose" said of the cluster itself.
	Before *Look `json:"before,omitempty"`
	During *Look `json:"during,omitempty"`
	// Recorded and Snapshot are the event that history has of it, from the recording and from the snapshot of etcd.
	Recorded Seen `json:"recorded"`
	Snapshot Seen `json:"snapshot"`
	// Onset is what "diagnose --since" says of the finding.
	Onset  *Onset `json:"onset,omitempty"`
	Broken string `json:"broken,omitempty"` // the run itself went wrong, and says nothing of kitescope
}

// Look is one answer of "diagnose", and what the recording says of the same moment.
type Look struct {
	From     time.Time  `json:"from"`
	To       time.Time  `json:"to"`
	Findings []*Finding `json:"findings"`
	// Other are the findings that the recording has not at that moment, or alone. Apart are those that it has not either at the round of
	// answers behind it, or has there too: what has not changed in between.
	Other []string `json:"other,omitempty"`
	Apart []string `json:"apart,omitempty"`
	// Compared is how many findings there were, here or there.
	Compared int `json:"compared"`
}

// Finding is the part of one of "diagnose -o json" that is held against another.
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

// earlier reports whether it is known to have begun before another time, zero where that is unknown.
func (f *Finding) earlier(at time.Time) bool {
	return !f.Began.IsZero() && (at.IsZero() || f.Began.Before(at))
}

func (f *Finding) key() string {
	return f.Severity + " " + f.Check + " " + f.Object.Resource + "/" + f.Object.ID
}

// Event is the part of one of "history -o json" that is looked at.
type Event struct {
	Time    time.Time `json:"time"`
	Error   *float64  `json:"time_error_seconds,omitempty"`
	Kind    string    `json:"kind"`
	Object  named     `json:"object"`
	ID      any       `json:"object_id,omitempty"`
	Of      string    `json:"collection,omitempty"`
	Message string    `json:"message"`
}

// named is an object as history names it, in a word, or as diagnose does, in parts.
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

// Seen is the first event of a kind that was looked for; Why says why there is none.
type Seen struct {
	Event *Event `json:"event,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Onset is since when a finding is said to be there, and which place an event has before it that is the fault; 0: none.
type Onset struct {
	Check string    `json:"check"`
	Began time.Time `json:"began"`
	Place int       `json:"place"`
	First string    `json:"first,omitempty"` // what is said first
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ask has kitescope say what is left of each fault in the recording, and in the snapshot.
func (r *runner) ask(ctx context.Context, results []*Result) {
	by := map[string]*Fault{}
	for _, f := range faults() {
		by[f.Name] = f
	}
	for _, result := range results {
		f := by[result.Name]
		if f == nil || result.Broken != "" {
			continue
		}
		result.Recorded = r.seen(ctx, f, result, r.recording(), "recorded")
		result.Snapshot = r.seen(ctx, f, result, r.snapshot(), "snapshot")
		result.Onset = r.onset(ctx, f, result)
		r.compare(ctx, result.Name+"-before", result.Before)
		r.compare(ctx, result.Name+"-during", result.During)
		r.log("%s: %s; %s; %d and %d other findings", f.Name, result.Recorded.text(result.Injected), result.Onset.text(result.Injected), len(result.Before.Other), len(result.During.Other))
	}
}

// seen is the event of a fault that history has, not long before it was injected.
func (r *runner) seen(ctx context.Context, f *Fault, result *Result, from, name string) Seen {
	early := max(f.Early, exact) // dates of revisions are not exact
	var events []*Event
	err := r.asked.Ask(ctx, r.lab, from, filepath.Join(r.lab.Out, result.Name+"-"+name+".json"), &events, "history", "--since", stamp(result.Injected.Add(-early)), "--until", stamp(result.Mended.Add(time.Minute)))
	if err != nil {
		return Seen{Why: err.Error()}
	}
	for _, e := range events {
		if f.is(e, result.Objects) && e.Time.Before(result.Mended.Add(f.Late)) {
			return Seen{Event: e}
		}
	}
	return Seen{Why: fmt.Sprintf("none of %s among %d events", strings.Join(f.Events, ", "), len(events))}
}

// is reports whether an event is what a fault was to bring.
func (f *Fault) is(e *Event, objects []string) bool {
	text := strings.ToLower(string(e.Object) + " " + fmt.Sprint(e.ID) + " " + e.Of + " " + e.Message)
	return slices.Contains(f.Events, e.Kind) && lab.Names(text, objects)
}

// onset is what is said of the first finding that reports a fault; nil if the cluster itself had none while it lasted.
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
	err := r.asked.Ask(ctx, r.lab, r.recording(), filepath.Join(r.lab.Out, result.Name+"-since.json"), &findings, "diagnose", "--since", stamp(result.Injected.Add(-30*time.Second)), "--at", stamp(result.During.To))
	if err != nil {
		return &Onset{First: err.Error()}
	}
	best := &Onset{First: "no finding of it"}
	for _, x := range findings {
		if !of(x) || best.Check != "" && !x.earlier(best.Began) {
			continue
		}
		best = &Onset{Check: x.Check, Began: x.Began}
		for i := range x.Before {
			if best.First == "" {
				best.First = x.Before[i].Kind + " " + string(x.Before[i].Object)
			}
			if best.Place == 0 && f.is(&x.Before[i], result.Objects) {
				best.Place = i + 1
			}
		}
	}
	return best
}

// compare holds a look against what the recording says of its moment, and of that of the round of answers behind it.
func (r *runner) compare(ctx context.Context, name string, then *Look) {
	at, err := r.at(ctx, name+"-at", then.To)
	if err != nil {
		then.Other, then.Apart = []string{err.Error()}, []string{err.Error()}
		return
	}
	behind, err := r.at(ctx, name+"-behind", then.To.Add(r.behind()))
	if err != nil {
		behind = at
	}
	then.Other, then.Apart, then.Compared = differ(keys(then.Findings), keys(at), keys(behind))
}

// behind is how long after a look the recorder has asked once more.
func (r *runner) behind() time.Duration { return r.every + settles }

// settles is how long processes may take to answer the recorder, and it to write that.
const settles = 4 * time.Second

// at is what "diagnose" says of a moment in the recording.
func (r *runner) at(ctx context.Context, name string, at time.Time) (findings []*Finding, err error) {
	err = r.asked.Ask(ctx, r.lab, r.recording(), filepath.Join(r.lab.Out, name+".json"), &findings, "diagnose", "--at", stamp(at))
	return findings, err
}

func keys(list []*Finding) map[string]bool {
	all := map[string]bool{}
	for _, f := range list {
		all[f.key()] = true
	}
	return all
}

// differ are the findings that are live or recorded alone. The recorder had asked at some time before the look, and asked again behind it:
// apart are those that are live alone whichever of the two is taken, or recorded alone in both. compared is how many there were in all.
func differ(live, at, behind map[string]bool) (other, apart []string, compared int) {
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
