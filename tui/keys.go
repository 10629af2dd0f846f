package tui

import (
	"slices"

	"kitescope/sorting"
)

// Action is what a key does. The key map below is the only place that binds keys.
type Action int

// Actions of the UI; a page knows those of its keys.
const (
	ActNone Action = iota
	ActQuit
	ActBack
	ActForward
	ActPalette
	ActHelp
	ActPause
	ActHome
	ActSuspend
	ActRedraw

	ActEarlier
	ActLater
	ActMinuteEarlier
	ActMinuteLater
	ActAt
	ActLive
	ActMoment
	ActGoTimeline

	ActUp
	ActDown
	ActPageUp
	ActPageDown
	ActHalfUp
	ActHalfDown
	ActTop
	ActBottom
	ActLeft
	ActRight

	ActOpen
	ActDescribe
	ActOwner
	ActRelated
	ActTree
	ActFilter
	ActSortPrevious
	ActSortNext
	ActSortReverse
	ActWide
	ActColumns
	ActMark
	ActMarkRange
	ActCompare
	ActCopyRow
	ActCopyMenu
	ActSave

	ActSearchNext
	ActSearchPrevious
	ActExpandAll
	ActCollapseAll
	ActExpand
	ActExplain
	ActBaseline
	ActSetBaseline

	ActGoCollections
	ActGoSegments
	ActGoNodes
	ActGoVChannels
	ActGoIndexes
	ActGoTasks
	ActGoUndecoded
	ActGoKeys
	ActGoDiff
	ActGoFindings
	ActGoBalance

	ActHeat
	ActBy
	ActExportPlan

	ActGoProfiles
	ActFlame
	ActTopTable
	ActPull
	ActSandwich
	ActInvert
	ActNodes
	ActKind
	ActVanished
	ActRelative
	ActNormalize
	ActFlip
	ActReset
	ActZoomIn
	ActZoomOut
	ActJudge
	ActControl

	ActNextPart
	ActPreviousPart

	ActAccept
	ActComplete
	ActCompleteBack
	ActPrevious
	ActNext
	ActCursorLeft
	ActCursorRight
	ActCursorHome
	ActCursorEnd
	ActDeleteBack
	ActDelete
	ActDeleteWord
	ActDeleteAll
)

// Binding is one line of the key map.
type Binding struct {
	Action Action
	Keys   []string // as tea.KeyPressMsg.String has them; the first is shown
	In     Scope
	Group  string
	Hint   string // the word in the footer, "" if it is never there
	Doc    string // a sentence for help
	// Weight orders the footer: the highest first.
	Weight int
}

// Groups of keys in the help, in their order.
const (
	GroupMove     = "Move"
	GroupFollow   = "Follow"
	GroupFind     = "Find and arrange"
	GroupTake     = "Take away"
	GroupProfiles = "Profiles"
	GroupReplays  = "Replays"
	GroupTime     = "Time"
	GroupGo       = "Go to"
	GroupApp      = "Program"
	GroupType     = "While typing"
	GroupMenu     = "In a menu"
)

// keyMap returns the key map: footer, help and input all come from it.
func keyMap(kinds []PageKind) []Binding {
	all := slices.Concat(moveKeys(), followKeys(), findKeys(), takeKeys(), timeKeys(), goKeys(), appKeys(), typeKeys(), menuKeys())
	for _, k := range kinds {
		all = append(all, k.Keys...)
	}
	groups := []string{GroupMove, GroupFollow, GroupProfiles, GroupReplays, GroupFind, GroupTake, GroupTime, GroupGo, GroupApp, GroupType, GroupMenu}
	sorting.Stable(all, func(a, b Binding) int { return slices.Index(groups, a.Group) - slices.Index(groups, b.Group) })
	return all
}

