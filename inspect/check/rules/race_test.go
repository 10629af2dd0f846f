//go:build race

package rules_test

import "testing"

// slowProperties are left out: nothing runs side by side in them, and they would take ten times as long.
func slowProperties(*testing.T) []property { return nil }
