// Package latency are the pages of the UI that say where requests spend their time. What enters are the budgets that the core of the
// UI works out of what processes said (tui.Times), and how they were since it was opened; what leaves is a kind of page (Pages).
//
//  1. The first page lists a budget for each collection and kind of request; enter opens its phases, in the order of the request.
//  2. Enter on a phase opens what each process says of it, and there the process.
package latency

import "kitescope/tui"

// Pages are the pages about latency.
func Pages() []tui.PageKind {
	return []tui.PageKind{{Name: "latency", Doc: "Where requests spend their time: by collection, phase and process.", Open: open}}
}
