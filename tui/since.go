package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/why"
	"kitescope/internal/words"
	"kitescope/render/clusters"
)

// onsets holds when the displayed findings began. The search runs in the background while a page shows them.
type onsets struct {
	report *check.Report // the last report that was searched
	known  map[string]*beginning
	cancel context.CancelFunc // cancels the search in flight; nil if there is none
	serial int                // counts searches
	delay  time.Duration      // delay before the next search
}

// beginning is the start of a finding. It is valid for the revisions from first to last.
type beginning struct {
	first, last int64
	atLeast     bool // it may have begun before first
	short       string
	facts       []Fact
}

// Dated is a page that shows when findings began.
type Dated interface{ Dated() }

// Beginning is a finding of the displayed cluster and the revision at which it began. AtLeast reports that the
// oldest state already has it.
type Beginning struct {
	Finding  *check.Finding
	Revision int64
	AtLeast  bool
}

// Beginnings returns the findings with a known beginning, in the order of the report.
func (m *Model) Beginnings() []Beginning {
	r := m.data.judged.report
	if r == nil {
		return nil
	}
	var list []Beginning
	for _, f := range r.Findings {
		if b := m.data.past.onsets.known[f.Key()]; b != nil && b.short != words.UnknownMark {
			list = append(list, Beginning{f, b.first, b.atLeast})
		}
	}
	return list
}

const (
	// minSearchDelay is the minimum delay before a search, so that stepping through time does not wait for searches.
	// The delay is at least searchDelayFactor times the duration of the last search.
	minSearchDelay    = 300 * time.Millisecond
	searchDelayFactor = 3
	// onsetEvents is the number of preceding events listed as possible causes.
	onsetEvents = 2
	// minSinceWidth is the minimum terminal width, in cells, for showing when findings began.
	minSinceWidth = 100
)

// stop cancels the search in flight.
func (o *onsets) stop() {
	if o.cancel != nil {
		o.cancel()
		o.cancel = nil
	}
	o.serial++
	o.report = nil
}

// dateFindings schedules a search for the beginnings of the findings on the top page. If the page shows no
// findings, it cancels the search.
func (m *Model) dateFindings() Cmd {
	var r *check.Report
	switch p := m.Top().(type) {
	case *findingsPage:
		r = p.judged.dated()
	case *findingPage:
		r = p.judged.dated()
	case *overviewPage, *detailPage, Dated:
		r = m.data.judged.report
	}
	o, p := &m.data.past.onsets, &m.data.past
	switch {
	case r == nil && o.report == nil, r == o.report:
		return nil
	case r == nil:
		o.stop()
		return nil
	case p.source == nil || p.axis == nil:
		return nil
	}
	part := o.missing(m, r)
	o.stop()
	o.report = r
	if len(part.Findings) == 0 {
		return nil
	}
	return m.After(max(minSearchDelay, o.delay), dateMsg{o.serial, p.source, p.axis.History, part})
}

// missing returns a report with only the findings whose beginning is unknown at its revision. It keeps the
// known beginnings of the other findings and drops the rest.
func (o *onsets) missing(m *Model, r *check.Report) *check.Report {
	_, away := m.Revision()
	revision, kept, part := r.Cluster.Origin.Revision, map[string]*beginning{}, *r
	part.Findings = nil
	for _, f := range r.Findings {
		b := o.known[f.Key()]
		if b != nil && revision > b.last && !away { // live: the finding persisted since b.last
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

// dateMsg starts a scheduled search.
type dateMsg struct {
	serial  int
	past    history.Past
	history *history.History
	report  *check.Report
}

func (d dateMsg) Apply(m *Model) Cmd {
	o := &m.data.past.onsets
	if d.serial != o.serial || d.past != m.data.past.source {
		return nil
	}
	ctx, stop := m.Context()
	o.cancel = stop
	checks, clock := m.Config.Checks, m.Config.Now
	return func() tea.Msg {
		defer stop()
		began := clock()
		list, err := why.Find(ctx, d.past.Survey, d.history, d.report, why.Options{Checks: checks, Before: onsetEvents})
		return datedMsg{d, list, err, clock().Sub(began)}
	}
}

// datedMsg delivers the beginnings of findings.
type datedMsg struct {
	dateMsg
	list []why.Onset
	err  error
	took time.Duration
}

func (d datedMsg) Apply(m *Model) Cmd {
	o := &m.data.past.onsets
	if d.serial != o.serial || d.past != m.data.past.source {
		return nil
	}
	o.cancel, o.delay = nil, searchDelayFactor*d.took
	revision, now := d.report.Cluster.Origin.Revision, d.report.Now
	if d.err != nil {
		why := []Fact{{Label: "since", Text: "start unknown: " + words.Sanitize(words.OneLine(d.err.Error()))}}
		for _, x := range d.report.Findings {
			o.known[x.Key()] = &beginning{first: revision, last: revision, short: words.UnknownMark, facts: why}
		}
		return m.Refresh()
	}
	for i := range d.list {
		x := &d.list[i]
		first := x.Revision
		if x.Unknown != "" {
			first = revision
		}
		b := &beginning{
			first: first, last: revision, atLeast: x.MaybeOlder, short: shortOnset(x, now),
			facts: []Fact{{Label: "since", Text: clusters.OnsetText(x, now)}},
		}
		for k := range x.Before {
			b.facts = append(b.facts, Fact{Text: "preceded by " + clusters.EventText(&x.Before[k], now)})
		}
		o.known[x.Finding.Key()] = b
	}
	return m.Refresh()
}

// shortOnset returns the beginning of a finding in short form, for a list.
func shortOnset(o *why.Onset, now time.Time) string {
	at := "rev " + words.Number(o.Revision)
	switch {
	case o.Unknown != "":
		return words.UnknownMark
	case !o.Began.IsZero() && o.Began.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly):
		at = o.Began.UTC().Format(time.TimeOnly)
	case !o.Began.IsZero():
		at = o.Began.UTC().Format("01-02 15:04")
	}
	if o.MaybeOlder {
		return "≤ " + at
	}
	return at
}

// dated returns the report whose findings have beginnings. It returns nil for the findings of an upgrade check,
// because its version does not run yet.
func (j *judgement) dated() *check.Report {
	if j.config != nil {
		return nil
	}
	return j.report
}

// began returns the beginning of a finding, in short form for a list and in full. Both are empty if it is
// unknown.
func (j *judgement) began(m *Model, f *check.Finding) (short string, facts []Fact) {
	if b := m.data.past.onsets.known[f.Key()]; b != nil && j.config == nil {
		return b.short, b.facts
	}
	return "", nil
}
