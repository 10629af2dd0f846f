package tui

import "slices"

// Action is what a key does. A key has one action wherever it works, so an action has one meaning.
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
	ActNextPart
	ActPreviousPart

	ActOpen
	ActDescribe
	ActOwner
	ActRelated
	ActTree
	ActGoFindings
	ActExplain
	ActCheckAgain
	ActFilter
	ActSearchNext
	ActSearchPrevious
	ActSort
	ActSortPrevious
	ActSortNext
	ActWide
	ActColumns
	ActAll
	ActWorst
	ActBy
	ActSetBaseline
	ActExpandAll
	ActMark
	ActMarkRange
	ActCompare
	ActCopyRow
	ActCopyMenu
	ActSave

	ActFlame
	ActTopTable
	ActPull
	ActJudge
	ActSandwich
	ActInvert
	ActNodes
	ActKind
	ActRelative
	ActNormalize
	ActFlip
	ActReset
	ActZoomIn
	ActZoomOut

	ActGo
	ActNumber
	ActGoOverview
	ActGoAllFindings
	ActGoNodes
	ActGoCollections
	ActGoSegments
	ActGoVChannels
	ActGoBalance
	ActGoLatency
	ActGoProfiles
	ActGoTimeline
	ActGoDiff
	ActGoTasks
	ActGoIndexes
	ActGoUndecoded
	ActGoKeys
	ActGoEvents
	ActGoReplay
	ActGoJudge

	ActTakeBack
	ActDelete
	ActDeleteWord
	ActDeleteAll
	actionCount
)

// meaning is the name of an action in the configuration, what it does in a few words for a list of keys, and what it does behind "it"
// in a sentence.
type meaning struct{ name, brief, does string }

