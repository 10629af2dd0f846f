package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"kitescope/render"
	"kitescope/tui/draw"
)

// autoTheme is dark or light, as the terminal's background is; the first built-in
// theme, which suits both, until the terminal has said.
const autoTheme = "auto"

// themeNames are what Config.Theme and ":theme" understand.
func themeNames() []string {
	names := []string{autoTheme}
	for _, t := range draw.Themes() {
		names = append(names, t.Name)
	}
	return names
}

// followsBackground reports whether the theme depends on the terminal's background.
func (m *Model) followsBackground() bool { return !m.Config.NoColor && m.theme == autoTheme }

// background is what the terminal said about its background.
type background int

const (
	backgroundUnknown background = iota
	backgroundDark
	backgroundLight
)

// setTheme makes the styles.
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
	// Of a theme with more colours than the terminal has, each would become the nearest of sixteen, and what it means
	// another thing: a pale blue is grey, a light red yellow. The first theme is made of those sixteen.
	few := m.colours == colorprofile.ANSI
	if few && theme.Name != "mono" {
		theme = themes[0]
	}
	noColor := m.Config.NoColor || m.colours == colorprofile.NoTTY || m.colours == colorprofile.ASCII
	m.Styles = draw.NewStyles(&theme, noColor, few)
}

// useTheme is ":theme NAME"; without a name the next one.
func (m *Model) useTheme(name string) Cmd {
	names := themeNames()
	if name == "" {
		name = names[(slices.Index(names, m.theme)+1)%len(names)]
	}
	switch {
	case !slices.Contains(names, name):
		m.Say(ToneBad, "there is no theme "+name+"; there are "+strings.Join(names, ", "))
		return nil
	case m.Config.NoColor:
		m.Say(ToneWarn, "colours are off (NO_COLOR or --color never)")
		return nil
	}
	m.theme = name
	m.setTheme()
	m.Say(ToneInfo, "theme "+name)
	if m.followsBackground() {
		return m.Init()
	}
	return nil
}
