package profiles

import (
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// topPage is a table of where the time goes in one profile, or of the changes between two.
type topPage struct {
	tui.List[*topRow]
	subject *profileSubject
	filter  profile.Filter
	query   topQuery
	shown   topQuery
	made    bool
	busy    bool
	err     error

	top     *report.Top        // either this or changes is set, once made
	changes *report.Comparison // set if two profiles are compared
}

// topRow is an entry of a table, with its change if two profiles are compared.
type topRow struct {
	*report.Entry
	change *report.Change
}

// topQuery holds the options that a table is made with.
type topQuery struct {
	kind string
	by   profile.Granularity
	raw  bool
}

func (q flameQuery) topQuery() topQuery { return topQuery{kind: q.kind, by: q.by, raw: q.raw} }

func newTopPage(s *profileSubject, q topQuery, f profile.Filter) *topPage {
	p := &topPage{subject: s, query: q, filter: f}
	p.List = tui.List[*topRow]{
		Noun: "row", Columns: p.topColumns, Look: p.look, Open: p.open, Save: p.saveMenu, Sorted: "flat",
		KeepLine: true,
		Words:    func(r *topRow) string { return r.Function + "\n" + r.File + "\n" + r.Class.String() },
	}
	if s.diff() {
		p.Sorted = "cum_change"
	}
	return p
}

func (p *topPage) Scope() tui.Scope { return tui.InTop }

func (p *topPage) Crumb() string { return "top " + draw.Cut(subjectOf(p.subject, &p.filter), 48) }

func (p *topPage) Note(m *tui.Model) string {
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
	if n := len(p.All); len(p.List.Shown) != n {
		parts = append(parts, words.Number(len(p.List.Shown))+" of "+words.Number(n))
	} else if m.Width >= 100 {
		parts = append(parts, words.Number(n)+" rows")
	}
	parts = append(parts, tui.FilterNote(p.List.Filter)...)
	return strings.Join(parts, " · ")
}

// entry returns the entry under the cursor, nil if there is none.
func (p *topPage) entry() *report.Entry {
	if r, ok := p.Current(); ok {
		return r.Entry
	}
	return nil
}

func (p *topPage) Refresh(m *tui.Model) tui.Cmd {
	if p.busy || p.made && p.shown == p.query {
		return nil
	}
	p.busy = true
	return rankTop(m, p)
}

// rankedMsg delivers a requested table.
type rankedMsg struct {
	page    *topPage
	query   topQuery
	loaded  *loadedProfiles
	top     *report.Top
	changes *report.Comparison
	err     error
}

func (r rankedMsg) Apply(m *tui.Model) tui.Cmd {
	p := r.page
	p.busy = false
	if r.loaded != nil {
		p.subject.loaded = r.loaded
	}
	if r.query != p.query {
		return p.Refresh(m)
	}
	p.made, p.shown, p.err = true, r.query, r.err
	if r.err != nil {
		return nil
	}
	p.top, p.changes = r.top, r.changes
	p.ResetColumns()
	p.SetRows(topRows(r.top, r.changes))
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

func (p *topPage) Body(m *tui.Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case p.top == nil && p.changes == nil:
		text = "reading " + p.subject.label + "…"
	case len(p.All) == 0:
		text = "the profile has no samples, or the filter removes all; " +
			tui.KeyOf(m, tui.ActKind) + " shows another sample type"
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	return p.List.Body(m.Styles, w, h)
}

func (p *topPage) Command(*tui.Model) string {
	c, ok := p.subject.command("top")
	if p.subject.diff() {
		c, ok = p.subject.command("diff", p.subject.baseArg)
		ok = ok && len(p.subject.words) == 1+len(flagsIn(p.subject.words)) // the diff command takes one profile a side
	}
	if !ok {
		return ""
	}
	if p.subject.diff() && !p.query.raw {
		c = c.Word("--normalize")
	}
	return profileFlags(c, p.query.kind, p.query.by, &p.filter).String()
}

// wideNames is the width in cells from which names are written in full.
const wideNames = 120

func (p *topPage) look(r *topRow) tui.RowLook {
	c := r.change
	switch {
	case c == nil:
	case c.CumVerdict == report.Noise && c.FlatVerdict == report.Noise:
		return tui.RowLook{Dim: true}
	case c.CumVerdict == report.Increased || c.CumVerdict == report.Undecided && c.Cum > 0:
		return tui.RowLook{Role: render.RoleAdded}
	case c.CumVerdict == report.Decreased || c.CumVerdict == report.Undecided && c.Cum < 0:
		return tui.RowLook{Role: render.RoleRemoved}
	}
	return tui.RowLook{}
}
