package tui

import "slices"

// action is what a key does. The key map below is the only place that binds keys.
type action int

const (
	actNone action = iota
	actQuit
	actBack
	actForward
	actPalette
	actHelp
	actPause
	actHome
	actSuspend
	actRedraw

	actUp
	actDown
	actPageUp
	actPageDown
	actHalfUp
	actHalfDown
	actTop
	actBottom
	actLeft
	actRight

	actOpen
	actDescribe
	actOwner
	actRelated
	actTree
	actFilter
	actSortPrevious
	actSortNext
	actSortReverse
	actWide
	actColumns
	actMark
	actMarkRange
	actCompare
	actCopyRow
	actCopyMenu
	actSave

	actSearchNext
	actSearchPrevious
	actExpandAll
	actCollapseAll
	actExpand
	actExplain
	actBaseline
	actSetBaseline

	actGoCollections
	actGoSegments
	actGoNodes
	actGoVChannels
	actGoIndexes
	actGoTasks
	actGoUndecoded
	actGoKeys
	actGoDiff
	actGoFindings
	actGoBalance

	actHeat
	actBy
	actExportPlan

	actGoProfiles
	actFlame
	actTopTable
	actPull
	actSandwich
	actInvert
	actNodes
	actKind
	actVanished
	actRelative
	actNormalize
	actFlip
	actReset
	actZoomOut
	actJudge
	actControl

	actNextPart
	actPreviousPart

	actAccept
	actComplete
	actCompleteBack
	actPrevious
	actNext
	actCursorLeft
	actCursorRight
	actCursorHome
	actCursorEnd
	actDeleteBack
	actDelete
	actDeleteWord
	actDeleteAll
)

// binding is one line of the key map.
type binding struct {
	action action
	keys   []string // as tea.KeyPressMsg.String has them; the first is shown
	in     scope
	group  string
	hint   string // the word in the footer, "" if it is never there
	doc    string // a sentence for help
	// weight orders the footer: the highest first.
	weight int
}

const (
	groupMove   = "Move"
	groupFollow = "Follow"
	groupFind   = "Find and arrange"
	groupTake   = "Take away"
	groupFlame  = "Profiles"
	groupReplay = "Replays"
	groupGo     = "Go to"
	groupApp    = "Program"
	groupType   = "While typing"
	groupMenu   = "In a menu"
)

// keyMap returns the key map: footer, help and input all come from it.
func keyMap(kinds []PageKind) []binding {
	all := slices.Concat(moveKeys(), followKeys(), findKeys(), takeKeys(), goKeys(), appKeys(), typeKeys(), menuKeys())
	for _, k := range kinds {
		all = append(all, k.keys...)
	}
	groups := []string{groupMove, groupFollow, groupFlame, groupReplay, groupFind, groupTake, groupGo, groupApp, groupType, groupMenu}
	slices.SortStableFunc(all, func(a, b binding) int { return slices.Index(groups, a.group) - slices.Index(groups, b.group) })
	return all
}

func moveKeys() []binding {
	return []binding{
		{actUp, []string{"up", "k"}, inPages, groupMove, "", "Up one row or line.", 0},
		{actDown, []string{"down", "j"}, inPages, groupMove, "", "Down one row or line.", 0},
		{actPageUp, []string{"pgup", "ctrl+b"}, inPages, groupMove, "", "Up one page.", 0},
		{actPageDown, []string{"pgdown", "ctrl+f"}, inPages, groupMove, "", "Down one page.", 0},
		{actHalfUp, []string{"ctrl+u"}, inPages, groupMove, "", "Up half a page.", 0},
		{actHalfDown, []string{"ctrl+d"}, inPages, groupMove, "", "Down half a page.", 0},
		{actTop, []string{"home", "g"}, inPages, groupMove, "", "To the first row or line.", 0},
		{actBottom, []string{"end", "G"}, inPages, groupMove, "", "To the last row or line.", 0},
		{actLeft, []string{"left", "h"}, inTables | inDiff | inDetail | inTop | inProfiles | inCompare, groupMove, "", "Scroll left.", 0},
		{actRight, []string{"right", "l"}, inTables | inDiff | inDetail | inTop | inProfiles | inCompare, groupMove, "", "Scroll right: columns that did not fit.", 0},
		{actLeft, []string{"left", "h"}, inTree, groupMove, "", "Collapse, or go to the parent.", 0},
		{actRight, []string{"right", "l"}, inTree, groupMove, "expand", "Expand, or go to the first child.", 60},
		{actRight, []string{"right", "l"}, inFindings, groupMove, "evidence", "Show the evidence, and what to do.", 70},
		{actLeft, []string{"left", "h"}, inFindings, groupMove, "", "Hide the evidence, or go to the cause.", 0},
		{actExpand, []string{"space"}, inFindings, groupMove, "", "Show or hide the evidence.", 0},
	}
}

