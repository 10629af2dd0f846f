package profiles

import "kitescope/tui"

// profileKeys returns the key bindings of the profile pages.
func profileKeys() []tui.Binding { //nolint:funlen // a table
	const tables = tui.InTop | tui.InProfiles
	return []tui.Binding{
		{
			Action: tui.ActLeft, Keys: []string{"left", "h"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "",
			Doc: "Go to the frame on the left in the same row.", Weight: 0,
		},
		{
			Action: tui.ActRight, Keys: []string{"right", "l"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "",
			Doc: "Go to the frame on the right in the same row.", Weight: 0,
		},
		{
			Action: tui.ActOpen, Keys: []string{"enter"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "zoom",
			Doc: "Zoom: the frame fills the width.", Weight: 100,
		},
		{
			Action: tui.ActBackspace, Keys: []string{"backspace"}, In: tui.InFlame, Group: tui.GroupProfiles,
			Hint: "out", Doc: "Zoom out one step.", Weight: 92,
		},
		{
			Action: tui.ActReset, Keys: []string{"u"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "",
			Doc: "Show everything: no zoom, no search.", Weight: 0,
		},
		{
			Action: tui.ActFilter, Keys: []string{"/"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "search",
			Doc: "Search names as you type: text or a regular expression, ignoring case.", Weight: 91,
		},
		{
			Action: tui.ActSearchNext, Keys: []string{"n"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "next",
			Doc: "Go to the next match; zooms in or out to show it.", Weight: 88,
		},
		{
			Action: tui.ActSearchPrevious, Keys: []string{"N"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "",
			Doc: "Go to the previous match.", Weight: 0,
		},
		{
			Action: tui.ActSandwich, Keys: []string{"c"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "callers",
			Doc: "Sandwich: callers of the function above, callees below; press again to go back.", Weight: 86,
		},
		{
			Action: tui.ActInvert, Keys: []string{"i"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "invert",
			Doc: "Invert: start at the running functions, callers follow.", Weight: 80,
		},
		{
			Action: tui.ActNodes, Keys: []string{"A"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "by node",
			Doc: "Split by node, or merge all nodes.", Weight: 78,
		},
		{
			Action: tui.ActBy, Keys: []string{"b"}, In: tui.InFlame | tui.InTop, Group: tui.GroupProfiles, Hint: "by",
			Doc: "Group by: function, package, mapping, class, file, line; in tables also by node.", Weight: 60,
		},
		{
			Action: tui.ActKind, Keys: []string{"K"}, In: tui.InFlame | tui.InTop, Group: tui.GroupProfiles, Hint: "",
			Doc: "The next sample type: cpu, samples; inuse_space, alloc_objects.", Weight: 0,
		},
		{
			Action: tui.ActNormalize, Keys: []string{"%"}, In: tui.InFlame | tui.InTop, Group: tui.GroupProfiles,
			Hint: "", Doc: "Normalize a comparison: the new profile is scaled to the total of the base.", Weight: 0,
		},
		{
			Action: tui.ActSave, Keys: []string{"s"}, In: tui.InFlame, Group: tui.GroupProfiles, Hint: "save",
			Doc: "Save the graph as a self-contained HTML file, or the profile. Asks for the path.", Weight: 58,
		},
		{
			Action: tui.ActOpen, Keys: []string{"enter"}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "flame",
			Doc: "Flame graph of the profile, or of all marked profiles, split by node.", Weight: 100,
		},
		{
			Action: tui.ActOpen, Keys: []string{"enter"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "callers",
			Doc: "Flame graph of the function: callers above, callees below; for a node: its table.", Weight: 100,
		},
		{
			Action: tui.ActTopTable, Keys: []string{"v"}, In: tui.InFlame | tui.InProfiles, Group: tui.GroupProfiles,
			Hint: "table", Doc: "Table of where the time goes: flat and cum.", Weight: 82,
		},
		{
			Action: tui.ActFlame, Keys: []string{"z"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "flame",
			Doc: "Flame graph of the function, or of the node.", Weight: 90,
		},
		{
			Action: tui.ActPull, Keys: []string{"P"}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "profile now",
			Doc: "Profile all processes over the same window; esc cancels.", Weight: 94,
		},
		{
			Action: tui.ActMark, Keys: []string{"space"}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "mark",
			Doc: "Mark the profile, to merge or compare it.", Weight: 70,
		},
		{
			Action: tui.ActCompare, Keys: []string{"="}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "compare",
			Doc: "Compare two marked rows; the one marked first is the base.", Weight: 68,
		},
		{
			Action: tui.ActJudge, Keys: []string{"J"}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "judge",
			Doc:    "Judge whether a build with PGO is worth it, from the marked or else all CPU profiles shown.",
			Weight: 64,
		},
		{
			Action: tui.ActFilter, Keys: []string{"/"}, In: tables, Group: tui.GroupProfiles, Hint: "filter",
			Doc: "Show only rows that contain the text.", Weight: 80,
		},
		{
			Action: tui.ActSortPrevious, Keys: []string{"<"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "",
			Doc: "Sort by the column to the left.", Weight: 0,
		},
		{
			Action: tui.ActSortNext, Keys: []string{">"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "",
			Doc: "Sort by the column to the right.", Weight: 0,
		},
		{
			Action: tui.ActSort, Keys: []string{"S"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "sort",
			Doc: "Choose the column to sort by; the same column again reverses.", Weight: 35,
		},
		{
			Action: tui.ActCopyRow, Keys: []string{"y"}, In: tui.InFlame | tables, Group: tui.GroupProfiles,
			Hint: "copy", Doc: "Copy the frame with its path and figures, or the row.", Weight: 25,
		},
		{
			Action: tui.ActSave, Keys: []string{"s"}, In: tui.InProfiles, Group: tui.GroupProfiles, Hint: "save",
			Doc: "Save the profile, or the marked ones merged, for `go tool pprof` and kitescope profile.", Weight: 66,
		},
		{
			Action: tui.ActSave, Keys: []string{"s"}, In: tui.InTop, Group: tui.GroupProfiles, Hint: "save",
			Doc: "Save the table to a file: JSON, CSV, Markdown.", Weight: 18,
		},
		{
			Action: tui.ActCopyRow, Keys: []string{"y"}, In: tui.InReport, Group: tui.GroupProfiles, Hint: "copy",
			Doc: "Copy the report.", Weight: 25,
		},
		{
			Action: tui.ActSave, Keys: []string{"s"}, In: tui.InReport, Group: tui.GroupProfiles, Hint: "save",
			Doc: "Save the report to a file: JSON, CSV, Markdown.", Weight: 18,
		},
	}
}
