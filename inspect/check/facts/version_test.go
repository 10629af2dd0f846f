package facts

import (
	"testing"
	"time"
)

// TestVersionTime checks that QueryCoord's versions parse as nanoseconds, and that other numbers give the zero
// time.
func TestVersionTime(t *testing.T) {
	if got := VersionTime(1795165562704480305); got.Format(time.RFC3339) != "2026-11-20T09:06:02Z" {
		t.Errorf("a version of the recorded cluster is %s", got)
	}
	for _, version := range []int64{0, 1, 7, -5, 470591881275768840, 1 << 62} {
		if got := VersionTime(version); !got.IsZero() {
			t.Errorf("%d is %s", version, got)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]Release{
		"2.3.5": {Major: 2, Minor: 3}, "v2.6.1-dev": {Major: 2, Minor: 6}, "2.2.9 or newer": {Major: 2, Minor: 2},
		"2.1": {Major: 2, Minor: 1}, "3.0 or newer": {Major: 3, Minor: 0}, "": {}, "two": {}, "2.x": {},
		"2.10.4": {Major: 2, Minor: 10},
	} {
		if got := ParseRelease(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if (Release{}).Before(Release{Major: 2, Minor: 2}) ||
		(Release{Major: 2, Minor: 10}).Before(Release{Major: 2, Minor: 9}) ||
		!(Release{Major: 2, Minor: 9}).Before(Release{Major: 3, Minor: 0}) {
		t.Error("releases are compared wrongly")
	}
}