func followKeys() []binding {
	return []binding{
		{actOpen, []string{"enter"}, inTables | inTree | inDiff, groupFollow, "open", "Go into the object: collection, segments, indexes of segments.", 100},
		{actOpen, []string{"enter"}, inBalance, groupFollow, "open", "Go into the replica; to the node or the segment of a move.", 100},
		{actOpen, []string{"enter"}, inFindings, groupFollow, "object", "Go to the object of the finding.", 100},
		{actExplain, []string{"e"}, inFindings, groupFollow, "explain", "Explain the check: what it looks at, what to do.", 85},
		{actBack, []string{"esc", "["}, inPages, groupFollow, "back", "Clear filter and marks, then back to the page before.", 20},
		{actBack, []string{"?"}, inHelp, groupFollow, "", "Close this help.", 0},
		{actForward, []string{"]"}, inPages, groupFollow, "", "Forward again, after back.", 0},
		{actDescribe, []string{"d"}, inGrid | inTree | inDiff | inBalance, groupFollow, "describe", "Everything about the object: fields, parts and decoded records.", 90},
		{actOwner, []string{"o"}, inGrid | inDetail | inDiff | inTree | inFindings | inBalance, groupFollow, "owner", "To what the object belongs to.", 50},
		{actRelated, []string{"r"}, inGrid | inDetail | inDiff | inTree | inFindings | inBalance, groupFollow, "related", "Choose from what is related to the object.", 55},
		{actTree, []string{"x"}, inGrid | inDetail | inDiff | inFindings | inBalance, groupFollow, "tree", "Tree of the object's collection.", 45},
	}
}

func findKeys() []binding {
	return []binding{
		{actFilter, []string{"/"}, inTables | inDiff | inTree, groupFind, "filter", "Filter as you type: text, re:REGEX, !not, col=value, col>n.", 80},
		{actFilter, []string{"/"}, inFindings, groupFind, "filter", "Only findings in which the text occurs.", 60},
		{actFilter, []string{"/"}, inDetail | inExplain, groupFind, "search", "Search the text.", 80},
		{actFilter, []string{"/"}, inHelp, groupFind, "search", "Search the help.", 80},
		{actSearchNext, []string{"n"}, inDetail | inExplain, groupFind, "next", "Next match.", 40},
		{actSearchPrevious, []string{"N"}, inDetail | inExplain, groupFind, "", "Previous match.", 0},
		{actSortPrevious, []string{"<"}, inTables, groupFind, "", "Sort by the column to the left.", 0},
		{actSortNext, []string{">"}, inTables, groupFind, "sort", "Sort by the column to the right.", 35},
		{actSortReverse, []string{"S"}, inTables, groupFind, "", "Reverse the order.", 0},
		{actWide, []string{"w"}, inGrid, groupFind, "wide", "Show or hide the columns of the wide table.", 15},
		{actColumns, []string{"C"}, inGrid, groupFind, "", "Choose columns.", 0},
		{actExpandAll, []string{"e"}, inTree, groupFind, "expand all", "Expand everything below the node.", 30},
		{actCollapseAll, []string{"E"}, inTree, groupFind, "", "Collapse everything below the node.", 0},
		{actExpandAll, []string{"E"}, inFindings, groupFind, "", "Show or hide the evidence of all.", 0},
		{actHeat, []string{"m"}, inBalance, groupFind, "map", "Map of nodes and collections, and back.", 70},
		{actBy, []string{"b"}, inBalance, groupFind, "measure", "Even out by: search cost, rows, memory.", 60},
		{actBaseline, []string{"b"}, inDiff, groupFind, "baseline", "Compare with: the last refresh, the start, the mark.", 60},
		{actSetBaseline, []string{"B"}, inDiff, groupFind, "set mark", "Set the mark to compare with: now.", 35},
	}
}

