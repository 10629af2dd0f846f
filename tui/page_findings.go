package tui

import (
	"io"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/tui/sheet"
	"kitescope/words"
)

// findingsPage lists what is wrong, worst first, each finding before those that follow from it;
// below stands what could not be looked at.
type findingsPage struct {
	of     *model.Ref // only findings about it; nil is all
	report *check.Report
	rows   []findingRow
	open   map[string]bool // findings whose evidence is shown, by key
	filter string          // lower case

	cursor, top int // rows, lines
	height      int
	placed      []placedRow
}

// findingRow is a finding, or a text about what is unknown.
type findingRow struct {
	branch *check.Branch
	text   string
}

// placedRow is where a row was drawn: its first line, and how many it has.
type placedRow struct{ at, lines int }

func findingsKind() PageKind {
	return PageKind{Name: "findings", Aliases: []string{"f", "diagnose", "problems"}, Doc: "What is wrong, worst first, and what to do.", Open: newFindingsPage}
}

func newFindingsPage(*Model, []string) (Page, error) { return &findingsPage{}, nil }

func (p *findingsPage) Scope() Scope { return InFindings }

func (p *findingsPage) Crumb() string {
	if p.of != nil {
		return "findings about " + draw.Cut(refName(*p.of), 30)
	}
	return "findings"
}

func (p *findingsPage) Command(*Model) string { return "diagnose" }

// Note counts the findings, and the checks that found nothing and that could not look.
func (p *findingsPage) Note(*Model) string {
	if p.report == nil {
		return ""
	}
	parts := NonEmpty([]string{strings.Join(sheet.SeverityCounts(nil, p.report.Findings), ", "), words.Number(p.report.Tally()[check.OK]) + " ok"})
	if n := sheet.Unlooked(p.report); n > 0 {
		parts = append(parts, words.Number(n)+" could not look")
	}
	if p.of != nil {
		parts = []string{words.Number(len(p.rows)) + " of " + words.Plural(len(p.report.Findings), "finding")}
	}
	parts = append(parts, FilterNote(p.filter)...)
	return strings.Join(parts, " · ")
}

func (p *findingsPage) Refresh(m *Model) Cmd {
	if r := m.data.judged.report; r != p.report {
		p.report = r
		p.choose()
	}
	return nil
}

// choose makes the rows and keeps the cursor on its finding.
func (p *findingsPage) choose() {
	key := ""
	if b := p.branch(); b != nil {
		key = b.Key()
	}
	p.rows = p.rows[:0]
	if p.report == nil {
		return
	}
	list := p.report.Findings
	if p.of != nil {
		list = p.report.About(p.of.Resource, p.of.ID)
	}
	for _, b := range check.Tree(list) {
		if p.matches(b.Finding) {
			p.rows = append(p.rows, findingRow{branch: &b})
		}
	}
	if p.filter == "" && p.of == nil {
		p.rows = append(p.rows, unlookedRows(p.report)...)
	}
	if i := slices.IndexFunc(p.rows, func(r findingRow) bool { return r.branch != nil && r.branch.Key() == key }); i >= 0 {
		p.cursor = i
	}
	p.clamp()
}

func (p *findingsPage) matches(f *check.Finding) bool {
	text := strings.ToLower(f.Message + " " + f.Check + " " + f.Severity.String() + " " + f.Object.Resource + " " + f.Object.ID + " " + f.Object.Name)
	return strings.Contains(text, p.filter)
}

// unlookedRows say what is unknown.
func unlookedRows(r *check.Report) []findingRow {
	var rows []findingRow
	for _, u := range r.Unlooked() {
		text := "? " + words.Plural(len(u.Checks), "check") + " " + u.Status.String() + ", " + words.Harmless(u.Reason) + ": " + strings.Join(check.IDs(u.Checks), ", ")
		rows = append(rows, findingRow{text: text})
	}
	for _, x := range r.Results {
		if x.Status == check.Found && len(x.Unseen) > 0 {
			rows = append(rows, findingRow{text: "? " + x.Check.ID + " did not see everything: " + words.Harmless(strings.Join(x.Unseen, "; "))})
		}
	}
	return rows
}

