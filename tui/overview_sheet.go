package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui/draw"
)

// overviewContent is the data that the overview shows.
type overviewContent struct {
	Styles   *draw.Styles
	Overview *view.Overview // nil before the first data
	Largest  *view.Grid     // collections by rows, nil if unknown
	Report   *check.Report  // nil before the first diagnosis
	Latency  *latency.Latency
}

// minCollections is the minimum number of collections on the overview. If they do not fit, they are reached
// by scrolling.
const minCollections = 8

// Lines lays out the overview in lines of w cells and returns its selectable items. It lists as many of the
// largest collections as fit in h lines, but at least minCollections.
func (x overviewContent) Lines(w, h int) ([]string, []overviewItem) {
	s := overviewSheet{st: x.Styles, o: x.Overview, report: x.Report}
	if s.o == nil {
		s.o, s.waiting = &view.Overview{}, true
	}
	s.findings(x.Report, w)
	s.slowest(x.Latency, w)
	s.blocks(w)
	if x.Largest != nil && x.Largest.Len() > 0 {
		s.collections(x.Largest, w, max(minCollections, h-len(s.out)-3))
	}
	return s.out, s.items
}

// overviewItem is a selectable item of the overview: its position and its target.
type overviewItem struct {
	// Key identifies the item across refreshes.
	Key string
	// Line, From and To are the position: the cells [From, To) of Line.
	Line, From, To int
	// Finding, Object or Page is the target. Page is a line of the command palette. About is a longer text for
	// items with neither a finding nor an object.
	Finding *check.Finding
	Object  view.Ref
	Page    string
	About   string
}

// overviewSheet lays out the blocks of an overview. While waiting is set, every value is "…".
type overviewSheet struct {
	st      *draw.Styles
	o       *view.Overview
	report  *check.Report
	waiting bool
	out     []string
	items   []overviewItem
}

func (s *overviewSheet) line(text string) { s.out = append(s.out, text) }

// addItem makes the last line a selectable item of w cells after the left margin.
func (s *overviewSheet) addItem(key string, w int, x overviewItem) {
	x.Key, x.Line, x.From, x.To = key, len(s.out)-1, 1, 1+w
	s.items = append(s.items, x)
}

// overviewBlock is a titled list of lines of fixed width, with its selectable items.
type overviewBlock struct {
	w     int
	lines []string
	items []overviewItem
}

func (b *overviewBlock) add(line string) { b.lines = append(b.lines, draw.Fit(line, b.w)) }

// item makes the last line a selectable item.
func (b *overviewBlock) item(key string, x overviewItem) { b.part(key, 0, b.w, x) }

// part makes w cells of the last line, starting at from, a selectable item.
func (b *overviewBlock) part(key string, from, w int, x overviewItem) {
	x.Key, x.Line, x.From, x.To = key, len(b.lines)-1, from, from+w
	b.items = append(b.items, x)
}

// warn adds a warning and wraps it.
func (b *overviewBlock) warn(st *draw.Styles, text string) {
	sign := "▲ "
	for line := range strings.SplitSeq(ansi.Wrap(text, b.w-2, ""), "\n") {
		b.add(st.Warn.On(sign + line))
		sign = "  "
	}
}

// blocks arranges the blocks, side by side if w allows.
func (s *overviewSheet) blocks(w int) {
	w -= 2
	var rows [][]overviewBlock
	switch {
	case w >= 110:
		rows = [][]overviewBlock{
			{s.cluster(34), s.data(38), s.segments(min(90, w-34-38-6))},
			{s.nodes(w)},
			{s.health(w)},
		}
	case w >= 76 && s.hasLive(): // nodes first, because live figures of nodes are known
		rows = [][]overviewBlock{{s.nodes(w)}, {s.data(36), s.segments(w - 39)}, {s.cluster(36), s.health(w - 39)}}
	case w >= 76:
		rows = [][]overviewBlock{{s.data(36), s.segments(w - 39)}, {s.cluster(36), s.health(w - 39)}, {s.nodes(w)}}
	case w >= 52:
		rows = [][]overviewBlock{{s.data(w - 24), s.cluster(21)}, {s.nodes(w)}, {s.segments(w)}, {s.health(w)}}
	default:
		rows = [][]overviewBlock{{s.health(w)}, {s.data(w)}, {s.nodes(w)}, {s.segments(w)}, {s.cluster(w)}}
	}
	for i, row := range rows {
		if i > 0 {
			s.line("")
		}
		x := 1
		for _, b := range row {
			for _, item := range b.items {
				item.Line, item.From, item.To = item.Line+len(s.out), item.From+x, item.To+x
				s.items = append(s.items, item)
			}
			x += b.w + 3
		}
		s.out = append(s.out, joinColumns(row)...)
	}
}

