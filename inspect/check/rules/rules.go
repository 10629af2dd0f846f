// Package rules has all checks. Those of one subject are a package below, a file each: a check is a value that says what it reads, and a
// function over a check.Pass that reports what it finds.
package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/channels"
	"kitescope/inspect/check/rules/etcd"
	"kitescope/inspect/check/rules/indexes"
	"kitescope/inspect/check/rules/latency"
	"kitescope/inspect/check/rules/nodes"
	"kitescope/inspect/check/rules/objects"
	"kitescope/inspect/check/rules/profiles"
	"kitescope/inspect/check/rules/segments"
	"kitescope/inspect/check/rules/serving"
	"kitescope/inspect/check/rules/spread"
)

// All are the checks, in the order of the documentation.
func All() []*check.Check {
	return slices.Concat(
		nodes.Sessions(), serving.Checks(), spread.Checks(), nodes.Load(), latency.Checks(), indexes.Checks(), etcd.Checks(), channels.Checks(),
		segments.Checks(), nodes.Configuration(), objects.Shape(), profiles.Checks(), objects.Leftovers(),
	)
}
