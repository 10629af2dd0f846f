package tui

import (
	"io"
	"slices"
	"strings"

	"kitescope/render"
)

func (p *benchPage) can(m *Model, a action) string {
	switch a {
	case actGoFindings:
		if m.cfg.view != nil {
			return m.withoutCluster()
		}
	case actGoProfiles:
		if m.cfg.Profiles == nil {
			return "there are no profiles here"
		}
	case actOpen, actCopyRow:
		if p.current() == nil {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse:
		if len(p.of.Lines) == 0 {
			return "there is no row"
		}
	case actControl:
		if p.of.Control == nil {
			return "there is no control: compare --control takes more runs without the change"
		}
	case actSave:
		switch {
		case m.cfg.SaveFile == nil:
			return "saving is switched off"
		case len(p.of.Lines) == 0:
			return "there is no row"
		}
	default:
	}
	return ""
}

func (p *benchPage) act(m *Model, a action) cmd {
	if p.move(a, len(p.list)) {
		return nil
	}
	switch a {
	case actBack:
		if p.text != "" {
			p.find("")
			return nil
		}
		return m.back()
	case actOpen:
		return m.push(newMetricPage(p))
	case actControl:
		c := newBenchPage(p.of.Control, nil)
		c.control = true
		return m.push(c)
	case actSortNext, actSortPrevious:
		list := append(p.columns(), compareFile)
		by := map[action]int{actSortNext: 1, actSortPrevious: -1}[a]
		at := slices.Index(list, p.sort.column)
		p.sort = compareSort{column: list[(at+by+len(list))%len(list)]}
		if p.sort.column == compareFile {
			m.say(toneInfo, "in the order of the files")
		}
		p.choose()
	case actSortReverse:
		p.sort.ascending = !p.sort.ascending
		p.choose()
	case actFilter:
		m.prompt = p.filterPrompt()
	case actCopyRow:
		return m.copyText(p.tsvRow(p.list[p.cursor]), "1 row")
	case actSave:
		m.menu = p.saveMenu()
	case actGoFindings:
		return m.goFindings()
	default:
	}
	return nil
}

func (p *benchPage) find(text string) {
	p.text = strings.ToLower(strings.TrimSpace(text))
	p.choose()
}

func (p *benchPage) filterPrompt() *prompt {
	before := p.text
	q := &prompt{
		sign:      "/",
		changed:   func(_ *Model, text string) cmd { p.find(text); return nil },
		accepted:  func(*Model, string) cmd { return nil },
		cancelled: func(*Model) cmd { p.find(before); return nil },
		status:    func(*Model) string { return plural(len(p.list), "metric") },
		move: func(_ *Model, a action) cmd {
			p.move(map[action]action{actPrevious: actUp, actNext: actDown}[a], len(p.list))
			return nil
		},
	}
	q.set(before)
	return q
}

func (p *benchPage) tsvRow(i int32) string {
	var cells []string
	for _, c := range p.columns()[1:] { // without the mark, as the verdict is there
		cells = append(cells, p.cellOf(&p.of.Lines[i], c, false))
	}
	return strings.Join(cells, "\t") + "\n"
}

// tsvTable are the metrics that are shown.
func (p *benchPage) tsvTable() (tsv string, rows int) {
	var titles []string
	for _, c := range p.columns()[1:] {
		titles = append(titles, c.head().Title)
	}
	var b strings.Builder
	b.WriteString(strings.Join(titles, "\t") + "\n")
	for _, i := range p.list {
		b.WriteString(p.tsvRow(i))
	}
	return b.String(), len(p.list)
}

// saveMenu offers the formats of the same report on the command line, and its plots.
func (p *benchPage) saveMenu() *menu {
	n := &menu{title: "save the comparison"}
	of := p.of
	for _, word := range []string{"csv", "json", "markdown"} {
		format, err := render.ParseComparisonFormat(word)
		if err != nil {
			continue
		}
		n.items = append(n.items, menuItem{key: word[:1], text: word, run: func(m *Model, _ *menu) cmd {
			return save(m, fileName("compare", "")+"."+extensionOf(word), func(w io.Writer) error {
				return render.WriteComparison(w, of, format, render.Options{})
			})
		}})
	}
	for i, plot := range render.ComparisonPlotNames() {
		key := ""
		if i < 9 {
			key = string(rune('1' + i))
		}
		n.items = append(n.items, menuItem{key: key, text: "plot of " + plot, note: "svg", run: func(m *Model, _ *menu) cmd {
			return save(m, fileName("compare", plot)+".svg", func(w io.Writer) error {
				return render.WriteComparisonPlot(w, of, plot, "svg")
			})
		}})
	}
	return n
}

func (p *benchPage) click(m *Model, x, y int) cmd {
	at := y - len(p.head(m, m.w, m.bodyHeight()))
	if m.w >= besideWidth && x >= m.w*9/16 {
		return nil
	}
	if at == 0 {
		if j := p.columnAt(x); j >= 0 {
			list := p.columns()
			if p.sort.column == list[j] {
				p.sort.ascending = !p.sort.ascending
			} else {
				p.sort = compareSort{column: list[j]}
			}
			p.choose()
		}
		return nil
	}
	i := p.table.top + at - 1
	if at < 0 || at > p.table.height || i >= len(p.list) {
		return nil
	}
	if i == p.cursor && p.can(m, actOpen) == "" {
		return p.act(m, actOpen)
	}
	p.cursor = i
	return nil
}

func (p *benchPage) wheel(_ *Model, lines int) {
	p.cursor += lines
	p.clamp(len(p.list))
}
