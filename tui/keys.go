package tui

import (
	"slices"
)

// Binding is an entry of the key map, which is the only place that binds keys.
type Binding struct {
	Action Action
	// Keys are named as by tea.KeyPressMsg.String. The first one is displayed.
	Keys  []string
	In    Scope
	Group string
	Hint  string // the word in the footer, "" if it is never there
	Doc   string // a sentence for help
	// Weight orders the footer: the highest first.
	Weight int
}

// Groups of keys in the help, in their order.
const (
	GroupFollow   = "Open and navigate"
	GroupProfiles = "Profiles"
	GroupReplays  = "Replays"
	GroupFind     = "Filter and arrange"
	GroupCopy     = "Copy and save"
	GroupMove     = "Move"
	GroupTime     = "Time"
	GroupGo       = "Go to"
	GroupApp      = "Program"
	GroupType     = "While typing"
	GroupMenu     = "In a menu"
)

// keyMap returns the key map that footer, help and input use.
func keyMap(kinds []PageKind) []Binding {
	all := slices.Concat(moveKeys(), followKeys(), findKeys(), copyKeys(), timeKeys(), goKeys(), appKeys(), typeKeys())
	for _, k := range kinds {
		all = append(all, k.Keys...)
	}
	groups := []string{
		GroupFollow, GroupProfiles, GroupReplays, GroupFind, GroupCopy, GroupGo, GroupTime, GroupApp, GroupMove,
		GroupType, GroupMenu,
	}
	slices.SortStableFunc(all, func(a, b Binding) int {
		return slices.Index(groups, a.Group) - slices.Index(groups, b.Group)
	})
	return all
}

func moveKeys() []Binding {
	return []Binding{
		{ActUp, []string{"up", "k"}, InPages | InMenu, GroupMove, "", "Up one row or line.", 0},
		{ActDown, []string{"down", "j"}, InPages | InMenu, GroupMove, "", "Down one row or line.", 0},
		{ActPageUp, []string{"pgup", "ctrl+b"}, InPages | InMenu, GroupMove, "", "Up one page.", 0},
		{ActPageDown, []string{"pgdown", "ctrl+f"}, InPages | InMenu, GroupMove, "", "Down one page.", 0},
		{ActHalfUp, []string{"ctrl+u"}, InPages | InMenu, GroupMove, "", "Up half a page.", 0},
		{ActHalfDown, []string{"ctrl+d"}, InPages | InMenu, GroupMove, "", "Down half a page.", 0},
		{ActTop, []string{"home", "g"}, InPages | InMenu, GroupMove, "", "Go to the first row or line.", 0},
		{ActBottom, []string{"end", "G"}, InPages | InMenu, GroupMove, "", "Go to the last row or line.", 0},
		{
			ActLeft,
			[]string{"left", "h"},
			InTables | InDiff | InDetail | InTop | InProfiles, GroupMove, "",
			"Scroll left.", 0,
		},
		{
			ActRight,
			[]string{"right", "l"},
			InTables | InDiff | InDetail | InTop | InProfiles, GroupMove, "",
			"Scroll right, to columns that do not fit.", 0,
		},
		{ActLeft, []string{"left", "h"}, InTree, GroupMove, "", "Fold, or go to the parent.", 0},
		{ActRight, []string{"right", "l"}, InTree, GroupMove, "expand", "Expand, or go to the first child.", 60},
	}
}

func followKeys() []Binding {
	return []Binding{
		{
			ActOpen,
			[]string{"enter"},
			InTables | InTree | InDiff, GroupFollow, "open",
			"Open the object: collection, segments, indexes of segments.", 100,
		},
		{
			ActOpen,
			[]string{"enter"},
			InBalance, GroupFollow, "open",
			"Open the replica, or the node or segment of a move.", 100,
		},
		{ActOpen, []string{"enter"}, InMenu, GroupMenu, "choose", "Choose.", 100},
		{ActBack, []string{"esc"}, InMenu, GroupMenu, "close", "Close the menu.", 90},
		{
			ActBack,
			[]string{"esc", "["},
			InPages, GroupFollow, "back",
			"Clear the filter, then go back to the previous page.", 20,
		},
		{ActForward, []string{"]"}, InPages, GroupFollow, "", "Go forward again.", 0},
		{
			ActDescribe,
			[]string{"d"},
			InGrid | InTree | InDiff | InBalance, GroupFollow, "describe",
			"Describe the object: fields, parts and decoded records.", 90,
		},
		{
			ActOwner,
			[]string{"o"},
			InGrid | InDetail | InDiff | InTree | InBalance, GroupFollow, "owner",
			"Go to the owner.", 50,
		},
		{
			ActRelated,
			[]string{"r"},
			InGrid | InDetail | InDiff | InTree | InFindings | InBalance, GroupFollow, "related",
			"Choose a related object.", 55,
		},
		{
			ActTree,
			[]string{"t"},
			InGrid | InDetail | InDiff | InBalance, GroupFollow, "tree",
			"Show the tree of the object's collection.", 45,
		},
		{
			ActGoFindings,
			[]string{"f"},
			InPages &^ InHelp, GroupFollow, "findings",
			"Findings about the object, or else all; press again for all.", 17,
		},
	}
}

