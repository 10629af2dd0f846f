package tui

// Action is the effect of a key. A key has the same action on every page that binds it, so it has one meaning.
type Action int

// Actions of the UI. Each page handles those that its keys are bound to.
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

	ActBackspace
	ActDelete
	ActDeleteWord
	ActDeleteAll
)