// branch is the finding under the cursor, nil if there is none.
func (p *findingsPage) branch() *check.Branch {
	if p.cursor < len(p.rows) {
		return p.rows[p.cursor].branch
	}
	return nil
}

func (p *findingsPage) clamp() { p.cursor = max(0, min(p.cursor, len(p.rows)-1)) }

// object is what the finding under the cursor is about.
func (p *findingsPage) Object(*Model) (ref model.Ref, ok bool) {
	b := p.branch()
	if b == nil || b.Object.Resource == "" {
		return model.Ref{}, false
	}
	return b.Object, true
}

func (p *findingsPage) Can(m *Model, a Action) string {
	b := p.branch()
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree, ActExplain, ActRight, ActLeft, ActCopyRow:
		if b == nil {
			return "there is no finding"
		}
	case ActFilter, ActSave, ActExpandAll:
		if p.report == nil || len(p.report.Findings) == 0 {
			return "there is no finding"
		}
	}
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree:
		if b.Object.Resource == "" {
			return "the finding is about the whole cluster"
		}
		if m.resource(b.Object.Resource) == nil {
			return "there is no page for " + b.Object.Resource
		}
	case ActGoFindings:
		if p.of == nil {
			return "these are all findings"
		}
	}
	return ""
}

func (p *findingsPage) Act(m *Model, a Action) Cmd {
	if p.move(a) {
		return nil
	}
	b := p.branch()
	switch a {
	case ActBack:
		if p.filter != "" {
			return p.find(m, "")
		}
		return m.Back()
	case ActRight:
		p.unfold(b.Key(), true)
	case ActLeft:
		p.fold(b)
	case ActMark:
		if b != nil {
			p.unfold(b.Key(), !p.open[b.Key()])
		}
	case ActExpandAll:
		p.unfoldAll()
	case ActExplain:
		return m.Push(newExplainPage(m, b.Check))
	case ActFilter:
		m.Prompt = FilterPrompt(p.filter, p.find, func(*Model) string { return words.Plural(len(p.rows), "finding") }, func(_ *Model, a Action) { p.move(a) })
	case ActCopyRow:
		return m.Copy(findingText(b.Finding), "finding")
	case ActSave:
		return Save(m, "findings.md", p.markdown())
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree:
		return ActOnRef(m, a, b.Object)
	}
	return nil
}

func (p *findingsPage) unfold(key string, open bool) {
	if p.open == nil {
		p.open = make(map[string]bool)
	}
	p.open[key] = open
}

// fold hides the evidence of a finding; where it is hidden already the cursor goes to the cause.
func (p *findingsPage) fold(b *check.Branch) {
	if p.open[b.Key()] {
		p.open[b.Key()] = false
		return
	}
	for i := p.cursor - 1; i >= 0 && b.Depth > 0; i-- {
		if above := p.rows[i].branch; above != nil && above.Depth < b.Depth {
			p.cursor = i
			return
		}
	}
}

// unfoldAll shows all evidence, or hides it if all is shown.
func (p *findingsPage) unfoldAll() {
	closed := slices.ContainsFunc(p.rows, func(r findingRow) bool { return r.branch != nil && !p.open[r.branch.Key()] })
	for _, r := range p.rows {
		if r.branch != nil {
			p.unfold(r.branch.Key(), closed)
		}
	}
}

func (p *findingsPage) find(_ *Model, text string) Cmd {
	p.filter = strings.ToLower(strings.TrimSpace(text))
	p.choose()
	return nil
}

// markdown writes the whole report, as for a ticket.
func (p *findingsPage) markdown() func(io.Writer) error {
	d := &render.Diagnosis{Report: p.report, Bar: check.Bar{Never: true}}
	return func(w io.Writer) error {
		f, err := render.FindingsFormats().Parse("markdown")
		if err != nil {
			return err
		}
		return render.Findings(w, d, f, render.ReportOptions{})
	}
}
