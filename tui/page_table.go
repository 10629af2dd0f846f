package tui

import (
	"cmp"
	"encoding/csv"
	"io"
	"strings"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui/draw"
)

// TablePage is a page that consists of a single list. PageKinds of tables create TablePages.
type TablePage[T comparable] struct {
	List[T]
	Name      string // name in the breadcrumbs and base name of saved files
	CrumbName string // overrides Name in the breadcrumbs unless ""
	// Rows returns the rows at each refresh. missing is the text to show if the rows are unknown.
	Rows func(m *Model) (rows []T, missing string)
	// Head returns lines to draw above a list that has rows, at most h lines of at most w cells. Nil means
	// none.
	Head        func(m *Model, w, h int) []string
	CommandLine string // the command line that prints the same content, or ""
	missing     string
}

// Scope implements Page.
func (p *TablePage[T]) Scope() Scope { return InList }

// Crumb implements Page.
func (p *TablePage[T]) Crumb() string { return draw.Cut(cmp.Or(p.CrumbName, p.Name), 40) }

// Command implements Page.
func (p *TablePage[T]) Command(*Model) string { return p.CommandLine }

// Note implements Page.
func (p *TablePage[T]) Note(*Model) string {
	text := words.Plural(len(p.All), p.Noun)
	if len(p.Shown) != len(p.All) {
		text = words.Number(len(p.Shown)) + " of " + text
	}
	if p.Filter != "" {
		text += " · /" + p.Filter
	}
	return text
}

// Refresh implements Page.
func (p *TablePage[T]) Refresh(m *Model) Cmd {
	var rows []T
	rows, p.missing = p.Rows(m)
	p.SetRows(rows)
	return nil
}

// Body implements Page.
func (p *TablePage[T]) Body(m *Model, w, h int) []string {
	if p.missing != "" {
		return append([]string{""}, draw.Sentence(m.Styles, p.missing, w)...)
	}
	var head []string
	if p.Head != nil && len(p.All) > 0 { // the first page is drawn before its first refresh
		head = p.Head(m, w, h)
	}
	p.Above = len(head)
	return append(head, p.List.Body(m.Styles, w, h-len(head))...)
}

// Can implements Page.
func (p *TablePage[T]) Can(m *Model, a Action) string {
	if a == ActOpen && p.Open == nil {
		return "nothing to open"
	}
	return p.List.Can(m, a)
}

// Act implements Page.
func (p *TablePage[T]) Act(m *Model, a Action) Cmd {
	if a == ActSave {
		return Save(m, FileName(strings.ReplaceAll(p.Name, " ", "-"), "")+".csv", p.CSV())
	}
	return p.List.Act(m, a)
}

// TSVTable implements Tabular.
func (p *TablePage[T]) TSVTable() (tsv string, rows int) { return p.TSV() }

// CSV returns a function that writes the visible rows as CSV, filtered and in their current order.
func (l *List[T]) CSV() func(io.Writer) error {
	records := l.records()
	for _, cells := range records[1:] {
		for k := range cells {
			cells[k] = render.EscapeFormula(cells[k])
		}
	}
	return func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) }
}