// joinColumns joins blocks line by line.
func joinColumns(row []overviewBlock) []string {
	parts := []string{" "}
	for i, b := range row {
		parts = append(parts, draw.Pad(min(3*i, 3)), strings.Join(b.lines, "\n"))
	}
	return strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, parts...), "\n")
}

func (s *overviewSheet) begin(title string, w int) overviewBlock {
	b := overviewBlock{w: w}
	b.add(s.st.Dim.On(title))
	return b
}

// value formats a cell. It returns "…" before the first data.
func (s *overviewSheet) value(k table.Kind, c table.Cell) string {
	if s.waiting {
		return "…"
	}
	if k == table.Int && c.Absent == table.Present {
		return words.Number(int(c.Int))
	}
	return render.Text(c, k)
}

// pair formats a name followed by a value that is right-aligned in w cells. A troubled value is styled as a
// warning.
func (s *overviewSheet) pair(name string, value string, w int, troubled bool) string {
	text := draw.FitRight(value, max(1, w-draw.Width(name)-1))
	if troubled {
		text = s.st.Warn.On(text)
	}
	return s.st.Dim.On(name) + " " + text
}

func positive(c table.Cell) bool { return c.Absent == table.Present && c.Int > 0 }

// data builds the block that counts the objects of the cluster, in two columns.
func (s *overviewSheet) data(w int) overviewBlock {
	b := s.begin("DATA", w)
	o := s.o
	half := (w - 2) / 2
	type figure struct {
		name, page string
		kind       table.Kind
		cell       table.Cell
		troubled   bool
	}
	left := []figure{
		{"rows", "segments", table.Int, o.Rows, false},
		{"deletes", "segments", table.Int, o.DeletedRows, false},
		{"size", "segments", table.Bytes, o.Bytes, false},
		{"segments", "segments", table.Int, o.Segments, false},
		{"vchannels", "vchannels", table.Int, o.VChannels, false},
		{"pchannels", "pchannels", table.Int, o.PChannels, false},
	}
	right := []figure{
		{"databases", "databases", table.Int, o.Databases, false},
		{"collections", "collections", table.Int, o.Collections, false},
		{"partitions", "partitions", table.Int, o.Partitions, false},
		{"aliases", "aliases", table.Int, o.Aliases, false},
		{"indexes", "indexes", table.Int, o.Indexes, false},
		{"no index", "collections", table.Int, o.Unindexed, positive(o.Unindexed)},
	}
	for i := range left {
		texts := [2]string{}
		for k, x := range []figure{left[i], right[i]} {
			texts[k] = s.pair(x.name, s.value(x.kind, x.cell), half, x.troubled)
		}
		b.add(texts[0] + "  " + texts[1])
		for k, x := range []figure{left[i], right[i]} {
			b.part("data "+x.name, k*(half+2), half, overviewItem{Page: x.page})
		}
	}
	for _, l := range o.Load {
		b.add(s.pair(l.State, words.Number(int(l.Count))+" "+words.Agree(l.Count, "collection", "collections"),
			2*half+2, false))
		b.item("load "+l.State, overviewItem{Page: "collections load_state=" + l.State})
	}
	return b
}

// segments builds the block of segment states, with a bar for the rows of each state.
func (s *overviewSheet) segments(w int) overviewBlock {
	title := "SEGMENTS"
	if s.hasLive() { // growing rows on query nodes differ: they include rows since the last checkpoint
		title += " in etcd"
	}
	b := s.begin(title, w)
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
		line := draw.StateStyle(s.st, x.State).On(draw.Fit(x.State, 9)) + " " +
			draw.FitRight(words.Number(int(x.Count)), counts) + " "
		if room >= 6 {
			line += s.st.Accent.On(draw.Fit(overviewBar(x.Rows.Int, most, room), room)) + " "
		}
		b.add(line + draw.FitRight(s.value(table.Int, x.Rows)+" rows", rows))
		b.item("state "+x.State, overviewItem{Page: "segments state=" + x.State})
	}
	b.add("")
	b.add(s.st.Dim.On("indexed ") + s.value(table.Percent, o.Indexed) + s.st.Dim.On(" of ") +
		s.value(table.Int, o.SealedRows) + s.st.Dim.On(" sealed rows"))
	b.item("indexed", overviewItem{Page: "indexes"})
	return b
}

