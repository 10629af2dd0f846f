package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kitescope/render"
	"kitescope/tui/tuitest"
)

// with16Colors returns the UI with a theme on a terminal with 16 colours.
func with16Colors(theme string) *Model {
	cfg := testConfig()
	cfg.Theme = theme
	m := New(cfg)
	m.Update(tea.BackgroundColorMsg{})
	m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	return m
}

// TestSixteenColours checks that colours keep their meaning on a terminal with 16 colours, in every theme, and
// that a terminal without colours receives none.
func TestSixteenColours(t *testing.T) {
	want := map[string]string{ // SGR: 31 red, 32 green, 33 yellow, 34 blue, 36 cyan
		"good": "\x1b[32m", "progress": "\x1b[34m", "warn": "\x1b[33m", "bad": "\x1b[1;31m", "plain": "",
		"accent": "\x1b[36m", "dim": "\x1b[2m",
		"added": "\x1b[32m", "removed": "\x1b[31m", "changed": "\x1b[33m", "selected": "\x1b[7m", "more": "\x1b[31m",
		"less": "\x1b[34m",
	}
	roles := map[string]render.Role{
		"good": render.RoleGood, "progress": render.RoleProgress, "warn": render.RoleWarn, "bad": render.RoleBad,
		"plain":  render.RolePlain,
		"accent": render.RoleAccent, "dim": render.RoleDim, "added": render.RoleAdded, "removed": render.RoleRemoved,
		"changed":  render.RoleChanged,
		"selected": render.RoleSelected, "more": render.RoleMore, "less": render.RoleLess,
	}
	for _, theme := range []string{"auto", "terminal", "dark", "light"} {
		m := with16Colors(theme)
		for name, role := range roles {
			if got := tuitest.Written(colorprofile.ANSI, m.Styles.Roles[role]); got != want[name] {
				t.Errorf("%s: %s is sent as %q, want %q", theme, name, got, want[name])
			}
		}
		if m.Styles.Roles[render.StateRole("registered")] != m.Styles.Good {
			t.Error("registered is not as it should be")
		}
		m.Update(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
		for name, role := range roles {
			if got := m.Styles.Roles[role].Open; strings.Contains(got, "3") {
				t.Errorf("%s: without colours %s is %q", theme, name, got)
			}
		}
	}
}
