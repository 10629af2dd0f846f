//go:build race

package rules_test

// slowProperties are left out: nothing runs side by side in them, and they would take ten times as long.
func slowProperties() []property { return nil }
