package tui

import (
	"strings"

	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/tui/draw"
	"kitescope/words"
)

// topPage is a table of where the time goes, of one profile or of what changed between two.
type topPage struct {
	list[*topRow]
	subject *profileSubject
	filter  profile.Filter
	query   topQuery
	shown   topQuery
	made    bool
	busy    bool
	err     error

	top     *report.Top        // one of both, once made
	changes *report.Comparison // where two are compared
}

// topRow is an entry of a table, with what changed of it where two are compared.
type topRow struct {
	*report.Entry
	change *report.Change
}

// topQuery is how a table is made.
type topQuery struct {
	kind string
	by   profile.By
	raw  bool
}

func (q flameQuery) topQuery() topQuery { return topQuery{kind: q.kind, by: q.by, raw: q.raw} }

func newTopPage(s *profileSubject, q topQuery, f profile.Filter) *topPage {
	p := &topPage{subject: s, query: q, filter: f}
	p.list = list[*topRow]{
		noun: "row", columns: p.topColumns, look: p.look, open: p.open, save: p.saveMenu, sorted: "flat", stays: true,
		words: func(r *topRow) string { return r.Function + "\n" + r.File + "\n" + r.Class.String() },
	}
	if s.diff() {
		p.sorted = "cum_change"
	}
	return p
}

func (p *topPage) scope() scope { return inTop }

func (p *topPage) crumb() string { return "top " + draw.Cut(subjectOf(p.subject, &p.filter), 48) }

func (p *topPage) note(m *Model) string {
	var parts []string
	switch {
	case p.changes != nil:
		parts = append(parts, kindText(p.changes.Type))
		if p.changes.Normalized {
			parts = append(parts, "normalized")
		}
	case p.top != nil:
		parts = append(parts, kindText(p.top.Type)+" "+amount(p.top.Total, p.top.Type.Unit))
		if p.top.Samples >= 0 {
			parts = append(parts, words.Number(p.top.Samples)+" samples")
		}
	default:
		return ""
	}
	parts = append(parts, "by "+p.shown.by.String())
	if n := len(p.all); len(p.list.shown) != n {
		parts = append(parts, words.Number(len(p.list.shown))+" of "+words.Number(n))
	} else if m.w >= 100 {
		parts = append(parts, words.Number(n)+" rows")
	}
	if p.list.filter != "" {
		parts = append(parts, "/"+p.list.filter)
	}
	return strings.Join(parts, " · ")
}

// entry is what is under the cursor, nil if there is nothing.
func (p *topPage) entry() *report.Entry {
	if r, ok := p.current(); ok {
		return r.Entry
	}
	return nil
}

func (p *topPage) refresh(m *Model) cmd {
	if p.busy || p.made && p.shown == p.query {
		return nil
	}
	p.busy = true
	return rankTop(m, p)
}

// rankedMsg brings a table that was asked for.
type rankedMsg struct {
	page    *topPage
	query   topQuery
	loaded  *loadedProfiles
	top     *report.Top
	changes *report.Comparison
	err     error
}

func (r rankedMsg) apply(m *Model) cmd {
	p := r.page
	p.busy = false
	if r.loaded != nil {
		p.subject.loaded = r.loaded
	}
	if r.query != p.query {
		return p.refresh(m)
	}
	p.made, p.shown, p.err = true, r.query, r.err
	if r.err != nil {
		return nil
	}
	p.top, p.changes = r.top, r.changes
	p.resetColumns()
	p.setRows(topRows(r.top, r.changes))
	return nil
}

func topRows(top *report.Top, changes *report.Comparison) []*topRow {
	var rows []*topRow
	switch {
	case changes != nil:
		for i := range changes.Changes {
			c := &changes.Changes[i]
			rows = append(rows, &topRow{&c.Entry, c})
		}
	case top != nil:
		for i := range top.Entries {
			rows = append(rows, &topRow{Entry: &top.Entries[i]})
		}
	}
	return rows
}

func (p *topPage) body(m *Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case p.top == nil && p.changes == nil:
		text = "reading " + p.subject.label + "…"
	case len(p.all) == 0:
		text = "the profile has no samples, or none that the filter leaves; T shows another sample type"
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.st, text, w)...)
	}
	return p.list.body(m.st, w, h)
}

func (p *topPage) command(*Model) string {
	c, ok := p.subject.command("top")
	if p.subject.diff() {
		c, ok = p.subject.command("diff", p.subject.was)
		ok = ok && len(p.subject.words) == 1+len(flagsIn(p.subject.words)) // it takes one profile a side
	}
	if !ok {
		return ""
	}
	if p.subject.diff() && !p.query.raw {
		c = c.Word("--normalize")
	}
	return profileFlags(c, p.query.kind, p.query.by, &p.filter).String()
}

// wideNames is from how many cells on names are written in full.
const wideNames = 120

func (p *topPage) look(r *topRow) rowLook {
	c := r.change
	switch {
	case c == nil:
	case c.CumVerdict == report.Noise && c.FlatVerdict == report.Noise:
		return rowLook{dim: true}
	case c.CumVerdict == report.More || c.CumVerdict == report.Undecided && c.Cum > 0:
		return rowLook{change: added}
	case c.CumVerdict == report.Less || c.CumVerdict == report.Undecided && c.Cum < 0:
		return rowLook{change: removed}
	}
	return rowLook{}
}
