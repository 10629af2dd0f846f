// Package nodes judges the processes of a cluster: whether each role has somebody, whether they answer, how busy they are, and how
// they are configured.
package nodes

import "kitescope/inspect/check"

// Sessions are the checks of who is there.
func Sessions() []*check.Check {
	return []*check.Check{
		roleMissing, nodeUnreachable, staleSession, stoppingServing, nodeStopping, nodeSuspended,
	}
}

// Load are the checks of how busy processes are.
func Load() []*check.Check {
	return []*check.Check{
		memoryPressure, cpuSkew, processSlow, dependencyUnhealthy,
	}
}

// Configuration are the checks of settings.
func Configuration() []*check.Check {
	return []*check.Check{
		configDrift, badSwitches,
	}
}
