// Package profiles judges profiles of the processes: where they spend CPU, wait for locks, and leave goroutines behind.
package profiles

import "kitescope/inspect/check"

// Checks are the checks of profiles.
func Checks() []*check.Check {
	return []*check.Check{
		profileBruteForceShare, profileGCShare, profileLockContention, profileGoroutineLeak, profileIdleNode,
	}
}
