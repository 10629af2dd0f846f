package main

import (
	"bufio"
	"bytes"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
)

// watchScreen shows the answer of get --watch on a terminal, each time in the same place.
type watchScreen struct {
	*cli.App
	question *question
	shown    string // what is on the screen, but for the line at the bottom
}

// screen is where --watch draws, nil where rows are written one after the other: into a pipe, for scripts, on a terminal that cannot move
// its cursor.
func (q *question) screen(a *cli.App) *watchScreen {
	name := q.options.Format.Name()
	if !a.OutTTY || a.Getenv("TERM") == "dumb" || name != "table" && name != "wide" {
		return nil
	}
	return &watchScreen{App: a, question: q}
}

// draw shows a table, as much of it as there are lines, and what it lacks. Nothing is written while it looks the same.
func (s *watchScreen) draw(g *view.Grid, lacks []string) error {
	var body bytes.Buffer
	options := s.question.options
	width, height := s.Size()
	if options.Format.Name() == "table" {
		options.Width = width
	}
	if err := clusters.Grid(&body, g, options); err != nil {
		return err
	}
	var notes []string
	if !s.Flags.Quiet {
		notes = append(s.question.footnotes(g), lacks...)
	}
	shown := body.String() + strings.Join(notes, "\n")
	if shown == s.shown {
		return nil
	}
	s.shown = shown
	return s.Write(func(w *bufio.Writer) error {
		_, err := w.WriteString(watchFrame(body.String(), append(notes, s.status(g)), width, height))
		return err
	})
}

// status is the line below the table.
func (s *watchScreen) status(g *view.Grid) string {
	return words.Number(g.Len()) + " " + s.question.resource.Name + " · changed " + s.Now().UTC().Format("15:04:05") + " · ctrl+c ends"
}

// watchFrame puts a table and lines below it on a screen of some lines, of which the table has half at least. Each line replaces the one
// that was there, so that nothing flickers; what is wider than the terminal, as -o wide may be, is cut.
func watchFrame(text string, below []string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(1, height/2-1); len(below) > most { // the last says that this is alive
		below = append(below[:most-1:most-1], below[len(below)-1])
	}
	if most := max(2, height-1-len(below)); len(lines) > most {
		more := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], "… "+words.Plural(more, "more row"))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range append(lines, below...) {
		if width > 0 {
			line = render.Fit(line, width, "…")
		}
		b.WriteString(line + "\x1b[m\x1b[K\n")
	}
	return b.String() + "\x1b[J"
}

// looksTheSame reports whether people see the same of a row as before: a figure may have changed by less than is shown of it. Durations
// count as equal, as in view.SameRow.
func looksTheSame(a view.Table, i int, b view.Table, j int, columns []int) bool {
	for _, column := range columns {
		kind := a.Resource().Columns[column].Kind
		if kind != table.Duration && render.Text(a.Cell(i, column), kind) != render.Text(b.Cell(j, column), kind) {
			return false
		}
	}
	return true
}
