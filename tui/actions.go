package tui

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
	ActHome
	ActSuspend
	ActRedraw

	ActEarlier
	ActLater
	ActAt
	ActLive

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

	ActOpen
	ActDescribe
	ActOwner
	ActRelated
	ActTree
	ActGoFindings
	ActExplain
	ActFilter
	ActSearchNext
	ActSearchPrevious
	ActSort
	ActSortPrevious
	ActSortNext
	ActWide
	ActAll
	ActBy
	ActMark
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
	ActNormalize
	ActReset
	ActZoomIn
	ActZoomOut

	ActNumber

	ActTakeBack
	ActDelete
	ActDeleteWord
	ActDeleteAll
)