func findKeys() []Binding {
	return []Binding{
		{
			ActFilter,
			[]string{"/"},
			InTables | InDiff | InTree, GroupFind, "filter",
			"Filter as you type: text, re:REGEX, !not, col=value, col>n.", 80,
		},
		{ActFilter, []string{"/"}, InFindings, GroupFind, "filter", "Show only findings that contain the text.", 60},
		{ActFilter, []string{"/"}, InDetail | InExplain, GroupFind, "search", "Search the text.", 80},
		{ActFilter, []string{"/"}, InHelp, GroupFind, "search", "Search the help.", 80},
		{ActSearchNext, []string{"n"}, InDetail | InExplain | InHelp, GroupFind, "next", "Next match.", 40},
		{ActSearchPrevious, []string{"N"}, InDetail | InExplain | InHelp, GroupFind, "", "Previous match.", 0},
		{
			ActSort,
			[]string{"S"},
			InTables | InDiff, GroupFind, "sort",
			"Choose the column to sort by; the same column again reverses.", 35,
		},
		{ActSortPrevious, []string{"<"}, InTables | InDiff, GroupFind, "", "Sort by the column to the left.", 0},
		{ActSortNext, []string{">"}, InTables | InDiff, GroupFind, "", "Sort by the column to the right.", 0},
		{
			ActAll,
			[]string{"a"},
			InGrid | InTree, GroupFind, "all",
			"Show or hide rows hidden by default, e.g. dropped segments.", 14,
		},
		{ActWide, []string{"w"}, InGrid, GroupFind, "wide", "Show or hide the columns of the wide table.", 15},
		{
			ActBy,
			[]string{"b"},
			InDiff, GroupFind, "compare with",
			"Compare with the last refresh or the start; in the past: now or the state before.", 60,
		},
	}
}

func copyKeys() []Binding {
	return []Binding{
		{
			ActCopyRow,
			[]string{"y"},
			InTables | InDetail | InDiff | InTree | InExplain | InBalance, GroupCopy, "copy",
			"Copy the row, or the page's text.", 25,
		},
		{
			ActCopyMenu,
			[]string{"Y"},
			InPages &^ InHelp, GroupCopy, "copy as",
			"Copy the table as TSV, the ids, or the command that prints it.", 22,
		},
		{
			ActSave,
			[]string{"s"},
			InTables | InDetail | InDiff | InTree | InFindings, GroupCopy, "save",
			"Save to a file, as JSON, CSV or text; findings as Markdown. Asks for the path.", 18,
		},
	}
}

func timeKeys() []Binding {
	return []Binding{
		{ActEarlier, []string{","}, InPages, GroupTime, "earlier", "Step back one event.", 62},
		{ActLater, []string{"."}, InPages, GroupTime, "later", "Step forward one event.", 98},
		{
			ActAt,
			[]string{"@"},
			InPages, GroupTime, "",
			"Go to a time, in the format of --at: 10m, 2d, 09:14, rev:24519.", 0,
		},
		{ActLive, []string{"L"}, InPages, GroupTime, "now", "Go to the newest state, live if the source is.", 99},
	}
}

func appKeys() []Binding {
	return []Binding{
		{
			ActPalette,
			[]string{":"},
			InPages, GroupApp, "jump",
			"Open a page or an object by name: a resource with selector words, a collection, a node, an id; `:q` " +
				"quits.",
			97,
		},
		{ActHelp, []string{"?"}, InPages, GroupApp, "help", "Show the keys of this page; press again to go back.", 96},
		{ActHome, []string{"H"}, InPages, GroupApp, "", "Go to the first page: the overview.", 0},
		{ActSuspend, []string{"ctrl+z"}, InPages, GroupApp, "", "Suspend; fg resumes.", 0},
		{ActRedraw, []string{"ctrl+l"}, InPages, GroupApp, "", "Redraw the screen.", 0},
		{
			ActQuit,
			[]string{"q", "ctrl+c"},
			InPages, GroupApp, "",
			"Quit; while a replay runs: stop it, and show the results so far.", 0,
		},
		{ActQuit, []string{"ctrl+c"}, InPrompt | InMenu, GroupApp, "", "Quit, from anywhere.", 0},
	}
}

func typeKeys() []Binding {
	return []Binding{
		{ActOpen, []string{"enter"}, InPrompt, GroupType, "accept", "Accept.", 100},
		{ActBack, []string{"esc"}, InPrompt, GroupType, "cancel", "Cancel, and undo the changes to the filter.", 90},
		{ActNextPart, []string{"tab"}, InPrompt, GroupType, "complete", "Complete with the suggestion.", 80},
		{ActUp, []string{"up", "ctrl+p"}, InPrompt, GroupType, "", "Previous suggestion.", 0},
		{ActDown, []string{"down", "ctrl+n"}, InPrompt, GroupType, "", "Next suggestion.", 0},
		{ActLeft, []string{"left"}, InPrompt, GroupType, "", "One character left.", 0},
		{ActRight, []string{"right"}, InPrompt, GroupType, "", "One character right.", 0},
		{ActTop, []string{"home", "ctrl+a"}, InPrompt, GroupType, "", "Go to the start of the line.", 0},
		{ActBottom, []string{"end", "ctrl+e"}, InPrompt, GroupType, "", "Go to the end of the line.", 0},
		{
			ActBackspace,
			[]string{"backspace"},
			InPrompt, GroupType, "",
			"Delete the previous character; on an empty line: cancel.", 0,
		},
		{ActDelete, []string{"delete"}, InPrompt, GroupType, "", "Delete the character under the cursor.", 0},
		{ActDeleteWord, []string{"ctrl+w", "alt+backspace"}, InPrompt, GroupType, "", "Delete the previous word.", 0},
		{ActDeleteAll, []string{"ctrl+k"}, InPrompt, GroupType, "", "Delete the line.", 0},
	}
}
