package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/words/hints"
)

// peekPage is a function with those that call it above, and those that it calls below.
type peekPage struct {
	table
	subject *profileSubject
	query   topQuery
	filter  profile.Filter
	name    string
	made    bool
	busy    bool
	err     error
	lines   []peekLine
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
	return &peekPage{subject: s, query: q, filter: f, name: name}
}

func (p *peekPage) scope() scope  { return inTop }
func (p *peekPage) crumb() string { return "peek " + cut(shortName(clean(p.name)), 40) }

func (p *peekPage) note(*Model) string {
	callers, callees := 0, 0
	for i := range p.lines {
		switch p.lines[i].part {
		case "caller":
			callers++
		case "callee":
			callees++
		}
	}
	if !p.made || p.err != nil {
		return ""
	}
	return plural(callers, "caller") + " · " + plural(callees, "callee")
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
	return m.peekAt(p)
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
	p.lines, p.unit, p.err = k.lines, k.unit, k.err
	p.cursor = max(0, slices.IndexFunc(p.lines, func(l peekLine) bool { return l.part == "" }))
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
	case len(p.lines) == 0:
		text = "there is no " + clean(p.name) + " in the profile"
	}
	if text != "" {
		return append([]string{""}, sentence(m.st, text, w)...)
	}
	return p.draw(m.st, peekView{p, w < wideNames}, sortMark{column: -1}, w, h)
}

// peekView is a peekPage as the table draws it.
type peekView struct {
	*peekPage
	short bool
}

func (v peekView) rows() int { return len(v.lines) }

func (v peekView) columns() []view.Column {
	cols := []view.Column{{Title: "", Kind: view.Text}, {Title: "CUM", Kind: view.Int}, {Title: "OF IT", Kind: view.Percent}}
	if v.subject.diff() {
		cols = append(cols, view.Column{Title: "BEFORE", Kind: view.Int, Priority: 1}, view.Column{Title: "CHANGE", Kind: view.Int, Priority: 2})
	}
	return append(cols, view.Column{Title: strings.ToUpper(v.query.by.String()), Kind: view.Text})
}

func (v peekView) text(i, j int) string {
	l := &v.lines[i]
	if !v.subject.diff() && j == 3 {
		j = 5
	}
	switch j {
	case 0:
		return l.part
	case 1:
		return amount(l.value, v.unit)
	case 2:
		return percentText(l.share)
	case 3:
		return amount(l.before, v.unit)
	case 4:
		return relativeText(l.before, l.value)
	}
	name := clean(l.name)
	if v.short {
		name = shortName(name)
	}
	if l.part == "" {
		return name
	}
	return "  " + name
}

func (v peekView) look(i int) rowLook { return rowLook{marked: v.lines[i].part == ""} }

// other is the function under the cursor, if it is another than the page's.
func (p *peekPage) other() (string, bool) {
	if p.cursor >= len(p.lines) {
		return "", false
	}
	l := &p.lines[p.cursor]
	return l.name, l.part != "" && l.name != selfName
}

func (p *peekPage) can(m *Model, a action) string {
	if a == actGoFindings && m.cfg.view != nil {
		return noCluster
	}
	switch a {
	case actOpen:
		if _, ok := p.other(); !ok {
			return "go to a caller or a callee first"
		}
	case actFlame, actCopyRow:
		if len(p.lines) == 0 {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse, actKind, actBy, actNormalize, actSave:
		return "that is for the table: esc goes back to it"
	default:
	}
	return ""
}

func (p *peekPage) act(m *Model, a action) cmd {
	if p.move(a, len(p.lines)) {
		return nil
	}
	switch a {
	case actBack:
		return m.back()
	case actOpen:
		name, _ := p.other()
		return m.push(newPeekPage(p.subject, p.query, p.filter, name))
	case actFlame:
		name, ok := p.other()
		if !ok {
			name = p.name
		}
		return m.push(newFlamePageOf(p.subject, p.query, p.filter, name))
	case actCopyRow:
		l := &p.lines[p.cursor]
		return m.copyText(strings.Join(nonEmpty([]string{l.part, amount(l.value, p.unit), percentText(l.share), clean(l.name)}), "\t")+"\n", "1 row")
	case actGoFindings:
		return m.goFindings()
	default:
	}
	return nil
}

func (p *peekPage) click(m *Model, _, y int) cmd {
	i := p.table.top + y - 1
	if y == 0 || i >= len(p.lines) {
		return nil
	}
	if i == p.cursor && p.can(m, actOpen) == "" {
		return p.act(m, actOpen)
	}
	p.cursor = i
	return nil
}

func (p *peekPage) wheel(_ *Model, lines int) {
	p.cursor += lines
	p.clamp(len(p.lines))
}

// profileTrouble is an error about profiles with what can be done.
func profileTrouble(err error) string {
	text := clean(oneLine(err.Error()))
	if hint := hints.Of(err); hint != "" {
		text += ": " + clean(hint)
	}
	return text
}

// noFilter keeps everything.
func noFilter() profile.Filter { return profile.Filter{} }
