//go:build race

package rules_test

import "testing"

// slowProperties returns no properties with the race detector: they have no concurrency, and would take ten
// times as long.
func slowProperties(*testing.T) []property { return nil }
