package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"kitescope/render"
	"kitescope/tui/draw"
)

// autoTheme selects dark or light by the background of the terminal. Until the background is known, it is the
// first built-in theme, which suits both.
const autoTheme = "auto"

// themeNames returns the valid values of Config.Theme and ":theme".
func themeNames() []string {
	names := []string{autoTheme}
	for _, t := range draw.Themes() {
		names = append(names, t.Name)
	}
	return names
}

// followsBackground reports whether the theme depends on the background of the terminal.
func (m *Model) followsBackground() bool { return !m.Config.NoColor && m.theme == autoTheme }

// background is the background that the terminal reported.
type background int

const (
	backgroundUnknown background = iota
	backgroundDark
	backgroundLight
)

// setTheme builds the styles.
func (m *Model) setTheme() {
	themes, name := draw.Themes(), m.theme
	if name == autoTheme {
		name = themes[0].Name
		switch m.background {
		case backgroundDark:
			name = "dark"
		case backgroundLight:
			name = "light"
		default:
		}
	}
	theme := themes[0]
	if i := slices.IndexFunc(themes, func(t render.Theme) bool { return t.Name == name }); i >= 0 {
		theme = themes[i]
	}
	// On a terminal with 16 colours, the colours of a larger theme would be replaced by the nearest of the 16,
	// which changes their meaning: a pale blue becomes grey, a light red becomes yellow. The first theme uses
	// only the 16 colours.
	few := m.colours == colorprofile.ANSI
	if few && theme.Name != "mono" {
		theme = themes[0]
	}
	noColor := m.Config.NoColor || m.colours == colorprofile.NoTTY || m.colours == colorprofile.ASCII
	m.Styles = draw.NewStyles(&theme, noColor, few)
}

// useTheme runs ":theme NAME". Without a name it selects the next theme.
func (m *Model) useTheme(name string) Cmd {
	names := themeNames()
	if name == "" {
		name = names[(slices.Index(names, m.theme)+1)%len(names)]
	}
	switch {
	case !slices.Contains(names, name):
		m.Notify(ToneBad, "no theme "+name+"; available: "+strings.Join(names, ", "))
		return nil
	case m.Config.NoColor:
		m.Notify(ToneWarn, "colours are off (NO_COLOR or --color never)")
		return nil
	}
	m.theme = name
	m.setTheme()
	m.Notify(ToneInfo, "theme "+name)
	if m.followsBackground() {
		return m.Init()
	}
	return nil
}
