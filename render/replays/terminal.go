package replays

import (
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
)

// This file is what the terminal UI takes of reports about replays: the same words and figures, as lines and cells.

// Lines are what WriteResult says of a result without its tables: what was replayed, how much of it there was, the figures of
// a run, recall and differences, notes, and what repeats it. Of render.ReportOptions width and ASCII count. Each line is its pieces.
func Lines(r *replay.Result, o render.ReportOptions) [][]render.Piece {
	lines := []render.Line{{Role: render.RoleTitle, Text: Title(r)}}
	if text := setupText(&r.Setup, &o); text != "" {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	lines = append(lines, render.Line{})
	if r.Stopped != "" {
		lines = append(lines, labelled(&o, render.RoleBad, "STOPPED", render.Harmless(r.Stopped)+": results up to that point follow")...)
	}
	lines = append(lines, coverLines(&r.Cover, &o)...)
	if !sweep(r) && len(r.Points) == 1 {
		lines = append(lines, pointLines(&r.Points[0], &o)...)
	}
	if sweep(r) {
		lines = append(lines, frontLines(r, &o)...)
	}
	lines = append(lines, recallLines(r, &o)...)
	lines = append(lines, differenceLines(r, &o)...)
	lines = append(lines, replayNotes(r.Notes, &o)...)
	return piecesOf(append(lines, repeatLines(r, &o)...), &o)
}

// frontLines are the points of a sweep that no other one beats in recall and QPS, a line each.
func frontLines(r *replay.Result, o *render.ReportOptions) []render.Line {
	lines := labelled(o, render.RolePlain, "points", words.Plural(len(r.Points), "point")+" measured")
	front := load.Front(r.Points)
	for i := range front {
		p := &front[i]
		text := words.ThreeDigits(p.QPS) + " QPS, recall " + RecallText(p.Recall) + ", p99 " + latencyOf(&p.Latency, p.Latency.P99, o) + ": " + ArrivalText(p)
		if params := parametersText(p); params != "" {
			text += ", " + params
		}
		lines = append(lines, labelled(o, render.RolePlain, []string{"", "best"}[render.BoolInt(i == 0)], text)...)
	}
	return lines
}

// CoverLines say how much of the collection took part, without the list of what did not.
func CoverLines(c *replay.Coverage, o render.ReportOptions) [][]render.Piece {
	return piecesOf(coverLines(c, &o), &o)
}

// coverLines count what is missing, as the UI has a table of it.
func coverLines(c *replay.Coverage, o *render.ReportOptions) []render.Line {
	short := *c
	short.Missing = nil
	lines := coverageLines(&short, o)
	if n := len(c.Missing); n > 0 {
		lines = append(lines, labelled(o, render.RoleBad, "MISSING", words.Plural(n, "segment")+" could not be loaded whole")...)
	}
	return lines
}

// PointLines are the figures of one point.
func PointLines(p *load.Point, o render.ReportOptions) [][]render.Piece {
	return piecesOf(pointLines(p, &o), &o)
}

// WhatIfLines are what WriteWhatIf says of a report without the tables of clusters: the answer, what the present one loses its time
// with, how far to trust the model, notes, and what repeats it.
func WhatIfLines(r *whatif.Report, o render.ReportOptions) [][]render.Piece {
	lines := []render.Line{{Role: render.RoleTitle, Text: "What if: " + render.OrUnknown(r.Setup.Collection) + ", " + simulatedLoadText(&r.Load)}}
	if text := setupText(&r.Setup, &o); text != "" {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	lines = append(append(lines, render.Line{}), answerLines(r, &o)...)
	lines = append(append(lines, render.Line{}), causeLines(r, &o)...)
	lines = append(lines, render.Line{}, render.Line{Role: render.RoleTitle, Text: "Accuracy"})
	for _, t := range trustTexts(r) {
		lines = append(lines, render.Line{Role: []render.Role{render.RolePlain, render.RoleWarn}[render.BoolInt(t.warn)], Text: "  " + t.text})
	}
	lines = append(lines, replayNotes(r.Notes, &o)...)
	return piecesOf(append(lines, repeatLines(&replay.Result{Setup: r.Setup}, &o)...), &o)
}

// piecesOf breaks lines to the width, those that are broken already excepted.
func piecesOf(lines []render.Line, o *render.ReportOptions) [][]render.Piece {
	var out [][]render.Piece
	for i := range lines {
		l := &lines[i]
		if l.Whole || len(l.After) > 0 || o.Width <= 0 || render.Cells(l.Text) <= o.Width {
			out = append(out, append([]render.Piece{{Role: l.Role, Text: l.Text}}, l.After...))
			continue
		}
		indent := l.Text[:len(l.Text)-len(strings.TrimLeft(l.Text, " "))]
		for k, text := range hang(l.Text, max(8, o.Width-len(indent)-2)) {
			if k > 0 {
				text = "  " + text
			}
			out = append(out, []render.Piece{{Role: l.Role, Text: indent + text}})
		}
	}
	return out
}

// StateBar draws a time in size cells of what most fills, apart by the state of the segments that it was spent in.
func StateBar(states [3]time.Duration, whole, most time.Duration, size int, ascii bool) string {
	return stateBar(&states, whole, most, size, ascii)
}

// BusyText is how busy the idlest and the busiest node of a prediction are: "38-97%".
func BusyText(p *whatif.Prediction) string {
	if p.Outcome == nil {
		return words.UnknownMark
	}
	return usesText(p.Outcome)
}
