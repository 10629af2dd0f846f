package tui

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// nodes builds the block of nodes that serve queries.
func (s *overviewSheet) nodes(w int) overviewBlock {
	title := "QUERY NODES"
	if s.hasLive() { // the block of segments shows the state in etcd instead
		title += " in memory"
	}
	b := s.begin(title, w)
	if s.waiting {
		b.add("…")
		return b
	}
	if len(s.o.Nodes) == 0 {
		b.add(s.st.Dim.On("none registered"))
	}
	name, address := 0, 0
	for _, n := range s.o.Nodes {
		name = max(name, draw.Width(words.Sanitize(n.Ref.Name)))
		address = max(address, draw.Width(words.Sanitize(n.Address)))
	}
	if s.hasLive() {
		s.liveNodes(&b, name, address)
		return b
	}
	for _, n := range s.o.Nodes {
		line := draw.Fit(words.Sanitize(n.Ref.Name), name) + "  " +
			s.st.Dim.On(draw.Fit(words.Sanitize(n.Address), address)) + "  " +
			draw.StateStyle(s.st, n.State).On(draw.Fit(n.State, 10)) + "  " +
			draw.FitRight(words.Plural(n.Replicas, "replica"), 11) + "  " +
			words.Sanitize(strings.Join(n.Collections, ", "))
		b.add(line)
		b.item("node "+n.Ref.ID, overviewItem{Object: n.Ref})
	}
	return b
}

// hasLive reports whether live data of the nodes is available.
func (s *overviewSheet) hasLive() bool {
	return len(s.o.Nodes) > 0 && s.o.Nodes[0].Live != nil
}

// liveNodes lists the query nodes with a bar each: sealed rows, followed by growing rows.
func (s *overviewSheet) liveNodes(b *overviewBlock, name, address int) {
	most := int64(1)
	for i := range s.o.Nodes {
		live := s.o.Nodes[i].Live
		most = max(most, live.SealedRows.Int+live.GrowingRows.Int)
	}
	const figures = 53
	room := min(40, b.w-name-address-figures-6)
	head := draw.Fit("", name) + "  "
	if s.wide(b.w, name, address) {
		head += draw.Fit("", address) + "  "
	} else {
		room = min(40, b.w-name-figures-4)
	}
	head += draw.FitRight("sealed", 7) + draw.FitRight("rows", 12) + draw.FitRight("growing", 9) +
		draw.FitRight("leads", 7) + draw.FitRight("CPU", 8) + draw.FitRight("memory", 10)
	if room >= 6 {
		head += "  " + barTitle(room)
	}
	b.add(s.st.Dim.On(head))
	listed := s.topNodes()
	for _, n := range listed {
		line := draw.Fit(words.Sanitize(n.Ref.Name), name) + "  "
		if s.wide(b.w, name, address) {
			line += s.st.Dim.On(draw.Fit(words.Sanitize(n.Address), address)) + "  "
		}
		if n.Live.Answer != "answered" {
			b.add(line + s.st.Bad.On("✖ "+words.Sanitize(clusters.NodeLiveText(n.Live))))
		} else {
			b.add(line + s.liveFigures(n.Live) + "  " + s.liveBar(n.Live, most, room) + s.nodeState(n))
		}
		b.item("node "+n.Ref.ID, overviewItem{Object: n.Ref})
	}
	if more := len(s.o.Nodes) - len(listed); more > 0 {
		b.add(s.st.Dim.On("and " + words.Plural(more, "node") + " between; :nodes lists all"))
		b.item("nodes", overviewItem{Page: "nodes"})
	}
}

// barTitle returns the legend of the bars that fits in room cells.
func barTitle(room int) string {
	for _, text := range []string{"rows: sealed █ growing ░", "sealed █ growing ░", "rows █░"} {
		if draw.Width(text) <= room {
			return draw.Fit(text, room)
		}
	}
	return draw.Fit("█░", room)
}

// maxNodes is the maximum number of nodes on the overview. The nodes page lists all.
const maxNodes = 12

// topNodes returns the nodes to list, at most maxNodes. Nodes that did not respond come first, then nodes by
// severity of their worst finding. If there are too many, the other nodes are sorted by rows served, and the
// list ends with the last 3 nodes in that order.
func (s *overviewSheet) topNodes() []*view.NodeLine {
	list := make([]*view.NodeLine, len(s.o.Nodes))
	for i := range s.o.Nodes {
		list[i] = &s.o.Nodes[i]
	}
	few := len(list) <= maxNodes
	rows := func(n *view.NodeLine) int64 { return n.Live.SealedRows.Int + n.Live.GrowingRows.Int }
	silent := func(n *view.NodeLine) int {
		if n.Live.Answer == "answered" {
			return 1
		}
		return 0
	}
	worst := func(n *view.NodeLine) (worst check.Severity) {
		if s.report != nil {
			for _, f := range s.report.About("nodes", n.Ref.ID) {
				worst = max(worst, f.Severity)
			}
		}
		return worst
	}
	slices.SortStableFunc(list, func(a, b *view.NodeLine) int {
		order := cmp.Or(cmp.Compare(silent(a), silent(b)), -cmp.Compare(worst(a), worst(b)))
		if few {
			return order
		}
		return cmp.Or(order, -cmp.Compare(rows(a), rows(b)))
	})
	if few {
		return list
	}
	const least = 3
	return append(list[:maxNodes-least:maxNodes-least], list[len(list)-least:]...)
}

// wide reports whether the addresses fit to the left of the figures.
func (s *overviewSheet) wide(w, name, address int) bool { return w >= name+address+60 }

func (s *overviewSheet) liveFigures(live *view.NodeLive) string {
	return draw.FitRight(s.value(table.Int, live.Sealed), 7) + draw.FitRight(s.value(table.Int, live.SealedRows), 12) +
		draw.FitRight(s.value(table.Int, live.GrowingRows), 9) + draw.FitRight(s.value(table.Int, live.Leads), 7) +
		draw.FitRight(s.value(table.Percent, live.CPU), 8) + draw.FitRight(s.value(table.Bytes, live.Memory), 10)
}

// liveBar draws sealed and growing rows on the same scale.
func (s *overviewSheet) liveBar(live *view.NodeLive, maxRows int64, room int) string {
	if room < 6 {
		return ""
	}
	cells := func(rows int64) int { return int(float64(rows) / float64(maxRows) * float64(room)) }
	sealed, growing := cells(live.SealedRows.Int), cells(live.GrowingRows.Int)
	if growing == 0 && live.GrowingRows.Int > 0 {
		growing = 1
	}
	sealed = min(sealed, room-growing)
	if sealed+growing == 0 {
		mark := s.st.Dim.On("·")
		if live.SealedRows.Int > 0 {
			mark = s.st.Accent.On("▏")
		}
		return mark + draw.Pad(room-1)
	}
	return s.st.Accent.On(strings.Repeat("█", sealed)) + s.st.Warn.On(strings.Repeat("░", growing)) +
		draw.Pad(room-sealed-growing)
}

func (s *overviewSheet) nodeState(n *view.NodeLine) string {
	if n.State == "registered" {
		return ""
	}
	return " " + draw.StateStyle(s.st, n.State).On(n.State)
}
