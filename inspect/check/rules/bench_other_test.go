//go:build !unix

package rules_test

import "time"

// processorTime returns 0, because the CPU time is not available here.
func processorTime() time.Duration { return 0 }
