// Package balance is the page of the UI that says how evenly query nodes share the work. What enters is the cluster that the core of
// the UI shows; what leaves is a kind of page (Pages).
//
//  1. A refresh surveys what nodes serve and plans moves, off the loop (page.go).
//  2. The page lays out what came of it as lines (lines.go): of all replicas, or of one replica with its plan.
package balance

import "kitescope/tui"

// Pages are the pages about balance.
func Pages() []tui.PageKind {
	return []tui.PageKind{{
		Name: "balance", Aliases: []string{"b"}, Doc: "How evenly query nodes share the work, and what would even it out.", Open: open, Keys: keys(),
	}}
}

func keys() []tui.Binding {
	return []tui.Binding{
		{Action: tui.ActBy, Keys: []string{"b"}, In: tui.InBalance, Group: tui.GroupFind, Hint: "by cost/rows/memory", Doc: "Even out by: search cost, rows, memory.", Weight: 60},
		{Action: tui.ActSave, Keys: []string{"s"}, In: tui.InBalance, Group: tui.GroupTake, Hint: "save plan", Doc: "Save the plan as a script for pymilvus, or the report, and ask where.", Weight: 65},
	}
}
