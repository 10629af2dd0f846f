// Package timeline are the pages of the UI about time: the timeline of a cluster, and the list of what happened to it. What enters is
// the history.Axis that the core of the UI has read, and past clusters; what leaves are kinds of pages (Pages).
//
//  1. Lanes (lanes.go) have the events of the axis, sorted by what they happened to: nodes, channels, collections, the cluster.
//  2. Findings of the cluster that is shown have a lane each, from the revision at which they began (tui.Model.Beginnings).
//  3. The page (page.go, draw.go) draws the part of the axis that is looked at, a lane a line.
package timeline

import (
	"kitescope/tui"
)

// InTimeline is the scope of the timeline.
const InTimeline = tui.FreeScope

// Pages are the pages about time.
func Pages() []tui.PageKind {
	t := &times{}
	return []tui.PageKind{
		{
			Name: "timeline", Aliases: []string{"time"}, Doc: "What happened when: by node, channel and collection; findings from when to when.",
			Args: "TEXT...", Open: t.open, Empty: noPast, Keys: keys(), In: InTimeline, Places: "timelines",
		},
		{
			Name: "events", Aliases: []string{"history"}, Doc: "What happened, event by event, out of etcd itself.",
			Args: "TEXT...", Open: t.openEvents, Empty: noPast,
		},
	}
}

func noPast(m *tui.Model) bool { return m.Past() == nil }

// times are what pages about time share: it stays when they are left.
type times struct {
	lanes *lanes // nil until the first
	busy  bool   // they are being sorted
}

func keys() []tui.Binding {
	return []tui.Binding{
		{Action: tui.ActLeft, Keys: []string{"left", "h"}, In: InTimeline, Group: tui.GroupTime, Hint: "event", Doc: "To the event before in the lane.", Weight: 90},
		{Action: tui.ActRight, Keys: []string{"right", "l"}, In: InTimeline, Group: tui.GroupTime, Hint: "", Doc: "To the next event in the lane.", Weight: 0},
		{Action: tui.ActOpen, Keys: []string{"enter"}, In: InTimeline, Group: tui.GroupTime, Hint: "open", Doc: "To the event's object, at that moment.", Weight: 100},
		{Action: tui.ActZoomIn, Keys: []string{"+"}, In: InTimeline, Group: tui.GroupTime, Hint: "zoom", Doc: "A shorter time around the event.", Weight: 88},
		{Action: tui.ActZoomOut, Keys: []string{"-"}, In: InTimeline, Group: tui.GroupTime, Hint: "", Doc: "A longer time.", Weight: 0},
		{Action: tui.ActFilter, Keys: []string{"/"}, In: InTimeline, Group: tui.GroupTime, Hint: "filter", Doc: "Only lanes and events in which the text occurs.", Weight: 80},
		{Action: tui.ActTopTable, Keys: []string{"v"}, In: InTimeline, Group: tui.GroupTime, Hint: "events", Doc: "The events of the lane as a list.", Weight: 84},
		{Action: tui.ActCopyRow, Keys: []string{"y"}, In: InTimeline, Group: tui.GroupTime, Hint: "copy", Doc: "Copy the event.", Weight: 25},
	}
}
