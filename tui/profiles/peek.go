package profiles

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// peekPage is a function with those that call it above, and those that it calls below.
type peekPage struct {
	tui.List[*peekLine]
	subject *profileSubject
	query   topQuery
	filter  profile.Filter
	name    string
	made    bool
	busy    bool
	err     error
	unit    string
}

// peekLine is a caller, the function itself, or a callee. Values are of the function's cum.
type peekLine struct {
	part   string // "caller", "", "callee"
	name   string
	before int64 // where two are compared
	value  int64
	share  float64 // percent of the function's cum
}

func newPeekPage(s *profileSubject, q topQuery, f profile.Filter, name string) *peekPage {
	p := &peekPage{subject: s, query: q, filter: f, name: name}
	p.List = tui.List[*peekLine]{
		Columns: p.peekColumns,
		Look:    func(l *peekLine) tui.RowLook { return tui.RowLook{Marked: l.part == ""} },
		Open:    func(m *tui.Model, l *peekLine) tui.Cmd { return m.Push(newPeekPage(s, q, f, l.name)) },
	}
	return p
}

func (p *peekPage) Scope() tui.Scope { return tui.InTop }
func (p *peekPage) Crumb() string    { return "peek " + draw.Cut(shortName(words.Harmless(p.name)), 40) }

func (p *peekPage) Note(*tui.Model) string {
	callers, callees := 0, 0
	for _, l := range p.All {
		switch l.part {
		case "caller":
			callers++
		case "callee":
			callees++
		}
	}
	if !p.made || p.err != nil {
		return ""
	}
	return words.Plural(callers, "caller") + " · " + words.Plural(callees, "callee")
}

func (p *peekPage) Command(*tui.Model) string {
	if p.subject.diff() {
		return ""
	}
	return peekCommand(p.subject, p.query, &p.filter, p.name)
}

// peekCommand prints callers and callees of a function.
func peekCommand(s *profileSubject, q topQuery, f *profile.Filter, name string) string {
	c, ok := s.command("peek", exactly(name).String())
	if !ok {
		return ""
	}
	return profileFlags(c, q.kind, q.by, f).String()
}

func (p *peekPage) Refresh(m *tui.Model) tui.Cmd {
	if p.busy || p.made {
		return nil
	}
	p.busy = true
	return peekAt(m, p)
}

// peekedMsg brings callers and callees.
type peekedMsg struct {
	page   *peekPage
	loaded *loadedProfiles
	lines  []peekLine
	unit   string
	err    error
}

func (k peekedMsg) Apply(m *tui.Model) tui.Cmd {
	p := k.page
	p.busy, p.made = false, true
	if k.loaded != nil {
		p.subject.loaded = k.loaded
	}
	p.unit, p.err = k.unit, k.err
	lines := make([]*peekLine, len(k.lines))
	for i := range lines {
		lines[i] = &k.lines[i]
	}
	p.SetRows(lines)
	p.Cursor = max(0, slices.IndexFunc(lines, func(l *peekLine) bool { return l.part == "" }))
	return p.Refresh(m)
}

