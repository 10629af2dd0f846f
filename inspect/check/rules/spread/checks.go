// Package spread judges how evenly query nodes share the work: rows, memory, shard leaders, channels.
package spread

import "kitescope/inspect/check"

// Checks are the checks of how the work is spread.
func Checks() []*check.Check {
	return []*check.Check{
		autoBalanceOff, balancingSuspended, checkerOff, idleNode, imbalanceRows, imbalanceMemory, imbalanceLeaders, imbalanceChannels,
	}
}
