package main

import (
	"bytes"
	"slices"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

// watchScreen shows the answer of get --watch on a terminal, each time in the same place.
type watchScreen struct {
	*cli.App
	question *question
	shown    []byte // the table that is on the screen
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

// draw shows a table, as much of it as there are lines. Nothing is written while it looks the same.
func (s *watchScreen) draw(g *view.Grid) error {
	var body bytes.Buffer
	options := s.question.options
	width, height := s.Size()
	if options.Format.Name() == "table" {
		options.Width = width
	}
	if err := render.Grid(&body, g, options); err != nil {
		return err
	}
	if s.shown != nil && bytes.Equal(body.Bytes(), s.shown) {
		return nil
	}
	s.shown = body.Bytes()
	_, err := s.Standard().Write([]byte(watchFrame(body.String(), s.status(g), width, height)))
	return err
}

// status is the line below the table.
func (s *watchScreen) status(g *view.Grid) string {
	parts := []string{words.Number(g.Len()) + " " + s.question.resource.Name, "changed " + s.Now().UTC().Format("15:04:05"), "ctrl+c ends"}
	if g.Skipped > 0 {
		parts = append(parts, words.Number(g.Skipped)+" "+s.question.resource.Leaves+" hidden (--all)")
	}
	if hidden := slices.Concat(s.question.options.Unshown.Same, s.question.options.Unshown.Hidden); len(hidden) > 0 {
		parts = append(parts, "no room for "+strings.Join(hidden, ", "))
	}
	return strings.Join(parts, " · ")
}

// watchFrame puts a table and a line below it on a screen of some lines. Each line replaces the one that was there, so that nothing
// flickers; what is wider than the terminal, as -o wide may be, is cut.
func watchFrame(text, status string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(2, height-2); len(lines) > most {
		more := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], "… "+words.Plural(more, "more row"))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range append(lines, status) {
		if width > 0 {
			line = render.Fit(line, width, "…")
		}
		b.WriteString(line + "\x1b[m\x1b[K\n")
	}
	return b.String() + "\x1b[J"
}

// looksTheSame reports whether people see the same of a row as before: a figure may have changed by less than is shown of it. Durations
// count as equal, as in view.NewRows.
func looksTheSame(before view.Table, now *view.Grid, row int) bool {
	old := view.RowOf(before, now.Table.Ref(row).ID)
	if old < 0 {
		return false
	}
	for _, i := range now.Columns {
		c := &now.Table.Resource().Columns[i]
		if c.Kind != table.Duration && render.Text(before.Cell(old, i), c.Kind) != render.Text(now.Table.Cell(row, i), c.Kind) {
			return false
		}
	}
	return true
}
