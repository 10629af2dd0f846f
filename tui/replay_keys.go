package tui

// replayKeys are what pages about replays have of their own.
func replayKeys() []binding {
	const both = inReplay | inReplayRow
	return []binding{
		{actNextPart, []string{"tab"}, inReplay, groupReplay, "next part", "The next part: overview, points, charts, costs, slowest requests, what is missing, what-if, changes.", 95},
		{actPreviousPart, []string{"shift+tab"}, inReplay, groupReplay, "", "The part before.", 0},
		{actOpen, []string{"enter"}, both, groupReplay, "open", "Into the request: its segments; into the segment: what it costs; into the change: its nodes.", 100},
		{actLeft, []string{"left", "h"}, inReplay, groupReplay, "", "The chart before; in tables: scroll left.", 0},
		{actRight, []string{"right", "l"}, inReplay, groupReplay, "more", "The next chart; in tables: scroll right.", 92},
		{actLeft, []string{"left", "h"}, inReplayRow, groupReplay, "previous", "The request, segment or change before.", 90},
		{actRight, []string{"right", "l"}, inReplayRow, groupReplay, "next", "The next request, segment or change.", 92},
		{actFilter, []string{"/"}, inReplay, groupReplay, "filter", "Only rows in which the text occurs.", 80},
		{actSortPrevious, []string{"<"}, inReplay, groupReplay, "", "Sort by the column to the left.", 0},
		{actSortNext, []string{">"}, inReplay, groupReplay, "sort", "Sort by the column to the right.", 35},
		{actSortReverse, []string{"S"}, inReplay, groupReplay, "", "Reverse the order.", 0},
		{actCopyRow, []string{"y"}, both, groupReplay, "copy", "Copy the row, or the page's text.", 25},
		{actSave, []string{"s"}, both, groupReplay, "save", "Save to a file: the table as shown, the result as JSON, a report, a plot.", 30},
	}
}
