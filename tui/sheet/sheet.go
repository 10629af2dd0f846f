// Package sheet is the overview of the UI as lines. What enters are a view.Overview, what the checks found, and where requests spend
// their time; what leaves are blocks of text side by side, as wide as the terminal, and the words for findings that other pages use.
package sheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// Sheet is what an overview is made of.
type Sheet struct {
	Styles   *draw.Styles
	Overview *view.Overview // nil as long as nothing is known
	Largest  *view.Grid     // collections by rows, nil as long as they are not known
	Report   *check.Report  // nil as long as nothing was judged
	Latency  *latency.Latency
}

// Lines are the overview in lines of w cells, with as many of the largest collections as there is room for in h lines.
func (x Sheet) Lines(w, h int) []string {
	s := sheet{st: x.Styles, o: x.Overview}
	if s.o == nil {
		s.o, s.waiting = &view.Overview{}, true
	}
	lines := slices.Concat(s.findings(x.Report, w), s.slowest(x.Latency, w), s.lines(w))
	if room := h - len(lines) - 3; room > 1 && x.Largest != nil && x.Largest.Len() > 0 {
		lines = append(lines, s.collections(x.Largest, w, room)...)
	}
	return lines
}

// sheet lays out an overview in blocks. While it is waiting every value is "…".
type sheet struct {
	st      *draw.Styles
	o       *view.Overview
	waiting bool
}

// block is a titled list of lines, of a fixed width.
type block struct {
	w     int
	lines []string
}

func (b *block) add(line string) { b.lines = append(b.lines, draw.Fit(line, b.w)) }

// warn adds a warning, in as many lines as it needs.
func (b *block) warn(st *draw.Styles, text string) {
	sign := "▲ "
	for line := range strings.SplitSeq(ansi.Wrap(text, b.w-2, ""), "\n") {
		b.add(st.Warn.On(sign + line))
		sign = "  "
	}
}

// lines arranges the blocks: side by side where there is room.
func (s *sheet) lines(w int) []string {
	w -= 2
	var rows [][]block
	switch {
	case w >= 110:
		rows = [][]block{
			{s.cluster(34), s.data(38), s.segments(min(90, w-34-38-6))},
			{s.nodes(w)},
			{s.health(w)},
		}
	case w >= 76 && s.asked(): // who serves what comes first
		rows = [][]block{{s.nodes(w)}, {s.data(36), s.segments(w - 39)}, {s.cluster(36), s.health(w - 39)}}
	case w >= 76:
		rows = [][]block{{s.data(36), s.segments(w - 39)}, {s.cluster(36), s.health(w - 39)}, {s.nodes(w)}}
	default:
		rows = [][]block{{s.data(w - 24), s.cluster(21)}, {s.nodes(w)}, {s.segments(w)}, {s.health(w)}}
	}
	var out []string
	for i, row := range rows {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, beside(row)...)
	}
	return out
}

// beside joins blocks line by line.
func beside(row []block) []string {
	n := 0
	for _, b := range row {
		n = max(n, len(b.lines))
	}
	out := make([]string, n)
	for i := range out {
		var line strings.Builder
		line.WriteString(" ")
		for k, b := range row {
			if k > 0 {
				line.WriteString("   ")
			}
			if i < len(b.lines) {
				line.WriteString(b.lines[i])
			} else {
				line.WriteString(draw.Pad(b.w))
			}
		}
		out[i] = line.String()
	}
	return out
}

func (s *sheet) begin(title string, w int) block {
	b := block{w: w}
	b.add(s.st.Dim.On(title))
	return b
}

// value is a cell's text, "…" before there is data.
func (s *sheet) value(k table.Kind, c table.Cell) string {
	if s.waiting {
		return "…"
	}
	if k == table.Int && c.Absent == table.Present {
		return words.Number(int(c.Int))
	}
	return render.Text(c, k)
}

// pair is a name and a number at the right end of w cells; troubled colours it.
func (s *sheet) pair(name string, value string, w int, troubled bool) string {
	text := draw.FitRight(value, max(1, w-draw.Width(name)-1))
	if troubled {
		text = s.st.Warn.On(text)
	}
	return s.st.Dim.On(name) + " " + text
}

