package tui

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/cases"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// findingsPage lists the findings, worst first and causes before their effects, followed by the checks that
// could not run. The selected finding is opened to the right of the list or below it.
type findingsPage struct {
	judged *judgement
	object *model.Ref // show only findings about this object; nil shows all
	report *check.Report
	tree   []check.Branch
	rows   []findingRow
	filter string // lower case
	order  int    // index in findingOrders

	cursor int
	list   Window // over rows
	above  int    // number of lines above the list
	first  int    // line of the first row, after those above the list
	opened Window // over the lines of the opened finding
}

// findingRow is a finding of the tree or a Fact about checks that could not run.
type findingRow struct {
	branch *check.Branch
	worse  string // the more severe effects of the finding
	Fact
}

func findingsKind() PageKind {
	const in = InFindings | InOverview
	return PageKind{
		Name: "findings", Aliases: []string{"f", "diagnose", "problems"},
		Doc: "What is wrong, worst first, and what to do.", Open: newFindingsPage,
		Keys: []Binding{
			{
				ActRight,
				[]string{"right", "l"},
				InFindings, GroupMove, "",
				"Scroll the open finding if it does not fit.", 0,
			},
			{
				ActLeft,
				[]string{"left", "h"},
				InFindings, GroupMove, "",
				"Scroll it back; at its start: go to the cause.", 0,
			},
			{
				ActOpen,
				[]string{"enter"},
				in, GroupFollow, "open",
				"Open the finding with the description of its check, or the page of the selected item.", 100,
			},
			{ActOwner, []string{"o"}, in | InFinding, GroupFollow, "object", "Go to the object of the finding.", 90},
			{
				ActSort,
				[]string{"S"},
				InFindings, GroupFind, "sort",
				"Sort by cause, severity, cost, check or object.", 35,
			},
			{
				ActExplain,
				[]string{"e"},
				in | InFinding, GroupFollow, "explain",
				"Explain the check: what it examines, what to do.", 85,
			},
			{ActRelated, []string{"r"}, InFinding, GroupFollow, "related", "Choose a related object.", 55},
			{
				ActCopyRow,
				[]string{"y"},
				in | InFinding, GroupCopy, "copy fix",
				"Copy the command of the finding's fix.", 99,
			},
			{ActFilter, []string{"/"}, InFinding, GroupFind, "search", "Search the text.", 60},
			{ActSearchNext, []string{"n"}, InFinding, GroupFind, "", "Next match.", 0},
			{ActSearchPrevious, []string{"N"}, InFinding, GroupFind, "", "Previous match.", 0},
		},
	}
}

func newFindingsPage(m *Model, _ []string) (Page, error) {
	return &findingsPage{judged: m.data.judged}, nil
}

func (p *findingsPage) Scope() Scope { return InFindings }

func (p *findingsPage) Crumb() string {
	if p.object != nil {
		return "findings about " + draw.Cut(refName(*p.object), 30)
	}
	if own := p.judged.config; own != nil {
		return draw.Cut(own.Name, 40)
	}
	return "findings"
}

func (p *findingsPage) Command(*Model) string { return p.judged.command() }

// Note counts the findings, the checks without findings and the checks that could not run.
func (p *findingsPage) Note(*Model) string {
	if p.report == nil {
		return ""
	}
	parts := words.NonEmpty([]string{
		strings.Join(severityCounts(nil, p.report.Findings), ", "), words.Number(p.report.Tally()[check.OK]) + " ok",
	})
	if n := skippedCount(p.report); n > 0 {
		parts = append(parts, words.Number(n)+" could not run")
	}
	if p.object != nil {
		parts = []string{words.Number(len(p.rows)) + " of " + words.Plural(len(p.report.Findings), "finding")}
	}
	if p.order > 0 {
		parts = append(parts, "sort "+findingOrders()[p.order].name)
	}
	parts = append(parts, FilterNote(p.filter)...)
	return strings.Join(parts, " · ")
}

func (p *findingsPage) Refresh(m *Model) Cmd {
	cmd := p.judged.run(m)
	if r := p.judged.report; r != p.report {
		p.report = r
		p.rebuildRows()
	}
	return cmd
}

// findingOrder is a sort order of the list. If compare is nil, effects follow their cause, and the worst chain
// comes first.
type findingOrder struct {
	name    string
	compare func(a, b *check.Finding) int
}

func findingOrders() []findingOrder {
	return []findingOrder{
		{"cause", nil},
		{"severity", func(a, b *check.Finding) int { return cmp.Compare(b.Severity, a.Severity) }},
		{"cost", func(a, b *check.Finding) int { return cmp.Compare(b.Cost, a.Cost) }},
		{"check", func(a, b *check.Finding) int { return cmp.Compare(a.Check, b.Check) }},
		{"object", func(a, b *check.Finding) int {
			return words.CompareNatural(clusters.ObjectText(a.Object), clusters.ObjectText(b.Object))
		}},
	}
}

func (p *findingsPage) sortMenu() *Menu {
	n := &Menu{Title: "sort by", at: p.order}
	for i, o := range findingOrders() {
		n.Items = append(n.Items, MenuItem{Text: o.name, Run: func(*Model, *Menu) Cmd {
			p.order = i
			p.rebuildRows()
			return nil
		}})
	}
	return n
}

