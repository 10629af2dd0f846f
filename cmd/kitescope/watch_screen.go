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

// watchScreen redraws the answer of get --watch in place on a terminal.
type watchScreen struct {
	*cli.App
	query *getQuery
	shown string // the text on the screen, without the status line
}

// screen returns the screen that --watch draws on. It returns nil if rows are appended instead: into a pipe,
// in formats for scripts, and on a terminal that cannot move its cursor.
func (q *getQuery) screen(a *cli.App) *watchScreen {
	name := q.options.Format.Name()
	if !a.OutTTY || a.Getenv("TERM") == "dumb" || name != "table" && name != "wide" {
		return nil
	}
	return &watchScreen{App: a, query: q}
}

// draw draws the table, cut to the height of the screen, and the notes about missing data. It writes nothing
// if they have not changed.
func (s *watchScreen) draw(g *view.Grid, lacks []string) error {
	var body bytes.Buffer
	options := s.query.options
	width, height := s.Size()
	if options.Format.Name() == "table" {
		options.Width = width
	}
	if err := clusters.Grid(&body, g, options); err != nil {
		return err
	}
	var notes []string
	if !s.Flags.Quiet {
		notes = append(s.query.footnotes(g), lacks...)
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

// status returns the status line below the table.
func (s *watchScreen) status(g *view.Grid) string {
	return words.Number(g.Len()) + " " + s.query.resource.Name +
		" · changed " + s.Now().UTC().Format("15:04:05") + " · ctrl+c quits"
}

// watchFrame returns the terminal output for a table and the lines below it, on a screen of the given size.
// The table gets at least half of the lines. Each line overwrites the line before, which avoids flicker.
// Lines wider than the terminal, e.g. of -o wide, are cut.
func watchFrame(text string, below []string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(1, height/2-1); len(below) > most { // keep the last line, because it shows that the watch is running
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

// looksTheSame reports whether a row is displayed as before. A number may have changed by less than its
// display shows. Durations always count as equal, as in view.SameRow.
func looksTheSame(a view.Table, i int, b view.Table, j int, columns []int) bool {
	for _, column := range columns {
		kind := a.Resource().Columns[column].Kind
		if kind != table.Duration && render.Text(a.Cell(i, column), kind) != render.Text(b.Cell(j, column), kind) {
			return false
		}
	}
	return true
}