func moveKeys() []Binding {
	return []Binding{
		{ActUp, []string{"up", "k"}, InPages, GroupMove, "", "Up one row or line.", 0},
		{ActDown, []string{"down", "j"}, InPages, GroupMove, "", "Down one row or line.", 0},
		{ActPageUp, []string{"pgup", "ctrl+b"}, InPages, GroupMove, "", "Up one page.", 0},
		{ActPageDown, []string{"pgdown", "ctrl+f"}, InPages, GroupMove, "", "Down one page.", 0},
		{ActHalfUp, []string{"ctrl+u"}, InPages, GroupMove, "", "Up half a page.", 0},
		{ActHalfDown, []string{"ctrl+d"}, InPages, GroupMove, "", "Down half a page.", 0},
		{ActTop, []string{"home", "g"}, InPages, GroupMove, "", "To the first row or line.", 0},
		{ActBottom, []string{"end", "G"}, InPages, GroupMove, "", "To the last row or line.", 0},
		{ActLeft, []string{"left", "h"}, InTables | InDiff | InDetail | InTop | InProfiles | InCompare, GroupMove, "", "Scroll left.", 0},
		{ActRight, []string{"right", "l"}, InTables | InDiff | InDetail | InTop | InProfiles | InCompare, GroupMove, "", "Scroll right: columns that did not fit.", 0},
		{ActLeft, []string{"left", "h"}, InTree, GroupMove, "", "Collapse, or go to the parent.", 0},
		{ActRight, []string{"right", "l"}, InTree, GroupMove, "expand", "Expand, or go to the first child.", 60},
		{ActRight, []string{"right", "l"}, InFindings, GroupMove, "evidence", "Show the evidence, and what to do.", 70},
		{ActLeft, []string{"left", "h"}, InFindings, GroupMove, "", "Hide the evidence, or go to the cause.", 0},
		{ActExpand, []string{"space"}, InFindings, GroupMove, "", "Show or hide the evidence.", 0},
	}
}

func followKeys() []Binding {
	return []Binding{
		{ActOpen, []string{"enter"}, InTables | InTree | InDiff, GroupFollow, "open", "Go into the object: collection, segments, indexes of segments.", 100},
		{ActOpen, []string{"enter"}, InBalance, GroupFollow, "open", "Go into the replica; to the node or the segment of a move.", 100},
		{ActOpen, []string{"enter"}, InFindings, GroupFollow, "object", "Go to the object of the finding.", 100},
		{ActExplain, []string{"e"}, InFindings, GroupFollow, "explain", "Explain the check: what it looks at, what to do.", 85},
		{ActBack, []string{"esc", "["}, InPages, GroupFollow, "back", "Clear filter and marks, then back to the page before.", 20},
		{ActBack, []string{"?"}, InHelp, GroupFollow, "", "Close this help.", 0},
		{ActForward, []string{"]"}, InPages, GroupFollow, "", "Forward again, after back.", 0},
		{ActDescribe, []string{"d"}, InGrid | InTree | InDiff | InBalance, GroupFollow, "describe", "Everything about the object: fields, parts and decoded records.", 90},
		{ActOwner, []string{"o"}, InGrid | InDetail | InDiff | InTree | InFindings | InBalance, GroupFollow, "owner", "To what the object belongs to.", 50},
		{ActRelated, []string{"r"}, InGrid | InDetail | InDiff | InTree | InFindings | InBalance, GroupFollow, "related", "Choose from what is related to the object.", 55},
		{ActTree, []string{"x"}, InGrid | InDetail | InDiff | InFindings | InBalance, GroupFollow, "tree", "Tree of the object's collection.", 45},
	}
}

func findKeys() []Binding {
	return []Binding{
		{ActFilter, []string{"/"}, InTables | InDiff | InTree, GroupFind, "filter", "Filter as you type: text, re:REGEX, !not, col=value, col>n.", 80},
		{ActFilter, []string{"/"}, InFindings, GroupFind, "filter", "Only findings in which the text occurs.", 60},
		{ActFilter, []string{"/"}, InDetail | InExplain, GroupFind, "search", "Search the text.", 80},
		{ActFilter, []string{"/"}, InHelp, GroupFind, "search", "Search the help.", 80},
		{ActSearchNext, []string{"n"}, InDetail | InExplain, GroupFind, "next", "Next match.", 40},
		{ActSearchPrevious, []string{"N"}, InDetail | InExplain, GroupFind, "", "Previous match.", 0},
		{ActSortPrevious, []string{"<"}, InTables, GroupFind, "", "Sort by the column to the left.", 0},
		{ActSortNext, []string{">"}, InTables, GroupFind, "sort", "Sort by the column to the right.", 35},
		{ActSortReverse, []string{"S"}, InTables, GroupFind, "", "Reverse the order.", 0},
		{ActWide, []string{"w"}, InGrid, GroupFind, "wide", "Show or hide the columns of the wide table.", 15},
		{ActColumns, []string{"C"}, InGrid, GroupFind, "", "Choose columns.", 0},
		{ActExpandAll, []string{"e"}, InTree, GroupFind, "expand all", "Expand everything below the node.", 30},
		{ActCollapseAll, []string{"E"}, InTree, GroupFind, "", "Collapse everything below the node.", 0},
		{ActExpandAll, []string{"E"}, InFindings, GroupFind, "", "Show or hide the evidence of all.", 0},
		{ActBaseline, []string{"b"}, InDiff, GroupFind, "baseline", "Compare with: the last refresh, the start, the mark.", 60},
		{ActSetBaseline, []string{"B"}, InDiff, GroupFind, "set mark", "Set the mark to compare with: now.", 35},
	}
}

