package replays

import (
	"strconv"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
)

// slowParts are the slowest queries, with the segments that they spent their time in.
func slowParts(r *replay.Result, o *render.ReportOptions) []render.Part {
	if len(r.Slowest) == 0 {
		return nil
	}
	list := r.Slowest
	n := o.Shown(len(list))
	column := func(title string, priority int, text func(q *replay.SlowQuery) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&list[i]) }}
	}
	part := render.Part{Head: []render.Line{{Role: render.RoleTitle, Text: ofAll("The slowest", n, len(list), "request")}}, List: render.Places(n, []table.ColumnOf[int]{
		column("REQUEST", 0, func(q *replay.SlowQuery) string { return strconv.Itoa(q.Request) }),
		column("TOOK", 0, func(q *replay.SlowQuery) string { return words.Latency(q.Took, o.ASCII) }),
		{Column: table.Column{Title: "LONGEST IN"}, Shown: func(i int) string { return slowText(&list[i], o) }},
	})}
	return []render.Part{part}
}

// slowText are the segments that took longest of a query: "4551 growing 2.1 ms, 4552 indexed 310 µs, 3 more 1.2 ms".
func slowText(q *replay.SlowQuery, o *render.ReportOptions) string {
	if len(q.Segments) == 0 {
		return words.UnknownMark
	}
	room := 52
	if o.Width == 0 || o.Width > 120 {
		room = 110
	} else {
		room = max(24, min(room, o.Width-28))
	}
	text := ""
	for i := range q.Segments {
		s := &q.Segments[i]
		piece := strconv.FormatInt(s.Segment, 10) + " (" + shortState(s.State) + ") " + words.Latency(s.Took, o.ASCII)
		if i > 0 {
			piece = ", " + piece
		}
		if i > 0 && render.Cells(text+piece) > room {
			break
		}
		text += piece
	}
	return text
}

// shortState is a state in a line with others.
func shortState(s replay.State) string {
	return strings.TrimPrefix(StateText(s), "sealed, ")
}
