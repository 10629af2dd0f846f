package rules_test

import (
	"testing"

	"kitescope/inspect/check/facts"
)

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]facts.Release{
		"2.3.5": {Major: 2, Minor: 3}, "v2.6.1-dev": {Major: 2, Minor: 6}, "2.2.9 or newer": {Major: 2, Minor: 2}, "2.1": {Major: 2, Minor: 1}, "3.0 or newer": {Major: 3, Minor: 0}, "": {}, "two": {}, "2.x": {}, "2.10.4": {Major: 2, Minor: 10},
	} {
		if got := facts.ParseRelease(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if (facts.Release{}).Before(facts.Release{Major: 2, Minor: 2}) || (facts.Release{Major: 2, Minor: 10}).Before(facts.Release{Major: 2, Minor: 9}) || !(facts.Release{Major: 2, Minor: 9}).Before(facts.Release{Major: 3, Minor: 0}) {
		t.Error("releases are compared wrongly")
	}
}