func takeKeys() []Binding {
	return []Binding{
		{ActMark, []string{"v"}, InGrid, GroupTake, "mark", "Mark the row, for copy, save and compare.", 12},
		{ActMarkRange, []string{"V"}, InGrid, GroupTake, "", "Mark all rows between the last mark and here.", 0},
		{ActCompare, []string{"="}, InGrid, GroupTake, "", "Compare two marked rows side by side.", 0},
		{ActCopyRow, []string{"y"}, InTables | InDetail | InDiff | InTree | InFindings | InExplain | InBalance, GroupTake, "copy", "Copy the row (marked rows, if any), or the page's text.", 25},
		{ActCopyMenu, []string{"Y"}, InPages&^InHelp | InBalance, GroupTake, "copy as", "Copy the table as TSV, the ids, or the command that prints it.", 22},
		{ActSave, []string{"s"}, InTables | InDetail | InDiff | InTree | InFindings, GroupTake, "save", "Save to a file: JSON, CSV or text; findings as Markdown.", 18},
	}
}

func goKeys() []Binding {
	return []Binding{
		{ActGoCollections, []string{"c", "enter"}, InOverview, GroupGo, "collections", "Collections.", 100},
		{ActGoSegments, []string{"s"}, InOverview, GroupGo, "segments", "Segments.", 95},
		{ActGoVChannels, []string{"v"}, InOverview, GroupGo, "vchannels", "VChannels with their checkpoints.", 85},
		{ActGoNodes, []string{"n"}, InOverview, GroupGo, "nodes", "Nodes.", 90},
		{ActGoIndexes, []string{"i"}, InOverview, GroupGo, "indexes", "Index definitions.", 75},
		{ActGoBalance, []string{"b"}, InOverview, GroupGo, "balance", "Balance: how evenly query nodes share the work.", 94},
		{ActGoFindings, []string{"f"}, InOverview, GroupGo, "findings", "Findings: what is wrong, and what to do.", 98},
		{ActGoProfiles, []string{"p"}, InOverview, GroupGo, "profiles", "Profiles: where the time goes.", 93},
		{ActGoProfiles, []string{"p"}, InPages &^ InOverview &^ InProfiles &^ InHelp, GroupGo, "profiles", "Profiles: where the time goes.", 16},
		{ActGoFindings, []string{"f"}, InPages &^ InOverview &^ InHelp, GroupGo, "findings", "Findings about the object, else all of them; there again: all.", 17},
		{ActGoTimeline, []string{"T"}, InPages &^ InFlame &^ InTop &^ InHelp, GroupGo, "timeline", "Timeline: what happened when.", 15},
		{ActGoTasks, []string{"t"}, InOverview, GroupGo, "", "Tasks: import, compaction, stats.", 0},
		{ActGoUndecoded, []string{"u"}, InOverview, GroupGo, "", "Keys that could not be decoded.", 0},
		{ActGoKeys, []string{"r"}, InOverview, GroupGo, "", "Raw keys, decoded on demand.", 0},
		{ActGoDiff, []string{"d"}, InOverview, GroupGo, "diff", "What changed since the last refresh.", 70},
	}
}

func timeKeys() []Binding {
	return []Binding{
		{ActEarlier, []string{","}, InPages, GroupTime, "earlier", "Back in time: the state after the event before.", 62},
		{ActLater, []string{"."}, InPages, GroupTime, "later", "On: the state after the next event.", 98},
		{ActMinuteEarlier, []string{"("}, InPages, GroupTime, "", "Back in time by a minute.", 0},
		{ActMinuteLater, []string{")"}, InPages, GroupTime, "", "On by a minute.", 0},
		{ActAt, []string{"@"}, InPages, GroupTime, "", "To a moment, as --at takes it: 09:14, -5m, -2d, rev:24519.", 0},
		{ActLive, []string{"L"}, InPages, GroupTime, "now", "To the newest state, live where the source is.", 99},
		{ActPause, []string{"space"}, InPages &^ InFindings, GroupTime, "", "Stop and go on: the screen keeps its data; in the past, have events follow each other.", 0},
	}
}

