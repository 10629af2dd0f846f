package profile

import "slices"

// childrenSuffix ends the type of values of frames with what they called.
const childrenSuffix = " children"

// HundredthsOfPercent is the unit of a table that has only percentages of two decimals, whose values are counts.
const HundredthsOfPercent = "hundredths of a percent"

// ChildrenOf is the type under which a table without stacks keeps what its rows have with what they called, as the column
// Children of perf report does.
func ChildrenOf(t ValueType) ValueType { return ValueType{Type: t.Type + childrenSuffix, Unit: t.Unit} }

// Children is the index of the type that holds, of values of a kind, those with what was called; -1 if they are to be
// found of stacks.
func (p *Profile) Children(kind int) int {
	return slices.Index(p.Types, ChildrenOf(p.Types[kind]))
}
