// Package indexes judges index definitions and builds: failed, stuck or missing ones, and those that searches cannot make use of.
package indexes

import "kitescope/inspect/check"

// Checks are the checks of indexes.
func Checks() []*check.Check {
	return []*check.Check{
		indexFailed, indexStuck, indexMissing, indexTooNew, indexMetricMismatch, indexUnfit, collectionUnindexed,
	}
}
