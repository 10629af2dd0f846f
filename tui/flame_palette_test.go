package tui

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"kitescope/profile"
)

// TestSixteenColoursOfFrames: on a terminal with sixteen colours each kind of code has one of its own.
func TestSixteenColoursOfFrames(t *testing.T) {
	for _, theme := range []string{"auto", "terminal", "dark", "light"} {
		palette := newFlamePalette(onSixteen(theme).st)
		seen := map[string]profile.Class{}
		for _, c := range profile.Classes() {
			got := written(colorprofile.ANSI, palette.look(tintClass+tint(c), 0, moodPlain))
			if other, had := seen[got]; had || got == "" {
				t.Errorf("%s: frames of %s and %s are both sent as %q", theme, c, other, got)
			}
			seen[got] = c
		}
	}
}
