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
	Name     string    `json:"name"`
	Every    string    `json:"every"`
	Objects  []string  `json:"objects"`
	Injected time.Time `json:"injected"`
	Mended   time.Time `json:"mended"`
	// Before and During are what "diagnose" said of the cluster itself.
	Before *Look `json:"before,omitempty"`
	During *Look `json:"during,omitempty"`
	// Recorded and Snapshot are the event that history has of it, from the recording and from the snapshot of etcd.
	Recorded Seen `json:"recorded"`
	Snapshot Seen `json:"snapshot"`
	// Onset is what "diagnose --since" says of the finding.
	Onset *Onset `json:"onset,omitempty"`
	// Other are the findings that are not the same in the recording as they were then: live or recorded alone.
	OtherBefore []string `json:"other_before,omitempty"`
	OtherDuring []string `json:"other_during,omitempty"`
	Broken      string   `json:"broken,omitempty"` // the run itself went wrong, and says nothing of kitescope
}

// Look is one answer of "diagnose".
type Look struct {
	From     time.Time  `json:"from"`
	To       time.Time  `json:"to"`
	Findings []*Finding `json:"findings"`
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
		result.OtherBefore = r.other(ctx, result.Name+"-before", result.Before)
		result.OtherDuring = r.other(ctx, result.Name+"-during", result.During)
		r.log("%s: %s; %s; %d and %d other findings", f.Name, result.Recorded.text(result.Injected), result.Onset.text(result.Injected), len(result.OtherBefore), len(result.OtherDuring))
	}
}

// seen is the event of a fault that history has, not long before it was injected.
func (r *runner) seen(ctx context.Context, f *Fault, result *Result, from, name string) Seen {
	const early = 5 * time.Second // clocks, and dates of revisions
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
	text := strings.ToLower(string(e.Object) + " " + fmt.Sprint(e.ID) + " " + e.Message)
	return slices.Contains(f.Events, e.Kind) && slices.ContainsFunc(objects, func(o string) bool { return o == "" || lab.Names(text, []string{o}) })
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
		if !of(x) || best.Check != "" && !x.Began.Before(best.Began) {
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

// other are the findings that "diagnose" has of a moment in the recording and had not then, or the other way round.
func (r *runner) other(ctx context.Context, name string, then *Look) []string {
	var now []*Finding
	if err := r.asked.Ask(ctx, r.lab, r.recording(), filepath.Join(r.lab.Out, name+"-at.json"), &now, "diagnose", "--at", stamp(then.To)); err != nil {
		return []string{err.Error()}
	}
	var list []string
	had := map[string]bool{}
	for _, f := range then.Findings {
		had[f.key()] = true
	}
	for _, f := range now {
		if !had[f.key()] {
			list = append(list, "recorded: "+f.key())
		}
		delete(had, f.key())
	}
	for key := range had {
		list = append(list, "live: "+key)
	}
	slices.Sort(list)
	return list
}