func takeKeys() []binding {
	return []binding{
		{actMark, []string{"v"}, inGrid, groupTake, "mark", "Mark the row, for copy, save and compare.", 12},
		{actMarkRange, []string{"V"}, inGrid, groupTake, "", "Mark all rows between the last mark and here.", 0},
		{actCompare, []string{"="}, inGrid, groupTake, "", "Compare two marked rows side by side.", 0},
		{actCopyRow, []string{"y"}, inTables | inDetail | inDiff | inTree | inFindings | inExplain | inBalance, groupTake, "copy", "Copy the row (marked rows, if any), or the page's text.", 25},
		{actCopyMenu, []string{"Y"}, inPages&^inHelp | inBalance, groupTake, "copy as", "Copy the table as TSV, the ids, or the command that prints it.", 22},
		{actExportPlan, []string{"e"}, inBalance, groupTake, "export plan", "Save the plan as a script for pymilvus.", 65},
		{actSave, []string{"s"}, inTables | inDetail | inDiff | inTree | inFindings, groupTake, "save", "Save to a file: JSON, CSV or text; findings as Markdown.", 18},
	}
}

func goKeys() []binding {
	return []binding{
		{actGoCollections, []string{"c", "enter"}, inOverview, groupGo, "collections", "Collections.", 100},
		{actGoSegments, []string{"s"}, inOverview, groupGo, "segments", "Segments.", 95},
		{actGoVChannels, []string{"v"}, inOverview, groupGo, "vchannels", "VChannels with their checkpoints.", 85},
		{actGoNodes, []string{"n"}, inOverview, groupGo, "nodes", "Nodes.", 90},
		{actGoIndexes, []string{"i"}, inOverview, groupGo, "indexes", "Index definitions.", 75},
		{actGoBalance, []string{"b"}, inOverview, groupGo, "balance", "Balance: how evenly query nodes share the work.", 94},
		{actGoFindings, []string{"f"}, inOverview, groupGo, "findings", "Findings: what is wrong, and what to do.", 98},
		{actGoProfiles, []string{"p"}, inOverview, groupGo, "profiles", "Profiles: where the time goes.", 93},
		{actGoProfiles, []string{"p"}, inPages &^ inOverview &^ inProfiles &^ inHelp, groupGo, "profiles", "Profiles: where the time goes.", 16},
		{actGoFindings, []string{"f"}, inPages &^ inOverview &^ inHelp, groupGo, "findings", "Findings about the object, else all of them; there again: all.", 17},
		{actGoTasks, []string{"t"}, inOverview, groupGo, "", "Tasks: import, compaction, stats.", 0},
		{actGoUndecoded, []string{"u"}, inOverview, groupGo, "", "Keys that could not be decoded.", 0},
		{actGoKeys, []string{"r"}, inOverview, groupGo, "", "Raw keys, decoded on demand.", 0},
		{actGoDiff, []string{"d"}, inOverview, groupGo, "diff", "What changed since the last refresh.", 70},
	}
}

func appKeys() []binding {
	return []binding{
		{actPalette, []string{":"}, inPages, groupApp, "jump", "Jump to any page: a resource, an alias, selector words; `:q` quits.", 97},
		{actHelp, []string{"?"}, inPages &^ inHelp, groupApp, "help", "This help.", 96},
		{actPause, []string{"space"}, inPages &^ inFindings, groupApp, "", "Pause: the screen keeps its data until you resume.", 0},
		{actHome, []string{"H"}, inPages &^ inOverview, groupApp, "", "To the overview.", 0},
		{actSuspend, []string{"ctrl+z"}, inPages, groupApp, "", "Suspend; fg comes back.", 0},
		{actRedraw, []string{"ctrl+l"}, inPages, groupApp, "", "Draw the screen anew.", 0},
		{actQuit, []string{"q", "ctrl+c"}, inPages, groupApp, "", "Quit; while a replay measures: stop it, and show what was done.", 0},
		{actQuit, []string{"ctrl+c"}, inPrompt | inMenu, groupApp, "", "Quit, from anywhere.", 0},
	}
}

