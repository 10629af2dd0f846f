// Package timeline has the UI pages about time: the timeline of a cluster and the list of its events. Pages returns
// the page kinds. They show the history.Axis that the core of the UI has read, and open past states of the cluster.
//
//  1. Lanes (lanes.go) hold the events of the axis, sorted by object: nodes, channels, collections, the cluster.
//  2. Each finding of the current cluster has a lane, from the revision at which it began (tui.Model.Beginnings).
//  3. The page (page.go, draw.go) draws the visible part of the axis, one lane a line.
package timeline

import (
	"kitescope/tui"
)

// InTimeline is the scope of the timeline.
const InTimeline = tui.FreeScope

// Pages returns the pages about time.
func Pages() []tui.PageKind {
	t := &sharedState{}
	return []tui.PageKind{
		{
			Name: "timeline", Aliases: []string{"time"},
			Doc:  "Events and findings over time, by node, channel and collection.",
			Args: "TEXT...", Open: t.open, Empty: noPast, Keys: keys(), In: InTimeline, Places: "timelines",
		},
		{
			Name: "events", Aliases: []string{"history"}, Doc: "The events one by one, from the history in etcd.",
			Args: "TEXT...", Open: t.openEvents, Empty: noPast,
		},
	}
}

func noPast(m *tui.Model) bool { return m.Past() == nil }

// sharedState is the state that pages about time share. It outlives the pages.
type sharedState struct {
	lanes *lanes // nil until the first lanes are ready
	busy  bool   // lanes are being sorted
}

func keys() []tui.Binding {
	return []tui.Binding{
		{
			Action: tui.ActLeft, Keys: []string{"left", "h"}, In: InTimeline, Group: tui.GroupTime, Hint: "event",
			Doc: "Go to the previous event in the lane.", Weight: 90,
		},
		{
			Action: tui.ActRight, Keys: []string{"right", "l"}, In: InTimeline, Group: tui.GroupTime, Hint: "",
			Doc: "Go to the next event in the lane.", Weight: 0,
		},
		{
			Action: tui.ActOpen, Keys: []string{"enter"}, In: InTimeline, Group: tui.GroupTime, Hint: "open",
			Doc: "Open the event's object as of that time.", Weight: 100,
		},
		{
			Action: tui.ActZoomIn, Keys: []string{"+"}, In: InTimeline, Group: tui.GroupTime, Hint: "zoom",
			Doc: "Zoom in around the event.", Weight: 88,
		},
		{
			Action: tui.ActZoomOut, Keys: []string{"-"}, In: InTimeline, Group: tui.GroupTime, Hint: "",
			Doc: "Zoom out.", Weight: 0,
		},
		{
			Action: tui.ActFilter, Keys: []string{"/"}, In: InTimeline, Group: tui.GroupTime, Hint: "filter",
			Doc: "Show only lanes and events that contain the text.", Weight: 80,
		},
		{
			Action: tui.ActTopTable, Keys: []string{"v"}, In: InTimeline, Group: tui.GroupTime, Hint: "events",
			Doc: "The events of the lane as a list.", Weight: 84,
		},
		{
			Action: tui.ActCopyRow, Keys: []string{"y"}, In: InTimeline, Group: tui.GroupTime, Hint: "copy",
			Doc: "Copy the event.", Weight: 25,
		},
	}
}
