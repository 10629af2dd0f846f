package tui

import (
	"encoding/csv"
	"io"
	"strings"

	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/words"
)

// tablePage is a page that is a list and nothing else. A page over a table is one of these, made by its PageKind.
type tablePage[T comparable] struct {
	list[T]
	name string // in the breadcrumbs, and of a file that it is saved to
	// rows are made anew at each refresh; missing is said where there are none to know.
	rows    func(m *Model) (rows []T, missing string)
	prints  string // the command line that prints the same, "" if there is none
	missing string
}

func (p *tablePage[T]) scope() scope          { return inList }
func (p *tablePage[T]) crumb() string         { return p.name }
func (p *tablePage[T]) command(*Model) string { return p.prints }

func (p *tablePage[T]) note(*Model) string {
	text := words.Plural(len(p.all), p.noun)
	if len(p.shown) != len(p.all) {
		text = words.Number(len(p.shown)) + " of " + text
	}
	if p.filter != "" {
		text += " · /" + p.filter
	}
	return text
}

func (p *tablePage[T]) refresh(m *Model) cmd {
	var rows []T
	rows, p.missing = p.rows(m)
	p.setRows(rows)
	return nil
}

func (p *tablePage[T]) body(m *Model, w, h int) []string {
	if p.missing != "" {
		return append([]string{""}, draw.Sentence(m.st, p.missing, w)...)
	}
	return p.list.body(m.st, w, h)
}

func (p *tablePage[T]) can(m *Model, a action) string {
	if a == actOpen && p.open == nil {
		return "there is nothing to open"
	}
	return p.list.can(m, a)
}

func (p *tablePage[T]) act(m *Model, a action) cmd {
	if a == actSave {
		return save(m, fileName(strings.ReplaceAll(p.name, " ", "-"), "")+".csv", p.csv())
	}
	return p.list.act(m, a)
}

func (p *tablePage[T]) click(m *Model, x, y int) cmd     { return p.clicked(m, p, x, y) }
func (p *tablePage[T]) tsvTable() (tsv string, rows int) { return p.tsv() }

// csv writes what is shown: the rows that the filter leaves, in their order.
func (l *list[T]) csv() func(io.Writer) error {
	records := l.records()
	for _, cells := range records[1:] {
		for k := range cells {
			cells[k] = render.Inert(cells[k])
		}
	}
	return func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) }
}
