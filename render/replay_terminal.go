package render

import (
	"strings"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/words"
)

// This file is what the terminal UI takes of reports about replays: the same words and figures, as lines and cells.

// ReplayLines are what WriteReplay says of a result without its tables: what was replayed, how much of it there was, the figures of
// a run, recall and differences, notes, and what repeats it. Of ReportOptions width and ASCII count. Each line is its pieces.
func ReplayLines(r *replay.Result, o ReportOptions) [][]Piece {
	lines := []sheetLine{{role: RoleTitle, text: ReplayTitle(r)}}
	if text := setupText(&r.Setup, &o); text != "" {
		lines = append(lines, sheetLine{role: RoleDim, text: text})
	}
	lines = append(lines, sheetLine{})
	if r.Stopped != "" {
		lines = append(lines, labelled(&o, RoleBad, "STOPPED", Harmless(r.Stopped)+": what follows is of what was done until then")...)
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
func frontLines(r *replay.Result, o *ReportOptions) []sheetLine {
	lines := labelled(o, RolePlain, "points", words.Plural(len(r.Points), "point")+" measured")
	front := load.Front(r.Points)
	for i := range front {
		p := &front[i]
		text := words.ThreeDigits(p.QPS) + " QPS, recall " + RecallText(p.Recall) + ", p99 " + latencyOf(&p.Latency, p.Latency.P99, o) + ": " + ArrivalText(p)
		if params := parametersText(p); params != "" {
			text += ", " + params
		}
		lines = append(lines, labelled(o, RolePlain, []string{"", "best"}[b2i(i == 0)], text)...)
	}
	return lines
}

// CoverLines say how much of the collection took part, without the list of what did not.
func CoverLines(c *replay.Coverage, o ReportOptions) [][]Piece {
	return piecesOf(coverLines(c, &o), &o)
}

// coverLines count what is missing, as the UI has a table of it.
func coverLines(c *replay.Coverage, o *ReportOptions) []sheetLine {
	short := *c
	short.Missing = nil
	lines := coverageLines(&short, o)
	if n := len(c.Missing); n > 0 {
		lines = append(lines, labelled(o, RoleBad, "MISSING", words.Plural(n, "segment")+" could not be loaded whole")...)
	}
	return lines
}

// PointLines are the figures of one point.
func PointLines(p *load.Point, o ReportOptions) [][]Piece { return piecesOf(pointLines(p, &o), &o) }

// WhatIfLines are what WriteWhatIf says of a report without the tables of clusters: the answer, what the present one loses its time
// with, how far to trust the model, notes, and what repeats it.
func WhatIfLines(r *whatif.Report, o ReportOptions) [][]Piece {
	lines := []sheetLine{{role: RoleTitle, text: "What if: " + orUnknown(r.Setup.Collection) + ", " + simulatedLoadText(&r.Load)}}
	if text := setupText(&r.Setup, &o); text != "" {
		lines = append(lines, sheetLine{role: RoleDim, text: text})
	}
	lines = append(append(lines, sheetLine{}), answerLines(r, &o)...)
	lines = append(append(lines, sheetLine{}), causeLines(r, &o)...)
	lines = append(lines, sheetLine{}, sheetLine{role: RoleTitle, text: "How far to trust it"})
	for _, t := range trustTexts(r) {
		lines = append(lines, sheetLine{role: []Role{RolePlain, RoleWarn}[b2i(t.warn)], text: "  " + t.text})
	}
	lines = append(lines, replayNotes(r.Notes, &o)...)
	return piecesOf(append(lines, repeatLines(&replay.Result{Setup: r.Setup}, &o)...), &o)
}

// piecesOf breaks lines to the width, those that are broken already excepted.
func piecesOf(lines []sheetLine, o *ReportOptions) [][]Piece {
	var out [][]Piece
	for i := range lines {
		l := &lines[i]
		if l.whole || len(l.after) > 0 || o.Width <= 0 || cells(l.text) <= o.Width {
			out = append(out, append([]Piece{{l.role, l.text}}, l.after...))
			continue
		}
		indent := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " "))]
		for k, text := range hang(l.text, max(8, o.Width-len(indent)-2)) {
			if k > 0 {
				text = "  " + text
			}
			out = append(out, []Piece{{l.role, indent + text}})
		}
	}
	return out
}

// SegmentStateBar draws a time in size cells of what most fills, apart by the state of the segments that it was spent in.
func SegmentStateBar(states [3]time.Duration, whole, most time.Duration, size int, ascii bool) string {
	return stateBar(&states, whole, most, size, ascii)
}

// BusyText is how busy the idlest and the busiest node of a prediction are: "38-97%".
func BusyText(p *whatif.Prediction) string {
	if p.Outcome == nil {
		return words.UnknownMark
	}
	return usesText(p.Outcome)
}
