package tui

import (
	"slices"
	"strings"

	"kitescope/profile"
	"kitescope/profile/report"
)

// topPage is a table of where the time goes, of one profile or of what changed between two.
type topPage struct {
	table
	subject *profileSubject
	filter  profile.Filter
	query   topQuery
	shown   topQuery
	made    bool
	busy    bool
	err     error

	top     *report.Top        // one of both, once made
	changes *report.Comparison // where two are compared
	text    string             // rows in which it occurs, in lower case
	rows    []int32            // entries that are shown, in order
	sort    topSort
}

// topQuery is how a table is made.
type topQuery struct {
	kind string
	by   profile.By
	raw  bool
}

func (q flameQuery) topQuery() topQuery { return topQuery{kind: q.kind, by: q.by, raw: q.raw} }

// topSort is the column that a table is sorted by.
type topSort struct {
	column    topColumn
	ascending bool
}

func newTopPage(s *profileSubject, q topQuery, f profile.Filter) *topPage {
	p := &topPage{subject: s, query: q, filter: f, sort: topSort{column: topFlat}}
	if s.diff() {
		p.sort.column = topCumChange
	}
	return p
}

func (p *topPage) scope() scope { return inTop }

func (p *topPage) crumb() string { return "top " + cut(subjectOf(p.subject, &p.filter), 48) }

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
			parts = append(parts, groups(p.top.Samples)+" samples")
		}
	default:
		return ""
	}
	parts = append(parts, "by "+p.shown.by.String())
	if n := p.entries(); len(p.rows) != n {
		parts = append(parts, number(len(p.rows))+" of "+number(n))
	} else if m.w >= 100 {
		parts = append(parts, number(n)+" rows")
	}
	if p.text != "" {
		parts = append(parts, "/"+p.text)
	}
	return strings.Join(parts, " · ")
}

func (p *topPage) entries() int {
	if p.changes != nil {
		return len(p.changes.Changes)
	}
	if p.top != nil {
		return len(p.top.Entries)
	}
	return 0
}

// entry is what a row is of.
func (p *topPage) entry(i int32) *report.Entry {
	if p.changes != nil {
		return &p.changes.Changes[i].Entry
	}
	return &p.top.Entries[i]
}

// current is the entry under the cursor, nil if there is none.
func (p *topPage) current() *report.Entry {
	if p.cursor >= len(p.rows) {
		return nil
	}
	return p.entry(p.rows[p.cursor])
}

func (p *topPage) refresh(m *Model) cmd {
	if p.busy || p.made && p.shown == p.query {
		return nil
	}
	p.busy = true
	return m.rankTop(p)
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
	p.choose("")
	return nil
}

// choose lists the entries that the filter leaves, in order, with the cursor on an entry if it is there.
func (p *topPage) choose(keep string) {
	p.rows = p.rows[:0]
	for i := range p.entries() {
		e := p.entry(int32(i))
		if p.text == "" || strings.Contains(strings.ToLower(e.Function), p.text) || strings.Contains(strings.ToLower(e.File), p.text) || strings.Contains(e.Class.String(), p.text) {
			p.rows = append(p.rows, int32(i))
		}
	}
	slices.SortStableFunc(p.rows, func(a, b int32) int {
		c := p.compare(p.sort.column, a, b)
		if p.sort.ascending {
			return -c
		}
		return c
	})
	if keep != "" {
		if i := slices.IndexFunc(p.rows, func(i int32) bool { return p.entry(i).Function == keep }); i >= 0 {
			p.cursor = i
		}
	}
	p.clamp(len(p.rows))
}

func (p *topPage) body(m *Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case p.top == nil && p.changes == nil:
		text = "reading " + p.subject.label + "…"
	case p.entries() == 0:
		text = "the profile has no samples, or none that the filter leaves; T shows another sample type"
	case len(p.rows) == 0:
		text = "no row has " + p.text + "; esc clears the filter"
	}
	if text != "" {
		return append([]string{""}, sentence(m.st, text, w)...)
	}
	v := topView{p, p.columns(w), w < wideNames}
	sorted := slices.Index(v.list, p.sort.column)
	return p.draw(m.st, v, sortMark{sorted, !p.sort.ascending}, w, h)
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

// topView is a topPage as the table draws it.
type topView struct {
	*topPage
	list  []topColumn
	short bool // names without the paths of packages
}

// wideNames is from how many cells on names are written in full.
const wideNames = 120

func (v topView) rows() int { return len(v.topPage.rows) }

func (v topView) look(i int) rowLook {
	p := v.topPage
	if p.changes == nil {
		return rowLook{}
	}
	c := &p.changes.Changes[p.rows[i]]
	switch {
	case c.CumVerdict == report.Noise && c.FlatVerdict == report.Noise:
		return rowLook{dim: true}
	case c.CumVerdict == report.More || c.CumVerdict == report.Undecided && c.Cum > 0:
		return rowLook{change: added}
	case c.CumVerdict == report.Less || c.CumVerdict == report.Undecided && c.Cum < 0:
		return rowLook{change: removed}
	}
	return rowLook{}
}

func (v topView) text(i, j int) string {
	if v.short && v.list[j] == topFunction && v.shown.by == profile.ByFunction {
		return shortName(clean(v.entry(v.topPage.rows[i]).Function))
	}
	return v.cellOf(v.topPage.rows[i], v.list[j])
}
