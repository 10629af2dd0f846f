//go:build !unix

package rules_test

import "time"

// processorTime is not told here.
func processorTime() time.Duration { return 0 }
