package replays

import "kitescope/tui"

// replayKeys are what pages about replays have of their own.
func replayKeys() []tui.Binding {
	const both = tui.InReplay | tui.InReplayRow
	return []tui.Binding{
		{Action: tui.ActNextPart, Keys: []string{"tab"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "next part", Doc: "The next part: overview, points, charts, costs, slowest requests, what is missing, what-if, changes.", Weight: 95},
		{Action: tui.ActPreviousPart, Keys: []string{"shift+tab"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "", Doc: "The part before.", Weight: 0},
		{Action: tui.ActOpen, Keys: []string{"enter"}, In: both, Group: tui.GroupReplays, Hint: "open", Doc: "Into the request: its segments; into the segment: what it costs; into the change: its nodes.", Weight: 100},
		{Action: tui.ActLeft, Keys: []string{"left", "h"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "", Doc: "The chart before; in tables: scroll left.", Weight: 0},
		{Action: tui.ActRight, Keys: []string{"right", "l"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "more", Doc: "The next chart; in tables: scroll right.", Weight: 92},
		{Action: tui.ActLeft, Keys: []string{"left", "h"}, In: tui.InReplayRow, Group: tui.GroupReplays, Hint: "previous", Doc: "The request, segment or change before.", Weight: 90},
		{Action: tui.ActRight, Keys: []string{"right", "l"}, In: tui.InReplayRow, Group: tui.GroupReplays, Hint: "next", Doc: "The next request, segment or change.", Weight: 92},
		{Action: tui.ActFilter, Keys: []string{"/"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "filter", Doc: "Only rows in which the text occurs.", Weight: 80},
		{Action: tui.ActSortPrevious, Keys: []string{"<"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "", Doc: "Sort by the column to the left.", Weight: 0},
		{Action: tui.ActSortNext, Keys: []string{">"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "", Doc: "Sort by the column to the right.", Weight: 0},
		{Action: tui.ActSort, Keys: []string{"S"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "sort", Doc: "Choose the column to sort by; the same column again reverses.", Weight: 35},
		{Action: tui.ActCopyRow, Keys: []string{"y"}, In: both, Group: tui.GroupReplays, Hint: "copy", Doc: "Copy the row, or the page's text.", Weight: 25},
		{Action: tui.ActSave, Keys: []string{"s"}, In: both, Group: tui.GroupReplays, Hint: "save", Doc: "Save to a file, and ask where: the table as shown, the result as JSON, a report, a plot.", Weight: 30},
	}
}
