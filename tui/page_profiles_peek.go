package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
	"kitescope/words/hints"
)

// peekPage is a function with those that call it above, and those that it calls below.
type peekPage struct {
	list[*peekLine]
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
	p.list = list[*peekLine]{
		columns: p.peekColumns,
		look:    func(l *peekLine) rowLook { return rowLook{marked: l.part == ""} },
		open:    func(m *Model, l *peekLine) cmd { return m.push(newPeekPage(s, q, f, l.name)) },
	}
	return p
}

func (p *peekPage) scope() scope  { return inTop }
func (p *peekPage) crumb() string { return "peek " + draw.Cut(shortName(words.Harmless(p.name)), 40) }

func (p *peekPage) note(*Model) string {
	callers, callees := 0, 0
	for _, l := range p.all {
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

func (p *peekPage) command(*Model) string {
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

func (p *peekPage) refresh(m *Model) cmd {
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

func (k peekedMsg) apply(m *Model) cmd {
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
	p.setRows(lines)
	p.cursor = max(0, slices.IndexFunc(lines, func(l *peekLine) bool { return l.part == "" }))
	return p.refresh(m)
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

func (p *peekPage) body(m *Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case !p.made:
		text = "reading " + p.subject.label + "…"
	case len(p.all) == 0:
		text = "there is no " + words.Harmless(p.name) + " in the profile"
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.st, text, w)...)
	}
	return p.list.body(m.st, w, h)
}

func (p *peekPage) peekColumns(w int) []column[*peekLine] {
	columns := []column[*peekLine]{
		plainColumn("", table.Text, 0, func(l *peekLine) string { return l.part }),
		plainColumn("CUM", table.Int, 0, func(l *peekLine) string { return amount(l.value, p.unit) }),
		plainColumn("OF IT", table.Percent, 0, func(l *peekLine) string { return words.Percent(l.share) }),
	}
	if p.subject.diff() {
		columns = append(columns,
			plainColumn("BEFORE", table.Int, 1, func(l *peekLine) string { return amount(l.before, p.unit) }),
			plainColumn("CHANGE", table.Int, 2, func(l *peekLine) string { return relativeText(l.before, l.value) }))
	}
	return append(columns, plainColumn(strings.ToUpper(p.query.by.String()), table.Text, 0, func(l *peekLine) string {
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
	l, ok := p.current()
	if !ok {
		return "", false
	}
	return l.name, l.part != "" && l.name != selfName
}

func (p *peekPage) can(m *Model, a action) string {
	switch a {
	case actOpen:
		if _, ok := p.other(); !ok {
			return "go to a caller or a callee first"
		}
	case actFlame, actCopyRow:
		if len(p.all) == 0 {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse, actKind, actBy, actNormalize, actSave:
		return "that is for the table: esc goes back to it"
	default:
	}
	return ""
}

func (p *peekPage) act(m *Model, a action) cmd {
	switch a {
	case actFlame:
		name, ok := p.other()
		if !ok {
			name = p.name
		}
		return m.push(newFlamePageOf(p.subject, p.query, p.filter, name))
	case actCopyRow:
		l, _ := p.current()
		return m.copyText(strings.Join(nonEmpty([]string{l.part, amount(l.value, p.unit), words.Percent(l.share), words.Harmless(l.name)}), "\t")+"\n", "1 row")
	default:
	}
	return p.list.act(m, a)
}

func (p *peekPage) click(m *Model, x, y int) cmd { return p.clicked(m, p, x, y) }

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
