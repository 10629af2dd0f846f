// Package objects judges collections and what belongs to them as metadata have them: skewed shapes, groups of nodes that are too small, limits
// that come near, and records whose owner is gone.
package objects

import "kitescope/inspect/check"

// Shape are the checks of the shape of the data, and of limits.
func Shape() []*check.Check {
	return []*check.Check{
		shardSkew, partitionKeySkew, resourceGroupShort, nearLimit, grantOnAlias, dynamicUnsaid,
	}
}

// Leftovers are the checks of what is left over.
func Leftovers() []*check.Check {
	return []*check.Check{
		orphanSegments, orphanBinlogs, orphanIndex, orphanLoad, orphanAlias, orphanGrant, orphanTask,
	}
}
