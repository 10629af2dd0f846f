// Package preflight is the page of the UI that says what another version of Milvus would break. What enters is the version that is
// wanted, as the palette has it, and the cluster that the core of the UI shows; what leaves is a kind of page (Pages).
//
//  1. The words behind the page's name are a plan (page.go): preflight 3.0.2, preflight 2.2.16 back, preflight 3.0.2 running=2.5.16.
//  2. The core judges the cluster by the checks of that plan, as often as there is another cluster, and lists and opens what they find
//     as it does with the findings of the diagnosis (tui.Findings).
package preflight

import (
	"kitescope/inspect/check/preflight"
	"kitescope/tui"
)

// Pages are the pages about a change of version.
func Pages() []tui.PageKind {
	return []tui.PageKind{{
		Name: "preflight", Aliases: []string{"upgrade"}, Doc: "What another version would break: preflight 3.0.2, or 2.2.16 back.",
		Open: open, Words: wanted, Checks: preflight.All(),
	}}
}
