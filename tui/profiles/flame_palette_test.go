package profiles

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kitescope/profile"
	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

// TestSixteenColoursOfFrames checks that each class of code has its own colour on a terminal with sixteen colours.
func TestSixteenColoursOfFrames(t *testing.T) {
	for _, theme := range []string{"auto", "terminal", "dark", "light"} {
		cfg := pagetest.Config()
		cfg.Theme = theme
		m := tui.New(cfg)
		m.Update(tea.BackgroundColorMsg{})
		m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
		palette := newFlamePalette(m.Styles)
		seen := map[string]profile.Class{}
		for _, c := range profile.Classes() {
			got := tuitest.Written(colorprofile.ANSI, palette.look(tintClass+tint(c), 0, emphasisPlain))
			if other, had := seen[got]; had || got == "" {
				t.Errorf("%s: frames of %s and %s are both sent as %q", theme, c, other, got)
			}
			seen[got] = c
		}
	}
}