func some(c table.Cell) bool { return c.Absent == table.Present && c.Int > 0 }

// data counts what the cluster holds, in two columns.
func (s *sheet) data(w int) block {
	b := s.begin("DATA", w)
	o := s.o
	half := (w - 2) / 2
	left := []string{
		s.pair("rows", s.value(table.Int, o.Rows), half, false),
		s.pair("deletes", s.value(table.Int, o.DeletedRows), half, false),
		s.pair("size", s.value(table.Bytes, o.Bytes), half, false),
		s.pair("segments", s.value(table.Int, o.Segments), half, false),
		s.pair("vchannels", s.value(table.Int, o.VChannels), half, false),
		s.pair("pchannels", s.value(table.Int, o.PChannels), half, false),
	}
	right := []string{
		s.pair("databases", s.value(table.Int, o.Databases), half, false),
		s.pair("collections", s.value(table.Int, o.Collections), half, false),
		s.pair("partitions", s.value(table.Int, o.Partitions), half, false),
		s.pair("aliases", s.value(table.Int, o.Aliases), half, false),
		s.pair("indexes", s.value(table.Int, o.Indexes), half, false),
		s.pair("no index", s.value(table.Int, o.Unindexed), half, some(o.Unindexed)),
	}
	for i := range left {
		b.add(left[i] + "  " + right[i])
	}
	for _, l := range o.Load {
		b.add(s.pair(l.State, words.Number(int(l.Count))+" collections", 2*half+2, false))
	}
	return b
}

// segments are the states with bars of their rows.
func (s *sheet) segments(w int) block {
	b := s.begin("SEGMENTS", w)
	o := s.o
	switch {
	case s.waiting:
		b.add("…")
	case o.StatesUnknown:
		b.add(s.st.Dim.On("? not read"))
	case len(o.States) == 0:
		b.add(s.st.Dim.On("none"))
	}
	most, counts, rows := int64(1), 0, 0
	for _, x := range o.States {
		most = max(most, x.Rows.Int)
		counts = max(counts, draw.Width(words.Number(int(x.Count))))
		rows = max(rows, draw.Width(s.value(table.Int, x.Rows)+" rows"))
	}
	room := w - 10 - counts - rows - 3
	for _, x := range o.States {
		line := draw.StateStyle(s.st, x.State).On(draw.Fit(x.State, 9)) + " " + draw.FitRight(words.Number(int(x.Count)), counts) + " "
		if room >= 6 {
			line += s.st.Accent.On(draw.Fit(bar(x.Rows.Int, most, room), room)) + " "
		}
		b.add(line + draw.FitRight(s.value(table.Int, x.Rows)+" rows", rows))
	}
	b.add("")
	b.add(s.st.Dim.On("indexed ") + s.value(table.Percent, o.Indexed) + s.st.Dim.On(" of ") + s.value(table.Int, o.SealedRows) + s.st.Dim.On(" sealed rows"))
	return b
}

// bar is a bar of eighths of cells.
func bar(n, most int64, w int) string {
	if n <= 0 {
		return "·"
	}
	eighths := max(1, int(float64(n)/float64(most)*float64(8*w)))
	full := min(w, eighths/8)
	text := strings.Repeat("█", full)
	if full < w && eighths%8 > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return text
}

// cluster lists the roles that are registered.
func (s *sheet) cluster(w int) block {
	b := s.begin("CLUSTER"+s.version(), w)
	if s.waiting {
		b.add("…")
		return b
	}
	if len(s.o.Roles) == 0 {
		b.add(s.st.Dim.On("no session is registered"))
	}
	for _, r := range s.o.Roles {
		b.add(draw.Fit(words.Harmless(r.Role), 13) + " " + draw.FitRight(words.Number(r.Registered+r.Stopping+r.Standby), 3) + "  " + s.role(&r, w-19))
	}
	return b
}

