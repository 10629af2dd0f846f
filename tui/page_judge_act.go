package tui

import (
	"io"
	"slices"
	"strings"

	"kitescope/profile"
	"kitescope/render"
	"kitescope/words"
)

func (p *judgePage) can(m *Model, a action) string {
	p.lay(m)
	if a == actGoFindings && m.cfg.view != nil {
		return noCluster
	}
	switch a {
	case actOpen:
		return p.canOpen()
	case actCopyRow:
		if p.current() == nil {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse:
		if p.made == nil || len(p.made.Hot) == 0 {
			return "there is no hot call"
		}
	case actSave:
		switch {
		case m.cfg.SaveFile == nil:
			return "saving is switched off"
		case p.made == nil:
			return "there is no judgement yet"
		}
	default:
	}
	return ""
}

func (p *judgePage) canOpen() string {
	l := p.current()
	switch {
	case l == nil:
		return "there is no row"
	case l.part == ofProfile && (l.at >= len(p.items) || p.made.Profiles[l.at].Input.Profile == nil):
		return "it could not be read"
	case l.part == ofEdge && p.made.Hot[l.at].Callee == "":
		return "the profile has no name that Go would know it by"
	case l.part == ofEdge && len(p.good()) == 0:
		return "the profiles are not here any more"
	case l.part == ofText:
		return "go to a profile or a call first"
	}
	return ""
}

// good are the profiles that could be read.
func (p *judgePage) good() []ProfileItem {
	var list []ProfileItem
	for i := range p.made.Profiles {
		if i < len(p.items) && p.made.Profiles[i].Input.Profile != nil {
			list = append(list, p.items[i])
		}
	}
	return list
}

func (p *judgePage) act(m *Model, a action) cmd {
	p.lay(m)
	if p.move(a) {
		return nil
	}
	switch a {
	case actBack:
		if p.text != "" {
			p.find(m, "")
			return nil
		}
		return m.back()
	case actOpen:
		return p.open(m)
	case actSortNext, actSortPrevious:
		list := p.edgeColumns()
		at := slices.Index(list, p.sort.column)
		by := map[action]int{actSortNext: 1, actSortPrevious: -1}[a]
		p.sort = judgeSort{column: list[(at+by+len(list))%len(list)]}
		p.resort(m)
	case actSortReverse:
		p.sort.ascending = !p.sort.ascending
		p.resort(m)
	case actFilter:
		m.prompt = p.filterPrompt()
	case actCopyRow:
		return p.copyRow(m)
	case actSave:
		m.menu = p.saveMenu()
	case actGoFindings:
		return m.goFindings()
	default:
	}
	return nil
}

// open shows the flame graph of a profile, or of what a hot edge calls.
func (p *judgePage) open(m *Model) cmd {
	l := p.current()
	if l.part == ofProfile {
		return m.push(newFlamePage(newSubject(p.items[l.at:l.at+1], nil), flameQuery{}))
	}
	s := newSubject(p.good(), nil)
	return m.push(newFlamePage(s, flameQuery{by: profile.ByFunction, focus: p.made.Hot[l.at].Callee}))
}

// resort sorts the hot edges. A cursor that is not among them goes to the first, so that the order is seen.
func (p *judgePage) resort(m *Model) {
	at := -1
	if l := p.current(); l != nil && l.part == ofEdge {
		at = l.at
	}
	p.choose()
	p.lay(m)
	if at >= 0 {
		p.goTo(ofEdge, at)
	} else if len(p.edges) > 0 {
		p.goTo(ofEdge, int(p.edges[0]))
	}
}

// goTo puts the cursor on the line of something.
func (p *judgePage) goTo(part judgePart, at int) {
	i := slices.IndexFunc(p.stops, func(line int) bool { return p.lines[line].part == part && p.lines[line].at == at })
	if i >= 0 {
		p.cursor = i
	}
}

// find leaves the profiles and calls in which a text occurs, and goes to the first.
func (p *judgePage) find(m *Model, text string) {
	p.text = strings.ToLower(strings.TrimSpace(text))
	p.choose()
	p.lay(m)
	p.cursor = max(0, slices.IndexFunc(p.stops, func(line int) bool { return p.text != "" && p.lines[line].part != ofText }))
}

func (p *judgePage) filterPrompt() *prompt {
	before := p.text
	q := &prompt{
		sign:      "/",
		changed:   func(m *Model, text string) cmd { p.find(m, text); return nil },
		accepted:  func(*Model, string) cmd { return nil },
		cancelled: func(m *Model) cmd { p.find(m, before); return nil },
		status:    func(*Model) string { return words.Plural(len(p.edges), "call") },
		move: func(_ *Model, a action) cmd {
			p.move(map[action]action{actPrevious: actUp, actNext: actDown}[a])
			return nil
		},
	}
	q.set(before)
	return q
}

// copyRow copies a row, or a paragraph.
func (p *judgePage) copyRow(m *Model) cmd {
	l := p.current()
	switch l.part {
	case ofProfile:
		var cells []string
		for k := range assessedColumns() {
			cells = append(cells, p.assessedCell(l.at, k))
		}
		return m.copyText(strings.Join(cells, "\t")+"\n", "1 row")
	case ofEdge:
		return m.copyText(p.edgeRow(l.at), "1 row")
	default:
	}
	texts := []string{l.full}
	for i := p.stops[p.cursor] + 1; i < len(p.lines) && p.lines[i].part == ofParagraph; i++ {
		if full := p.lines[i].full; full != "" {
			texts = append(texts, full)
		}
	}
	return m.copyText(strings.Join(texts, "\n")+"\n", "the text")
}

func (p *judgePage) edgeRow(i int) string {
	var cells []string
	for _, c := range p.edgeColumns() {
		cells = append(cells, c.text(&p.made.Hot[i], false))
	}
	return strings.Join(cells, "\t") + "\n"
}

// tsvTable are the hot calls.
func (p *judgePage) tsvTable() (tsv string, rows int) {
	if p.made == nil {
		return "", 0
	}
	var titles []string
	for _, c := range p.edgeColumns() {
		titles = append(titles, c.head().Title)
	}
	var b strings.Builder
	b.WriteString(strings.Join(titles, "\t") + "\n")
	for _, i := range p.edges {
		b.WriteString(p.edgeRow(int(i)))
	}
	return b.String(), len(p.edges)
}

// saveMenu offers the formats of the same report on the command line.
func (p *judgePage) saveMenu() *menu {
	n := &menu{title: "save the judgement"}
	for _, word := range []string{"csv", "json", "markdown"} {
		format, err := render.ParseReportFormat(word)
		if err != nil {
			continue
		}
		n.items = append(n.items, menuItem{key: word[:1], text: word, run: func(m *Model, _ *menu) cmd {
			return save(m, fileName("pgo-judge", "")+"."+extensionOf(word), p.writer(format))
		}})
	}
	return n
}

// writer writes the judgement in a format of reports about profiles.
func (p *judgePage) writer(f render.ReportFormat) func(io.Writer) error {
	made := p.made
	return func(w io.Writer) error { return render.WriteJudgement(w, made, f, render.ReportOptions{}) }
}

// extensionOf is the end of the name of a file in a format.
func extensionOf(format string) string {
	if format == "markdown" {
		return "md"
	}
	return format
}

// move moves the cursor from stop to stop, and reports whether it was a movement.
func (p *judgePage) move(a action) bool {
	to, ok := moved(a, p.cursor, len(p.stops), p.height)
	if ok {
		p.cursor = max(0, min(to, len(p.stops)-1))
	}
	return ok
}

func (p *judgePage) click(m *Model, _, y int) cmd {
	i := slices.Index(p.stops, p.top+y)
	switch {
	case i < 0:
	case i == p.cursor && p.can(m, actOpen) == "":
		return p.act(m, actOpen)
	default:
		p.cursor = i
	}
	return nil
}

func (p *judgePage) wheel(_ *Model, lines int) {
	p.cursor = max(0, min(p.cursor+lines, len(p.stops)-1))
}