func typeKeys() []binding {
	return []binding{
		{actAccept, []string{"enter"}, inPrompt, groupType, "accept", "Accept.", 100},
		{actBack, []string{"esc"}, inPrompt, groupType, "cancel", "Cancel: a filter is taken away again.", 90},
		{actComplete, []string{"tab"}, inPrompt, groupType, "complete", "Complete with the suggestion.", 80},
		{actCompleteBack, []string{"shift+tab"}, inPrompt, groupType, "", "The suggestion before.", 0},
		{actPrevious, []string{"up", "ctrl+p"}, inPrompt, groupType, "", "The suggestion above; in the filter: up one row.", 0},
		{actNext, []string{"down", "ctrl+n"}, inPrompt, groupType, "", "The suggestion below; in the filter: down one row.", 0},
		{actCursorLeft, []string{"left"}, inPrompt, groupType, "", "Left.", 0},
		{actCursorRight, []string{"right"}, inPrompt, groupType, "", "Right.", 0},
		{actCursorHome, []string{"home", "ctrl+a"}, inPrompt, groupType, "", "To the start of the line.", 0},
		{actCursorEnd, []string{"end", "ctrl+e"}, inPrompt, groupType, "", "To the end of the line.", 0},
		{actDeleteBack, []string{"backspace"}, inPrompt, groupType, "", "Delete the character before; on an empty line: cancel.", 0},
		{actDelete, []string{"delete"}, inPrompt, groupType, "", "Delete the character under the cursor.", 0},
		{actDeleteWord, []string{"ctrl+w", "alt+backspace"}, inPrompt, groupType, "", "Delete the word before.", 0},
		{actDeleteAll, []string{"ctrl+u"}, inPrompt, groupType, "", "Delete everything before the cursor.", 0},
	}
}

func menuKeys() []binding {
	return []binding{
		{actAccept, []string{"enter"}, inMenu, groupMenu, "choose", "Choose; in the list of columns: show or hide.", 100},
		{actBack, []string{"esc", "q"}, inMenu, groupMenu, "close", "Close.", 90},
		{actPrevious, []string{"up", "shift+tab"}, inMenu, groupMenu, "", "Up.", 0},
		{actNext, []string{"down", "tab"}, inMenu, groupMenu, "", "Down.", 0},
	}
}

// keys looks bindings up by scope and key.
type keys struct {
	all []binding
}

func newKeys(kinds []PageKind) *keys { return &keys{all: keyMap(kinds)} }

// find returns the action that key has in the scope.
func (k *keys) find(in scope, key string) (action, bool) {
	for i := range k.all {
		b := &k.all[i]
		if b.in&in != 0 && slices.Contains(b.keys, key) {
			return b.action, true
		}
	}
	return actNone, false
}

// elsewhere returns the binding of a key that has no meaning in the scope, but in others.
func (k *keys) elsewhere(in scope, key string) (binding, bool) {
	for _, b := range k.all {
		if b.in&in == 0 && b.in&inPages != 0 && slices.Contains(b.keys, key) {
			return b, true
		}
	}
	return binding{}, false
}

// hints returns the bindings that the footer may show in the scope, most important first.
func (k *keys) hints(in scope) []binding {
	var hints []binding
	for _, b := range k.all {
		if b.in&in != 0 && b.hint != "" {
			hints = append(hints, b)
		}
	}
	slices.SortStableFunc(hints, func(a, b binding) int { return b.weight - a.weight })
	return hints
}

// inOrder sorts bindings as the key map has them.
func (k *keys) inOrder(list []binding) {
	at := func(b binding) int {
		return slices.IndexFunc(k.all, func(x binding) bool {
			return x.action == b.action && x.in == b.in && slices.Equal(x.keys, b.keys)
		})
	}
	slices.SortStableFunc(list, func(a, b binding) int { return at(a) - at(b) })
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