var meanings = [actionCount]meaning{
	ActQuit:           {"quit", "quit", "quits, or stops a replay that measures"},
	ActBack:           {"back", "back", "closes, clears, or goes back to the page before"},
	ActForward:        {"forward", "forward again", "goes forward again after going back"},
	ActPalette:        {"palette", "page by name", "opens any page by its name"},
	ActHelp:           {"help", "keys", "shows the keys"},
	ActPause:          {"pause", "pause", "holds the screen, or plays the past"},
	ActHome:           {"home", "first page", "goes to the first page"},
	ActSuspend:        {"suspend", "suspend", "suspends the program"},
	ActRedraw:         {"redraw", "redraw", "draws the screen anew"},
	ActGo:             {"go", "go to…", "begins a jump to a page"},
	ActNumber:         {"number", "page by number", "goes to the page, or chooses the item, of that number"},
	ActTakeBack:       {"take-back", "zoom out", "takes back one step: a zoom, a character"},
	ActEarlier:        {"earlier", "event before", "goes back in time to the event before"},
	ActLater:          {"later", "next event", "goes on in time to the next event"},
	ActMinuteEarlier:  {"minute-earlier", "minute back", "goes back in time by a minute"},
	ActMinuteLater:    {"minute-later", "minute on", "goes on in time by a minute"},
	ActAt:             {"at", "moment…", "asks for a moment to go to"},
	ActLive:           {"live", "newest state", "goes to the newest state"},
	ActMoment:         {"moment", "show the moment", "shows the moment of the event"},
	ActUp:             {"up", "up", "goes up"},
	ActDown:           {"down", "down", "goes down"},
	ActPageUp:         {"page-up", "page up", "goes up one page"},
	ActPageDown:       {"page-down", "page down", "goes down one page"},
	ActHalfUp:         {"half-up", "half page up", "goes up half a page"},
	ActHalfDown:       {"half-down", "half page down", "goes down half a page"},
	ActTop:            {"top", "to the start", "goes to the start"},
	ActBottom:         {"bottom", "to the end", "goes to the end"},
	ActLeft:           {"left", "left", "goes to the left"},
	ActRight:          {"right", "right", "goes to the right"},
	ActNextPart:       {"next-part", "next part", "goes to the next part, or completes what is typed"},
	ActPreviousPart:   {"previous-part", "part before", "goes to the part or the suggestion before"},
	ActOpen:           {"open", "open", "opens, chooses or accepts"},
	ActDescribe:       {"describe", "describe", "describes the object in full"},
	ActOwner:          {"owner", "owner", "goes to the owner of the object"},
	ActRelated:        {"related", "related", "shows what is related"},
	ActTree:           {"tree", "tree", "shows the tree of the collection"},
	ActExplain:        {"explain", "explain", "explains the check"},
	ActCheckAgain:     {"check-again", "check again", "checks again whether the finding is gone"},
	ActWorst:          {"worst-first", "worst first", "puts rows with findings on top"},
	ActMark:           {"mark", "mark", "marks the row, or switches what the cursor is on"},
	ActMarkRange:      {"mark-range", "mark a range", "marks all rows from the last mark to here"},
	ActCompare:        {"compare", "compare", "compares two marked rows"},
	ActCopyRow:        {"copy", "copy", "copies what the cursor is on"},
	ActCopyMenu:       {"copy-as", "copy as…", "copies in another form, or the command that prints the page"},
	ActSave:           {"save", "save…", "saves to a file, and asks where"},
	ActExpandAll:      {"expand-all", "expand all", "expands or folds everything"},
	ActReset:          {"reset", "undo zoom", "undoes zoom and search"},
	ActZoomIn:         {"zoom-in", "zoom in", "zooms in"},
	ActZoomOut:        {"zoom-out", "zoom out", "zooms out"},
	ActFlame:          {"flame", "flame graph", "shows a flame graph"},
	ActTopTable:       {"table", "table", "shows the same as a table"},
	ActPull:           {"profile-now", "profile now…", "profiles all processes"},
	ActJudge:          {"judge", "judge PGO", "judges whether a build with PGO is worth it"},
	ActSandwich:       {"callers", "callers/callees", "shows callers and callees"},
	ActInvert:         {"invert", "invert", "turns the graph around"},
	ActNodes:          {"nodes-apart", "nodes apart", "draws nodes apart or together"},
	ActKind:           {"sample-type", "sample type", "changes to the next sample type"},
	ActRelative:       {"relative", "relative", "switches between absolute and relative"},
	ActNormalize:      {"normalize", "normalize", "scales one profile to the total of the other"},
	ActFlip:           {"flip", "flip", "flips the graph upside down"},
	ActDelete:         {"delete", "delete", "deletes the character under the cursor"},
	ActDeleteWord:     {"delete-word", "delete word", "deletes the word before the cursor"},
	ActDeleteAll:      {"delete-line", "delete line", "deletes what was typed"},
	ActFilter:         {"filter", "filter, search", "filters or searches"},
	ActSearchNext:     {"next-match", "next match", "goes to the next match"},
	ActSearchPrevious: {"previous-match", "match before", "goes to the match before"},
	ActSort:           {"sort", "sort by…", "chooses the column to sort by"},
	ActSortPrevious:   {"sort-left", "sort left", "sorts by the column to the left"},
	ActSortNext:       {"sort-right", "sort right", "sorts by the column to the right"},
	ActWide:           {"wide", "wide", "shows or hides the columns of the wide table"},
	ActColumns:        {"columns", "columns…", "chooses columns"},
	ActAll:            {"all", "all, hidden too", "shows or hides what is hidden"},
	ActBy:             {"by", "by", "changes what is measured, grouped or compared by"},
	ActSetBaseline:    {"set-baseline", "set the mark", "sets the mark that changes count from"},
	ActGoFindings:     {"findings", "its findings", "shows the findings about the object"},
	ActGoOverview:     {"go-overview", "overview", "goes to the overview"},
	ActGoAllFindings:  {"go-findings", "findings", "goes to all findings"},
	ActGoNodes:        {"go-nodes", "nodes", "goes to the nodes"},
	ActGoCollections:  {"go-collections", "collections", "goes to the collections"},
	ActGoSegments:     {"go-segments", "segments", "goes to the segments"},
	ActGoVChannels:    {"go-vchannels", "vchannels", "goes to the vchannels"},
	ActGoBalance:      {"go-balance", "balance", "goes to the balance of query nodes"},
	ActGoLatency:      {"go-latency", "latency", "goes to where requests spend their time"},
	ActGoProfiles:     {"go-profiles", "profiles", "goes to the profiles"},
	ActGoTimeline:     {"go-timeline", "timeline", "goes to the timeline"},
	ActGoDiff:         {"go-diff", "diff", "goes to what changed"},
	ActGoTasks:        {"go-tasks", "tasks", "goes to the tasks"},
	ActGoIndexes:      {"go-indexes", "indexes", "goes to the indexes"},
	ActGoUndecoded:    {"go-undecoded", "undecoded", "goes to the keys that could not be decoded"},
	ActGoKeys:         {"go-keys", "keys", "goes to the raw keys"},
	ActGoEvents:       {"go-events", "events", "goes to the events"},
	ActGoReplay:       {"go-replay", "replay", "goes to the replay"},
	ActGoJudge:        {"go-judge", "judge", "goes to the judgement of PGO"},
}

// String is the action's name, as the configuration has it.
func (a Action) String() string { return meanings[a].name }

// Does is what the action does, behind "it" in a sentence.
func (a Action) Does() string { return meanings[a].does }

// Brief is the action in a few words.
func (a Action) Brief() string { return meanings[a].brief }

// KeyNames are the names of actions, which keys can be given to.
func KeyNames() []string {
	var names []string
	for _, m := range meanings[ActNone+1:] {
		names = append(names, m.name)
	}
	return names
}

// actionNamed finds an action by the name that the configuration has for it.
func actionNamed(name string) (a Action, ok bool) {
	i := slices.IndexFunc(meanings[:], func(m meaning) bool { return m.name == name })
	return Action(max(i, 0)), i > 0
}
