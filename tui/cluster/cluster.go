// Package cluster has the UI pages about a cluster that are not part of the core: where requests spend their time
// (latency), how evenly query nodes share the work (balance), and what another version of Milvus would break
// (preflight).
package cluster

import (
	"kitescope/inspect/check/preflight"
	"kitescope/tui"
)

// Pages returns the page kinds, for tui.Config.
func Pages() []tui.PageKind {
	return []tui.PageKind{
		{
			Name: "balance", Aliases: []string{"b"},
			Doc:  "How evenly query nodes share the work, and what would even it out.",
			Args: "[COLLECTION]", Open: openBalance, Keys: balanceKeys(),
		},
		{
			Name: "latency", Aliases: []string{"why"},
			Doc:  "Where requests spend their time, and why: by collection, phase and process.",
			Args: "[COLLECTION]", Open: openLatency,
		},
		{
			Name: "preflight", Aliases: []string{"upgrade"},
			Doc:  "What an upgrade or rollback would break: preflight 3.0.2, or 2.2.16 back.",
			Args: "VERSION...", Open: openPreflight, Words: completions, Checks: preflight.All(),
		},
	}
}

func balanceKeys() []tui.Binding {
	return []tui.Binding{
		{
			Action: tui.ActBy, Keys: []string{"b"}, In: tui.InBalance, Group: tui.GroupFind,
			Hint: "by cost/rows/memory",
			Doc:  "Balance by: search cost, rows, memory.", Weight: 60,
		},
		{
			Action: tui.ActSave, Keys: []string{"s"}, In: tui.InBalance, Group: tui.GroupCopy, Hint: "save plan",
			Doc: "Save the plan as a pymilvus script, or the report. Asks for the path.", Weight: 65,
		},
	}
}