// peekLines are the lines of a function, of two profiles if both are there, the values of the
// first multiplied by a factor. The smallest callers come first, so that the largest are next to
// the function.
func peekLines(name string, after, before *report.Peek, factor float64) []peekLine {
	var lines []peekLine
	at := map[string]int{}
	line := func(part, name string) *peekLine {
		i, ok := at[part+" "+name]
		if !ok {
			i = len(lines)
			at[part+" "+name] = i
			lines = append(lines, peekLine{part: part, name: name})
		}
		return &lines[i]
	}
	for side, k := range []*report.Peek{after, before} {
		if k == nil {
			continue
		}
		set := func(l *peekLine, v int64) {
			if side == 0 {
				l.value += int64(math.Round(float64(v) * factor))
			} else {
				l.before += v
			}
		}
		for i := range k.Focus {
			f := &k.Focus[i]
			if f.Function != name {
				continue
			}
			set(line("", name), f.Cum)
			for _, e := range f.Callers {
				set(line("caller", e.Function), e.Value)
			}
			for _, e := range f.Callees {
				set(line("callee", e.Function), e.Value)
			}
			if f.Flat != 0 {
				set(line("callee", selfName), f.Flat)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	whole := line("", name).value
	for i := range lines {
		lines[i].share = percentOf(lines[i].value, whole)
	}
	order := map[string]int{"caller": 0, "": 1, "callee": 2}
	slices.SortStableFunc(lines, func(a, b peekLine) int {
		c := cmp.Compare(magnitude(max(b.value, b.before)), magnitude(max(a.value, a.before)))
		if a.part == "caller" {
			c = -c
		}
		return cmp.Or(order[a.part]-order[b.part], c)
	})
	return lines
}

// selfName stands among the callees for what the function does itself.
const selfName = "(itself)"

func (p *peekPage) Body(m *tui.Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case !p.made:
		text = "reading " + p.subject.label + "…"
	case len(p.All) == 0:
		text = "there is no " + words.Harmless(p.name) + " in the profile"
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	return p.List.Body(m.Styles, w, h)
}

func (p *peekPage) peekColumns(w int) []tui.Column[*peekLine] {
	columns := []tui.Column[*peekLine]{
		tui.PlainColumn("", table.Text, 0, func(l *peekLine) string { return l.part }),
		tui.PlainColumn("CUM", table.Int, 0, func(l *peekLine) string { return amount(l.value, p.unit) }),
		tui.PlainColumn("OF IT", table.Percent, 0, func(l *peekLine) string { return words.Percent(l.share) }),
	}
	if p.subject.diff() {
		columns = append(columns,
			tui.PlainColumn("BEFORE", table.Int, 1, func(l *peekLine) string { return amount(l.before, p.unit) }),
			tui.PlainColumn("CHANGE", table.Int, 2, func(l *peekLine) string { return relativeText(l.before, l.value) }))
	}
	return append(columns, tui.PlainColumn(strings.ToUpper(p.query.by.String()), table.Text, 0, func(l *peekLine) string {
		name := words.Harmless(l.name)
		if w < wideNames {
			name = shortName(name)
		}
		if l.part == "" {
			return name
		}
		return "  " + name
	}))
}

// other is the function under the cursor, if it is another than the page's.
func (p *peekPage) other() (string, bool) {
	l, ok := p.Current()
	if !ok {
		return "", false
	}
	return l.name, l.part != "" && l.name != selfName
}

func (p *peekPage) Can(m *tui.Model, a tui.Action) string {
	switch a {
	case tui.ActOpen:
		if _, ok := p.other(); !ok {
			return "go to a caller or a callee first"
		}
	case tui.ActFlame, tui.ActCopyRow:
		if len(p.All) == 0 {
			return "there is no row"
		}
	case tui.ActFilter, tui.ActSortNext, tui.ActSortPrevious, tui.ActSort, tui.ActKind, tui.ActBy, tui.ActNormalize, tui.ActSave:
		return "that is for the table: esc goes back to it"
	}
	return ""
}

func (p *peekPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActFlame:
		name, ok := p.other()
		if !ok {
			name = p.name
		}
		return m.Push(newFlamePageOf(p.subject, p.query, p.filter, name))
	case tui.ActCopyRow:
		l, _ := p.Current()
		return m.Copy(strings.Join(words.NonEmpty([]string{l.part, amount(l.value, p.unit), words.Percent(l.share), words.Harmless(l.name)}), "\t")+"\n", "1 row")
	}
	return p.List.Act(m, a)
}

// profileTrouble is an error about profiles with what can be done.
func profileTrouble(err error) string {
	text := words.Harmless(words.OneLine(err.Error()))
	if hint := hints.Of(err); hint != "" {
		text += ": " + words.Harmless(hint)
	}
	return text
}

// noFilter keeps everything.
func noFilter() profile.Filter { return profile.Filter{} }
