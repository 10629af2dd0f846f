//go:build !unix

package main

import (
	"os"

	"kitescope/profile/usage"
)

// countResources has nothing to take over: only Unix counts.
func countResources(*usage.Command, *os.ProcessState) {}
