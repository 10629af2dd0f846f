package hindsight

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/news"
	"kitescope/inspect/onset"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui"
)

// onsets are when findings began.
type onsets struct {
	report *check.Report // that was looked at last
	known  map[string]*beginning
	stops  context.CancelFunc // of the search that is under way, nil: none is
	serial int                // counts searches
	rest   time.Duration      // before the next one
}

// beginning is when a finding began. It holds for each state between the revision at which it began and last.
type beginning struct {
	first, last int64
	short       string
	facts       []tui.Fact
}

const (
	// mostJudged is how many moments are judged on the way back.
	mostJudged = 60
	// toldBefore is how many events are told that can be the cause.
	toldBefore = 2
	// leastRest is before each search, so that who steps on waits for none; restFactor is how many times as long as the last one took.
	leastRest  = 300 * time.Millisecond
	restFactor = 3
)

// stop ends a search that is under way.
func (o *onsets) stop() {
	if o.stops != nil {
		o.stops()
		o.stops = nil
	}
	o.serial++
	o.report = nil
}

// look searches for what is not known of a report, nil: nobody wants to know.
func (o *onsets) look(m *tui.Model, past news.Past, x *history.Axis, r *check.Report) tui.Cmd {
	switch {
	case r == nil && o.report == nil, r == o.report:
		return nil
	case r == nil:
		o.stop()
		return nil
	}
	part := o.missing(m, r)
	o.stop()
	o.report = r
	if len(part.Findings) == 0 {
		return nil
	}
	return m.After(max(leastRest, o.rest), beginMsg{o, o.serial, past, x, part})
}

// missing is a report of those findings of which it is not known when they began; the others are kept, and all else is forgotten.
func (o *onsets) missing(m *tui.Model, r *check.Report) *check.Report {
	_, away := m.Shown()
	revision, kept, part := r.Cluster.Origin.Revision, map[string]*beginning{}, *r
	part.Findings = nil
	for _, f := range r.Findings {
		b := o.known[f.Key()]
		if b != nil && revision > b.last && !away { // it is followed, and was there all the time
			b.last = revision
		}
		if b == nil || revision < b.first || revision > b.last {
			part.Findings = append(part.Findings, f)
			continue
		}
		kept[f.Key()] = b
	}
	o.known = kept
	return &part
}

// beginMsg says that it is time to search.
type beginMsg struct {
	onsets *onsets
	serial int
	past   news.Past
	axis   *history.Axis
	report *check.Report
}

// Apply implements tui.Message.
func (b beginMsg) Apply(m *tui.Model) tui.Cmd {
	o := b.onsets
	if b.serial != o.serial {
		return nil
	}
	ctx, stop := m.Context()
	o.stops = stop
	checks, clock := m.Config.Checks, m.Config.Now
	return func() tea.Msg {
		defer stop()
		began := clock()
		list, err := search(ctx, b.past, b.axis, b.report, checks)
		return foundMsg{b, list, err, clock().Sub(began)}
	}
}

// search finds when the findings of a report began.
func search(ctx context.Context, past news.Past, x *history.Axis, r *check.Report, checks []*check.Check) ([]onset.Onset, error) {
	film, err := past.Film(ctx, r.Cluster.Origin.Revision)
	if err != nil {
		return nil, err
	}
	list, err := onset.Find(ctx, film, r, onset.Options{Most: mostJudged, Checks: checks})
	if err == nil {
		onset.NewPast(x.History).Explain(r.Cluster, list, toldBefore)
	}
	return list, err
}

// foundMsg brings when findings began.
type foundMsg struct {
	beginMsg
	list []onset.Onset
	err  error
	took time.Duration
}

// Apply implements tui.Message.
func (f foundMsg) Apply(m *tui.Model) tui.Cmd {
	o := f.onsets
	if f.serial != o.serial {
		return nil
	}
	o.stops, o.rest = nil, restFactor*f.took
	revision, now := f.report.Cluster.Origin.Revision, f.report.Now
	if f.err != nil {
		for _, x := range f.report.Findings {
			o.known[x.Key()] = &beginning{revision, revision, words.UnknownMark, []tui.Fact{{Label: "since", Text: "unknown when: " + words.Harmless(words.OneLine(f.err.Error()))}}}
		}
		return m.Refresh()
	}
	for i := range f.list {
		x := &f.list[i]
		first := x.Revision
		if x.Unknown != "" {
			first = revision
		}
		b := &beginning{first: first, last: revision, short: short(x, now), facts: []tui.Fact{{Label: "since", Text: render.OnsetText(x, now)}}}
		for k := range x.Before {
			b.facts = append(b.facts, tui.Fact{Label: "before", Text: render.EventText(&x.Before[k], now)})
		}
		o.known[x.Finding.Key()] = b
	}
	return m.Refresh()
}

// short is when a finding began, for a list.
func short(o *onset.Onset, now time.Time) string {
	at := "rev " + words.Number(o.Revision)
	switch {
	case o.Unknown != "":
		return words.UnknownMark
	case !o.Began.IsZero() && o.Began.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly):
		at = o.Began.UTC().Format(time.TimeOnly)
	case !o.Began.IsZero():
		at = o.Began.UTC().Format("01-02 15:04")
	}
	if o.AtLeast {
		return "≤ " + at
	}
	return at
}

// began is what is known of a finding.
func (o *onsets) began(f *check.Finding) (short string, facts []tui.Fact) {
	if b := o.known[f.Key()]; b != nil {
		return b.short, b.facts
	}
	return "", nil
}
