// Package replays are the pages of the UI about a replay. What enters is a Feed that measures, or Data that was; what leaves are
// kinds of pages for the UI (Pages), or the UI opened on one (Measure, Show).
//
//  1. While a Feed measures, the page shows how far it is (live.go), at most ten times a second (feed.go).
//  2. What it found is shown in parts: texts (draw.go), tables (columns.go) and charts (charts.go).
//  3. Enter goes into a row of a table: a request, a segment, a change (row.go).
package replays

import (
	"errors"
	"slices"
	"strings"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// replayPage is a replay: how far it is while it measures, then what it found, in parts.
type replayPage struct {
	of    *replayPages
	data  *Data       // nil until there is something to show
	words []string    // behind "replay" on a command line; nil where none prints it
	live  *replayLive // nil: nothing measures
	err   error       // of the feed
	named string      // instead of what the replay is called: a page below another

	parts []replayPart
	at    int // in parts
	lists map[replayPart]*tui.List[int]
	kinds []chartKind
	chart int // in kinds
	point int // whose latency is drawn

	lines    []draw.Line // of a part that is text
	linesFor replayFrame
	tui.Window
	tabs []int // where each part's name begins in the last frame, -1 where it had no room
}

// replayFrame is what lines were made for.
type replayFrame struct {
	part replayPart
	w    int
}

// replayPart is what fills the page.
type replayPart uint8

const (
	partOverview replayPart = iota
	partPoints
	partCharts
	partCosts
	partSlow
	partMissing
	partWhatIf
	partChanges
)

func (p replayPart) name() string {
	return [...]string{"overview", "points", "charts", "costs", "slowest", "missing", "what-if", "changes"}[p]
}

// partsOf are those that there is something in.
func partsOf(d *Data) (parts []replayPart) {
	if r := d.Result; r != nil {
		parts = append(parts, partOverview)
		if len(r.Points) > 1 {
			parts = append(parts, partPoints)
		}
	}
	if d.Report != nil {
		parts = append(parts, partWhatIf, partChanges)
	}
	if len(d.charts()) > 0 {
		parts = append(parts, partCharts)
	}
	if r := d.Result; r != nil {
		if r.Costs != nil && len(r.Costs.Segments) > 0 {
			parts = append(parts, partCosts)
		}
		if len(r.Slowest) > 0 {
			parts = append(parts, partSlow)
		}
	}
	if len(d.missing()) > 0 {
		parts = append(parts, partMissing)
	}
	return parts
}

// replayPages is what there is of a replay, for all pages.
type replayPages struct {
	data *Data
	feed *replaySession // nil: nothing measures, nor did
}

// Pages are the pages about a replay; data is nil where there is none.
func Pages(data *Data) []tui.PageKind { return (&replayPages{data: data}).kinds() }

func (r *replayPages) kinds() []tui.PageKind {
	return []tui.PageKind{{
		Name: "replay", Doc: "A replay: recall, latency, where the time goes, what changes would give.", Open: r.open,
		Bare: true, Empty: func(*tui.Model) bool { return r.data.empty() }, Keys: replayKeys(),
	}}
}

// newPage shows the replay, if there is one yet.
func (r *replayPages) newPage(words []string) *replayPage {
	p := &replayPage{of: r, words: words}
	if !r.data.empty() {
		p.show(r.data)
	}
	return p
}

// open is ":replay", with the name of a part behind it or not.
func (r *replayPages) open(m *tui.Model, typed []string) (tui.Page, error) {
	switch {
	case r.data.empty() && r.feed != nil:
		return nil, errors.New("there is no result yet")
	case r.data.empty():
		return nil, errors.New("there is no replay here: kitescope replay makes one, replay show --ui opens one")
	}
	p := r.newPage(m.Config.Args)
	if len(typed) == 0 {
		return p, nil
	}
	i := slices.IndexFunc(p.parts, func(x replayPart) bool { return strings.HasPrefix(x.name(), strings.ToLower(typed[0])) })
	if i < 0 {
		var names []string
		for _, x := range p.parts {
			names = append(names, x.name())
		}
		return nil, errors.New("this replay has no " + words.Harmless(typed[0]) + ": there are " + strings.Join(names, ", "))
	}
	p.at = i
	return p, nil
}

// show takes what is to be shown.
func (p *replayPage) show(d *Data) {
	p.data, p.parts, p.kinds = d, partsOf(d), d.charts()
	p.at, p.lists, p.linesFor, p.lines, p.Top = 0, nil, replayFrame{}, nil, 0
	if len(d.Words) > 0 {
		p.words = d.Words
	}
}

func (p *replayPage) measuring() bool { return p.live != nil && !p.live.over }

func (p *replayPage) Scope() tui.Scope { return tui.InReplay }

func (p *replayPage) Crumb() string {
	switch {
	case p.named != "":
		return p.named
	case p.data == nil:
		return "replay"
	case p.data.Name != "":
		return "replay " + draw.CutName(words.Harmless(p.data.Name), 40)
	}
	return "replay"
}

func (p *replayPage) Note(m *tui.Model) string {
	if p.data == nil {
		if p.measuring() {
			return map[bool]string{true: "stopping", false: "measuring: q stops it"}[p.live.stopping]
		}
		return ""
	}
	var parts []string
	if r := p.data.Result; r != nil && r.Stopped != "" {
		parts = append(parts, draw.Cut("stopped: "+words.Harmless(words.OneLine(r.Stopped)), 32))
	}
	switch l := p.listed(m); {
	case l != nil:
		text := words.Plural(len(l.All), l.Noun)
		if len(l.Shown) != len(l.All) {
			text = words.Number(len(l.Shown)) + " of " + text
		}
		parts = append(parts, text)
		if p.part() == partPoints && m.Width >= 80 {
			parts = append(parts, "* no other beats it in QPS and recall")
		}
		if order := orderOf(l); order != "" {
			parts = append(parts, order)
		}
		if l.Filter != "" {
			parts = append(parts, "/"+words.Harmless(l.Filter))
		}
	case p.part() == partCharts:
		parts = append(parts, "chart "+words.Number(p.chart+1)+" of "+words.Number(len(p.kinds)))
	case p.Place() != "":
		parts = append(parts, p.Place())
	}
	return strings.Join(parts, " · ")
}

func (p *replayPage) Refresh(m *tui.Model) tui.Cmd {
	if p.measuring() {
		return p.live.tick(m)
	}
	return nil
}

func (p *replayPage) Command(*tui.Model) string {
	if len(p.words) == 0 {
		return ""
	}
	return shellquote.Shell("replay").Word(p.words...).String()
}

// part is the one that is shown.
func (p *replayPage) part() replayPart {
	if p.at >= len(p.parts) {
		return partOverview
	}
	return p.parts[p.at]
}

// listed is the table that is shown, nil where it is none.
func (p *replayPage) listed(m *tui.Model) *tui.List[int] {
	if p.data == nil {
		return nil
	}
	return p.listOf(m, p.part())
}

// listOf makes a part's table when it is first asked for.
func (p *replayPage) listOf(m *tui.Model, part replayPart) *tui.List[int] {
	if l, ok := p.lists[part]; ok {
		return l
	}
	var l *tui.List[int]
	d, ascii := p.data, m.Config.ASCII
	switch part {
	case partPoints:
		l = pointList(d.Result, ascii)
	case partCosts:
		l = costList(d.Result.Costs, ascii)
	case partSlow:
		l = slowList(d.Result, ascii)
	case partMissing:
		l = missingList(d.missing())
	case partChanges:
		l = changeList(d.Report, ascii)
	default:
		return nil
	}
	if p.lists == nil {
		p.lists = map[replayPart]*tui.List[int]{}
	}
	l.Open = func(m *tui.Model, _ int) tui.Cmd { return m.Push(p.detail(part)) }
	p.lists[part] = l
	return l
}

// turn shows another part, or chart.
func turn(at, by, n int) int {
	if n == 0 {
		return 0
	}
	return (at + by + n) % n
}

// trouble is why there is nothing to show, or less than was asked for.
func (p *replayPage) trouble() string {
	switch {
	case p.err == nil:
		return ""
	case p.data == nil && p.live != nil && p.live.stopping:
		return "stopped before anything was measured: q quits"
	}
	return words.Harmless(words.OneLine(p.err.Error()))
}

// TSVTable is the table that is shown; without one it is that of points or changes.
func (p *replayPage) TSVTable() (tsv string, rows int) {
	if p.data == nil {
		return "", 0
	}
	if l := p.lists[p.part()]; l != nil {
		return l.TSV()
	}
	return "", 0
}

// point of a chart: the one that was chosen, if it has latencies to draw.
func (p *replayPage) pointText() string {
	if r := p.data.Result; r != nil && p.point < len(r.Points) {
		return pointName(&r.Points[p.point])
	}
	return words.UnknownMark
}
