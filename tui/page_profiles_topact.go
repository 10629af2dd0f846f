package tui

import (
	"io"
	"slices"
	"strings"

	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
)

func (p *topPage) can(m *Model, a action) string {
	if a == actGoFindings && m.cfg.view != nil {
		return noCluster
	}
	switch a {
	case actOpen, actFlame, actCopyRow:
		if p.current() == nil {
			return "there is no row"
		}
		if p.shown.by == profile.ByNode && p.current().Function == report.NoLabel && a != actCopyRow {
			return "these samples have no node"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse:
		if p.entries() == 0 {
			return "there is no row"
		}
	case actNormalize:
		if !p.subject.diff() {
			return "two profiles have to be compared for that"
		}
	case actKind:
		if l := p.subject.loaded; l != nil && len(l.profile.Types) < 2 {
			return "the profile has one sample type only"
		}
	case actSave:
		switch {
		case m.cfg.SaveFile == nil:
			return "saving is switched off"
		case p.entries() == 0:
			return "there is no row"
		}
	default:
	}
	return ""
}

// ofNode is the page's filter with nothing left but the node under the cursor.
func (p *topPage) ofNode() profile.Filter {
	f := p.filter
	f.Nodes = []string{p.current().Function}
	return f
}

func (p *topPage) act(m *Model, a action) cmd {
	if p.move(a, len(p.rows)) {
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
		if p.shown.by == profile.ByNode {
			return m.push(newTopPage(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.ofNode()))
		}
		return m.push(newPeekPage(p.subject, p.shown, p.filter, p.current().Function))
	case actFlame:
		if p.shown.by == profile.ByNode {
			return m.push(newFlamePageOf(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.ofNode(), ""))
		}
		return m.push(newFlamePageOf(p.subject, p.shown, p.filter, p.current().Function))
	case actBy:
		p.query.by = nextBy(p.query.by, p.grains())
		m.say(toneInfo, "by "+p.query.by.String())
		return p.refresh(m)
	case actKind:
		p.query.kind = nextKind(p.subject.loaded, p.query.kind)
		m.say(toneInfo, "sample type "+clean(p.query.kind))
		return p.refresh(m)
	case actNormalize:
		p.query.raw = !p.query.raw
		return p.refresh(m)
	case actSortNext, actSortPrevious:
		p.sortBy(m, map[action]int{actSortNext: 1, actSortPrevious: -1}[a])
	case actSortReverse:
		p.sort.ascending = !p.sort.ascending
		p.choose("")
	case actFilter:
		m.prompt = p.filterPrompt()
	case actCopyRow:
		return m.copyText(p.tsv(p.rows[p.cursor:p.cursor+1]), "1 row")
	case actSave:
		m.menu = p.saveMenu()
	case actGoFindings:
		return m.goFindings()
	default:
	}
	return nil
}

// grains are what samples can be added up by.
func (p *topPage) grains() []profile.By {
	all := append(frameGrains(), profile.ByAddress)
	if l := p.subject.loaded; l != nil && l.nodes > 0 {
		all = append(all, profile.ByNode)
	}
	return all
}

// newFlamePageOf is the flame graph of a table, as a sandwich of one function if it is named.
func newFlamePageOf(s *profileSubject, q topQuery, f profile.Filter, name string) *flamePage {
	p := newFlamePage(s, flameQuery{kind: q.kind, by: q.by, raw: q.raw, focus: name})
	p.filter = f
	return p
}

// sortBy sorts by a column to the right, or to the left.
func (p *topPage) sortBy(m *Model, by int) {
	list := p.columns(m.w)
	at := slices.Index(list, p.sort.column)
	p.sort = topSort{column: list[(at+by+len(list))%len(list)]}
	keep := ""
	if e := p.current(); e != nil {
		keep = e.Function
	}
	p.choose(keep)
}

func (p *topPage) find(text string) {
	p.text = strings.ToLower(strings.TrimSpace(text))
	keep := ""
	if e := p.current(); e != nil {
		keep = e.Function
	}
	p.choose(keep)
}

func (p *topPage) filterPrompt() *prompt {
	before := p.text
	q := &prompt{
		sign:      "/",
		changed:   func(_ *Model, text string) cmd { p.find(text); return nil },
		accepted:  func(*Model, string) cmd { return nil },
		cancelled: func(*Model) cmd { p.find(before); return nil },
		status:    func(*Model) string { return plural(len(p.rows), "row") },
		move: func(_ *Model, a action) cmd {
			p.move(map[action]action{actPrevious: actUp, actNext: actDown}[a], len(p.rows))
			return nil
		},
	}
	q.set(before)
	return q
}

func (p *topPage) tsv(rows []int32) string {
	var b strings.Builder
	for _, i := range rows {
		for j, c := range p.columns(1 << 10) {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(p.cellOf(i, c))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// saveMenu offers the formats of the same report on the command line.
func (p *topPage) saveMenu() *menu {
	n := &menu{title: "save the table"}
	for key, word := range map[string]string{"j": "json", "c": "csv", "m": "markdown"} {
		format, err := render.ParseReportFormat(word)
		if err != nil {
			continue
		}
		n.items = append(n.items, menuItem{key: key, text: word, run: func(m *Model, _ *menu) cmd {
			extension := map[bool]string{true: "md", false: word}[word == "markdown"]
			top, changes, o := p.top, p.changes, render.ReportOptions{By: p.shown.by}
			return save(m, fileName("profile-top", "")+"."+extension, func(w io.Writer) error {
				if changes != nil {
					return render.WriteProfileDiff(w, changes, format, o)
				}
				return render.WriteProfileTop(w, top, format, o)
			})
		}})
	}
	slices.SortFunc(n.items, func(a, b menuItem) int { return strings.Compare(a.text, b.text) })
	return n
}

func (p *topPage) click(m *Model, x, y int) cmd {
	if y == 0 {
		if j := p.columnAt(x); j >= 0 {
			list := p.columns(m.w)
			if p.sort.column == list[j] {
				p.sort.ascending = !p.sort.ascending
			} else {
				p.sort = topSort{column: list[j]}
			}
			p.choose("")
		}
		return nil
	}
	i := p.table.top + y - 1
	if i >= len(p.rows) {
		return nil
	}
	if i == p.cursor && p.can(m, actOpen) == "" {
		return p.act(m, actOpen)
	}
	p.cursor = i
	return nil
}

func (p *topPage) wheel(_ *Model, lines int) {
	p.cursor += lines
	p.clamp(len(p.rows))
}