// overviewBar draws a bar with a resolution of an eighth of a cell.
func overviewBar(n, total int64, w int) string {
	if n <= 0 {
		return "·"
	}
	eighths := max(1, int(float64(n)/float64(total)*float64(8*w)))
	full := min(w, eighths/8)
	text := strings.Repeat("█", full)
	if full < w && eighths%8 > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return text
}

// cluster builds the block of registered roles.
func (s *overviewSheet) cluster(w int) overviewBlock {
	b := s.begin("CLUSTER"+s.version(), w)
	if s.waiting {
		b.add("…")
		return b
	}
	if len(s.o.Roles) == 0 {
		b.add(s.st.Dim.On("no registered sessions"))
	}
	for _, r := range s.o.Roles {
		b.add(draw.Fit(words.Sanitize(r.Role), 13) + " " +
			draw.FitRight(words.Number(r.Registered+r.Stopping+r.Standby), 3) + "  " + s.role(&r, w-19))
		b.item("role "+r.Role, overviewItem{Page: "nodes role=" + r.Role})
	}
	return b
}

// role formats the state of a role, as a single glyph if there is no room for words. Registration alone does
// not count as healthy: a node must have responded.
func (s *overviewSheet) role(r *view.RoleCount, w int) string {
	state := s.st.Dim.On("? registered")
	switch {
	case r.Stopping > 0:
		state = s.st.Warn.On("▲ " + words.Number(r.Stopping) + " stopping")
	case r.Registered == 0 && r.Standby > 0:
		state = s.st.Warn.On("▲ standby only")
	case r.Asked > 0 && r.Answered == 0:
		state = s.st.Bad.On("✖ no response")
	case r.Answered < r.Asked:
		state = s.st.Warn.On("▲ " + words.Number(r.Answered) + "/" + words.Number(r.Asked) + " respond")
	case r.Asked > 0:
		state = s.st.Good.On("✓ " + words.Agree(r.Asked, "responds", "respond"))
	}
	if r.Standby > 0 && r.Registered > 0 {
		state += s.st.Dim.On(" +" + words.Number(r.Standby) + " standby")
	}
	if len(r.Versions) > 1 {
		state = s.st.Warn.On("▲ " + words.Sanitize(strings.Join(r.Versions, " ")))
	}
	if w < draw.Width("? registered") {
		return ansi.Truncate(state, 1, "")
	}
	return state
}

// version returns the Milvus version. If no session reports it, the text includes its source.
func (s *overviewSheet) version() string {
	v := &s.o.Version
	switch {
	case v.Text == "":
		return ""
	case v.From == "sessions":
		return "  Milvus " + words.Sanitize(v.Text)
	}
	return "  Milvus " + words.Sanitize(v.Text) + " by " + v.From
}

// collections adds the largest collections, at most room.
func (s *overviewSheet) collections(g *view.Grid, w, room int) {
	n := min(g.Len(), room)
	title := "COLLECTIONS"
	if n < g.Matched {
		title = fmt.Sprintf("COLLECTIONS  the %d largest of %s", n, words.Number(g.Matched))
	}
	head, rows := draw.PlainTable(g, n, w-2)
	s.out = append(s.out, "", " "+s.st.Dim.On(title), " "+s.st.Dim.On(head))
	for i, r := range rows {
		s.line(" " + r)
		row := i
		if g.Rows != nil {
			row = int(g.Rows[i])
		}
		ref := g.Table.Ref(row)
		s.addItem("collection "+ref.ID, w-2, overviewItem{Object: ref})
	}
}

func (s *overviewSheet) etcdMissing() string {
	if s.waiting {
		return "…"
	}
	return s.st.Dim.On("? not queried")
}