// role says how a role is, in words if there is room.
func (s *sheet) role(r *view.RoleCount, w int) string {
	state := s.st.Good.On("✓ registered")
	switch {
	case r.Stopping > 0:
		state = s.st.Warn.On("▲ " + words.Number(r.Stopping) + " stopping")
	case r.Registered == 0 && r.Standby > 0:
		state = s.st.Warn.On("▲ standby only")
	case r.Standby > 0:
		state += s.st.Dim.On(" +" + words.Number(r.Standby) + " standby")
	}
	if len(r.Versions) > 1 {
		state = s.st.Warn.On("▲ " + words.Harmless(strings.Join(r.Versions, " ")))
	}
	if w < draw.Width("✓ registered") {
		return ansi.Truncate(state, 1, "")
	}
	return state
}

// version is the Milvus version and, where it was not reported, how it is known.
func (s *sheet) version() string {
	v := &s.o.Version
	switch {
	case v.Text == "":
		return ""
	case v.From == "sessions":
		return "  Milvus " + words.Harmless(v.Text)
	}
	return "  Milvus " + words.Harmless(v.Text) + " by " + v.From
}

// collections lists the largest ones in the room that is left.
func (s *sheet) collections(g *view.Grid, w, room int) []string {
	n := min(g.Len(), room)
	title := "COLLECTIONS"
	if n < g.Matched {
		title = fmt.Sprintf("COLLECTIONS  the %d largest of %s", n, words.Number(g.Matched))
	}
	head, rows := draw.PlainTable(g, n, w-2)
	lines := []string{"", " " + s.st.Dim.On(title), " " + s.st.Dim.On(head)}
	for _, r := range rows {
		lines = append(lines, " "+r)
	}
	return lines
}

// health is what the store says, and what could not be read of it.
func (s *sheet) health(w int) block {
	b := s.begin("HEALTH", w)
	o := s.o
	b.add(s.st.Dim.On("oldest checkpoint ") + s.value(table.Duration, o.OldestCheckpoint) + s.st.Dim.On(" "+draw.CutName(words.Harmless(o.OldestChannel), max(8, w-28))))
	keys := s.value(table.Int, o.Keys) + s.st.Dim.On(" keys, ")
	undecoded := s.value(table.Int, o.Undecoded) + " undecoded"
	if some(o.Undecoded) {
		undecoded = s.st.Warn.On("▲ " + undecoded)
	}
	b.add(keys + undecoded)
	for _, g := range o.Gaps {
		b.warn(s.st, "not read: "+words.Harmless(g.Where)+": "+words.Harmless(g.Reason))
	}
	for _, note := range o.Version.Notes {
		b.warn(s.st, words.Harmless(note))
	}
	if o.Etcd == nil {
		b.add(s.st.Dim.On("etcd ") + s.etcdMissing())
		return b
	}
	if o.Etcd.Problem != "" {
		b.warn(s.st, "etcd: "+words.Harmless(o.Etcd.Problem))
	}
	for i := range o.Etcd.Members {
		b.add(s.member(i))
	}
	return b
}

func (s *sheet) etcdMissing() string {
	if s.waiting {
		return "…"
	}
	return s.st.Dim.On("? not asked")
}

// member is one of etcd's, with what is wrong first.
func (s *sheet) member(i int) string {
	m := &s.o.Etcd.Members[i]
	where := s.st.Dim.On(strings.TrimPrefix(strings.TrimPrefix(words.Harmless(m.Endpoint), "http://"), "https://"))
	line := s.st.Dim.On("etcd ")
	switch {
	case m.Problem != "":
		return line + s.st.Bad.On("✖ "+words.Harmless(m.Problem)) + " " + where
	case len(m.Errors) > 0:
		line += s.st.Bad.On("✖ " + words.Harmless(strings.Join(m.Errors, ", ")))
	default:
		line += s.st.Good.On("✓ no alarm")
	}
	line += " " + s.value(table.Bytes, table.Cell{Int: m.DBSize})
	if m.DBQuota > 0 {
		line += s.st.Dim.On(" of ") + s.value(table.Bytes, table.Cell{Int: m.DBQuota})
	}
	line += " " + words.Harmless(m.Version)
	if m.Leader {
		line += s.st.Dim.On(" leader")
	}
	return line + " " + where
}