// rebuildRows rebuilds the rows and keeps the cursor on the same finding.
func (p *findingsPage) rebuildRows() {
	key := ""
	if f := p.finding(); f != nil {
		key = f.Key()
	}
	p.rows = p.rows[:0]
	if p.report == nil {
		return
	}
	list := p.report.Findings
	if p.object != nil {
		list = p.report.About(p.object.Resource, p.object.ID)
	}
	p.tree = check.Tree(list)
	if compare := findingOrders()[p.order].compare; compare != nil {
		for i := range p.tree {
			p.tree[i].Depth = 0
		}
		slices.SortStableFunc(p.tree, func(a, b check.Branch) int { return compare(a.Finding, b.Finding) })
	}
	for i := range p.tree {
		if b := &p.tree[i]; p.matches(b.Finding) {
			row := findingRow{branch: b}
			if p.order == 0 {
				row.worse = worseThanShown(p.tree, i)
			}
			p.rows = append(p.rows, row)
		}
	}
	if p.filter == "" && p.object == nil {
		for _, x := range skippedFacts(p.report) {
			p.rows = append(p.rows, findingRow{Fact: x})
		}
	}
	if i := slices.IndexFunc(p.rows, func(r findingRow) bool { return r.branch != nil && r.branch.Key() == key }); i >=
		0 {
		p.cursor = i
	}
	p.clamp()
}

func (p *findingsPage) matches(f *check.Finding) bool {
	text := strings.ToLower(f.Message + " " + f.Check + " " + f.Severity.String() + " " + f.Object.Resource + " " +
		f.Object.ID + " " + f.Object.Name)
	return strings.Contains(text, p.filter)
}

// finding returns the finding under the cursor, or nil.
func (p *findingsPage) finding() *check.Finding {
	if p.cursor < len(p.rows) && p.rows[p.cursor].branch != nil {
		return p.rows[p.cursor].branch.Finding
	}
	return nil
}

func (p *findingsPage) clamp() { p.cursor = max(0, min(p.cursor, len(p.rows)-1)) }

// Object returns the object of the finding under the cursor.
func (p *findingsPage) Object(*Model) (ref model.Ref, ok bool) {
	f := p.finding()
	if f == nil || f.Object.Resource == "" {
		return model.Ref{}, false
	}
	return f.Object, true
}

func (p *findingsPage) Can(m *Model, a Action) string {
	switch a {
	case ActFilter, ActSave, ActSort:
		if p.report == nil || len(p.report.Findings) == 0 {
			return "no findings"
		}
	case ActGoFindings:
		if p.object == nil && p.judged.config == nil {
			return "all findings are shown already"
		}
	}
	return canFinding(m, a, p.finding(), model.Ref{})
}

func (p *findingsPage) Act(m *Model, a Action) Cmd {
	if p.move(a) {
		return nil
	}
	switch a {
	case ActBack:
		if p.filter != "" {
			return p.find(m, "")
		}
		return m.Back()
	case ActFilter:
		m.Prompt = FilterPrompt(p.filter, p.find, func(*Model) string { return words.Plural(len(p.rows), "finding") })
	case ActSort:
		m.Menu = p.sortMenu()
	case ActSave:
		return Save(m, p.judged.fileName()+".md", p.markdown())
	default:
		return p.judged.act(m, a, p.finding())
	}
	return nil
}

// move performs a cursor movement. It reports whether a is a movement.
func (p *findingsPage) move(a Action) bool {
	switch a {
	case ActRight:
		p.opened.Scroll(max(1, p.opened.Height-2))
	case ActLeft:
		if p.opened.Top == 0 {
			p.goToCause()
		}
		p.opened.Scroll(-max(1, p.opened.Height-2))
	default:
		to, ok := Moved(a, p.cursor, len(p.rows), p.list.Height)
		if !ok {
			return false
		}
		p.goToRow(to)
	}
	return true
}

func (p *findingsPage) goToRow(i int) {
	p.cursor, p.opened.Top = i, 0
	p.clamp()
}

// goToCause moves the cursor to the cause of the current finding.
func (p *findingsPage) goToCause() {
	f := p.finding()
	if f == nil || f.Cause == "" {
		return
	}
	if i := slices.IndexFunc(p.rows,
		func(r findingRow) bool { return r.branch != nil && r.branch.Key() == f.Cause }); i >= 0 {
		p.goToRow(i)
	}
}

func (p *findingsPage) find(_ *Model, text string) Cmd {
	p.filter = strings.ToLower(strings.TrimSpace(text))
	p.rebuildRows()
	return nil
}

// copies returns the formats in which the finding under the cursor can be copied.
func (p *findingsPage) copies(*Model) []MenuItem { return findingCopies(p.finding()) }

// saveReport writes the HTML report of kitescope report, without profiles and timeline.
func (m *Model) saveReport() Cmd {
	env, report, l := m.data.env, m.data.judged.report, m.Times().Latency()
	if report == nil || l == nil {
		m.Notify(ToneWarn, "the checks are not done yet: try again in a moment")
		return nil
	}
	return Save(m, "report.html", func(w io.Writer) error {
		c := &cases.Case{
			Diagnosis: &clusters.Diagnosis{Report: report, Bar: check.Threshold{Never: true}},
			Where:     env.Cluster.Origin.Location, Version: m.Config.Version,
			Notes: []string{"No flame graph and no timeline: kitescope report writes them."},
		}
		c.Measure(env, l)
		f, err := cases.Formats().Parse("html")
		if err != nil {
			return err
		}
		return cases.Write(w, c, f)
	})
}

// markdown returns a function that writes the whole report as Markdown, e.g. for a ticket.
func (p *findingsPage) markdown() func(io.Writer) error {
	d := &clusters.Diagnosis{Report: p.report, Bar: check.Threshold{Never: true}}
	if own := p.judged.config; own != nil {
		own.Annotate(d)
	}
	return func(w io.Writer) error {
		f, err := clusters.FindingsFormats().Parse("markdown")
		if err != nil {
			return err
		}
		return clusters.Findings(w, d, f, render.ReportOptions{})
	}
}
