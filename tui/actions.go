package tui

import (
	"slices"

	"kitescope/tui/means"
)

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

	ActHeat
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

// actionNames are the names that actions have in the configuration; package means says what each does.
func actionNames() [actionCount]string {
	return [actionCount]string{
		ActQuit: "quit", ActBack: "back", ActForward: "forward", ActPalette: "palette", ActHelp: "help", ActPause: "pause", ActHome: "home",
		ActSuspend: "suspend", ActRedraw: "redraw", ActGo: "go", ActNumber: "number", ActTakeBack: "take-back", ActEarlier: "earlier", ActLater: "later",
		ActMinuteEarlier: "minute-earlier", ActMinuteLater: "minute-later", ActAt: "at", ActLive: "live", ActMoment: "moment", ActUp: "up",
		ActDown: "down", ActPageUp: "page-up", ActPageDown: "page-down", ActHalfUp: "half-up", ActHalfDown: "half-down", ActTop: "top",
		ActBottom: "bottom", ActLeft: "left", ActRight: "right", ActNextPart: "next-part", ActPreviousPart: "previous-part", ActOpen: "open",
		ActDescribe: "describe", ActOwner: "owner", ActRelated: "related", ActTree: "tree", ActExplain: "explain", ActCheckAgain: "check-again", ActWorst: "worst-first", ActMark: "mark",
		ActMarkRange: "mark-range", ActCompare: "compare", ActCopyRow: "copy", ActCopyMenu: "copy-as", ActSave: "save", ActExpandAll: "expand-all",
		ActReset: "reset", ActZoomIn: "zoom-in", ActZoomOut: "zoom-out", ActHeat: "map", ActFlame: "flame", ActTopTable: "table", ActPull: "profile-now",
		ActJudge: "judge", ActSandwich: "callers", ActInvert: "invert", ActNodes: "nodes-apart", ActKind: "sample-type", ActRelative: "relative",
		ActNormalize: "normalize", ActFlip: "flip", ActDelete: "delete", ActDeleteWord: "delete-word", ActDeleteAll: "delete-line", ActFilter: "filter",
		ActSearchNext: "next-match", ActSearchPrevious: "previous-match", ActSort: "sort", ActSortPrevious: "sort-left", ActSortNext: "sort-right",
		ActWide: "wide", ActColumns: "columns", ActAll: "all", ActBy: "by", ActSetBaseline: "set-baseline", ActGoFindings: "findings",
		ActGoOverview: "go-overview", ActGoAllFindings: "go-findings", ActGoNodes: "go-nodes", ActGoCollections: "go-collections",
		ActGoSegments: "go-segments", ActGoVChannels: "go-vchannels", ActGoBalance: "go-balance", ActGoLatency: "go-latency", ActGoProfiles: "go-profiles",
		ActGoTimeline: "go-timeline", ActGoDiff: "go-diff", ActGoTasks: "go-tasks", ActGoIndexes: "go-indexes", ActGoUndecoded: "go-undecoded",
		ActGoKeys: "go-keys", ActGoEvents: "go-events", ActGoReplay: "go-replay", ActGoJudge: "go-judge",
	}
}

// String is the action's name, as the configuration has it.
func (a Action) String() string { return actionNames()[a] }

// Does is what the action does, behind "it" in a sentence.
func (a Action) Does() string { return means.Of(a.String()).Does }

// Brief is the action in a few words.
func (a Action) Brief() string { return means.Of(a.String()).Brief }

// actionNamed finds an action by the name that the configuration has for it.
func actionNamed(name string) (a Action, ok bool) {
	names := actionNames()
	if i := slices.Index(names[:], name); i > 0 {
		return Action(i), true
	}
	return ActNone, false
}