func appKeys() []Binding {
	return []Binding{
		{ActPalette, []string{":"}, InPages, GroupApp, "jump", "Jump to any page: a resource, an alias, selector words; `:q` quits.", 97},
		{ActHelp, []string{"?"}, InPages &^ InHelp, GroupApp, "help", "This help.", 96},
		{ActHome, []string{"H"}, InPages &^ InOverview, GroupApp, "", "To the overview.", 0},
		{ActSuspend, []string{"ctrl+z"}, InPages, GroupApp, "", "Suspend; fg comes back.", 0},
		{ActRedraw, []string{"ctrl+l"}, InPages, GroupApp, "", "Draw the screen anew.", 0},
		{ActQuit, []string{"q", "ctrl+c"}, InPages, GroupApp, "", "Quit; while a replay measures: stop it, and show what was done.", 0},
		{ActQuit, []string{"ctrl+c"}, InPrompt | InMenu, GroupApp, "", "Quit, from anywhere.", 0},
	}
}

func typeKeys() []Binding {
	return []Binding{
		{ActAccept, []string{"enter"}, InPrompt, GroupType, "accept", "Accept.", 100},
		{ActBack, []string{"esc"}, InPrompt, GroupType, "cancel", "Cancel: a filter is taken away again.", 90},
		{ActComplete, []string{"tab"}, InPrompt, GroupType, "complete", "Complete with the suggestion.", 80},
		{ActCompleteBack, []string{"shift+tab"}, InPrompt, GroupType, "", "The suggestion before.", 0},
		{ActPrevious, []string{"up", "ctrl+p"}, InPrompt, GroupType, "", "The suggestion above; in the filter: up one row.", 0},
		{ActNext, []string{"down", "ctrl+n"}, InPrompt, GroupType, "", "The suggestion below; in the filter: down one row.", 0},
		{ActCursorLeft, []string{"left"}, InPrompt, GroupType, "", "Left.", 0},
		{ActCursorRight, []string{"right"}, InPrompt, GroupType, "", "Right.", 0},
		{ActCursorHome, []string{"home", "ctrl+a"}, InPrompt, GroupType, "", "To the start of the line.", 0},
		{ActCursorEnd, []string{"end", "ctrl+e"}, InPrompt, GroupType, "", "To the end of the line.", 0},
		{ActDeleteBack, []string{"backspace"}, InPrompt, GroupType, "", "Delete the character before; on an empty line: cancel.", 0},
		{ActDelete, []string{"delete"}, InPrompt, GroupType, "", "Delete the character under the cursor.", 0},
		{ActDeleteWord, []string{"ctrl+w", "alt+backspace"}, InPrompt, GroupType, "", "Delete the word before.", 0},
		{ActDeleteAll, []string{"ctrl+u"}, InPrompt, GroupType, "", "Delete everything before the cursor.", 0},
	}
}

func menuKeys() []Binding {
	return []Binding{
		{ActAccept, []string{"enter"}, InMenu, GroupMenu, "choose", "Choose; in the list of columns: show or hide.", 100},
		{ActBack, []string{"esc", "q"}, InMenu, GroupMenu, "close", "Close.", 90},
		{ActPrevious, []string{"up", "shift+tab"}, InMenu, GroupMenu, "", "Up.", 0},
		{ActNext, []string{"down", "tab"}, InMenu, GroupMenu, "", "Down.", 0},
	}
}

// keys looks bindings up by scope and key.
type keys struct {
	all []Binding
}

func newKeys(kinds []PageKind) *keys { return &keys{all: keyMap(kinds)} }

// find returns the action that key has in the scope.
func (k *keys) find(in Scope, key string) (Action, bool) {
	for i := range k.all {
		b := &k.all[i]
		if b.In&in != 0 && slices.Contains(b.Keys, key) {
			return b.Action, true
		}
	}
	return ActNone, false
}

// elsewhere returns the binding of a key that has no meaning in the scope, but in others.
func (k *keys) elsewhere(in Scope, key string) (Binding, bool) {
	for _, b := range k.all {
		if b.In&in == 0 && b.In&InPages != 0 && slices.Contains(b.Keys, key) {
			return b, true
		}
	}
	return Binding{}, false
}

// hints returns the bindings that the footer may show in the scope, most important first.
func (k *keys) hints(in Scope) []Binding {
	var hints []Binding
	for _, b := range k.all {
		if b.In&in != 0 && b.Hint != "" {
			hints = append(hints, b)
		}
	}
	sorting.Stable(hints, func(a, b Binding) int { return b.Weight - a.Weight })
	return hints
}

// inOrder sorts bindings as the key map has them.
func (k *keys) inOrder(list []Binding) {
	at := func(b Binding) int {
		return slices.IndexFunc(k.all, func(x Binding) bool {
			return x.Action == b.Action && x.In == b.In && slices.Equal(x.Keys, b.Keys)
		})
	}
	sorting.Stable(list, func(a, b Binding) int { return at(a) - at(b) })
}

// shown is a key as people know it.
func shown(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgdown":
		return "pgdn"
	}
	return key
}
