package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/tui/draw"
)

// TestStreamingLines checks that streaming nodes and caches have one line each, at every width, which opens
// their page, and no line if there are none.
func TestStreamingLines(t *testing.T) {
	o := &view.Overview{
		Streaming: &view.StreamingLine{
			Nodes: 2, Channels: 16, Assigned: 15, WALs: []view.StateCount{{State: "Open", Count: 15}},
		},
		Cache: &view.CacheLine{
			Nodes: 3, Memory: table.Cell{Int: 7 << 20}, MemoryLimit: table.Cell{Int: 10 << 20},
			DiskLimit: table.Cell{Absent: table.None},
		},
	}
	x := overviewContent{Styles: draw.NewStyles(&render.Themes()[0], true, false), Overview: o}
	for _, w := range []int{40, 80, 200} {
		lines, items := x.Lines(w, 20)
		text := ansi.Strip(strings.Join(lines, "\n"))
		if !strings.Contains(text, "streaming 2 nodes") || !strings.Contains(text, "tiered storage memory") {
			t.Errorf("%d cells:\n%s", w, text)
		}
		for key, page := range map[string]string{"streaming": "pchannels", "cache": "nodes"} {
			if !slices.ContainsFunc(items, func(i overviewItem) bool { return i.Key == key && i.Page == page }) {
				t.Errorf("%d cells: %s opens nothing", w, key)
			}
		}
		for _, l := range lines {
			if draw.Width(l) > w {
				t.Errorf("%d cells: %q is wider", w, l)
			}
		}
	}
	x.Overview = &view.Overview{}
	if lines, _ := x.Lines(80, 20); strings.Contains(strings.Join(lines, "\n"), "streaming") {
		t.Error("a line of nothing")
	}
}
