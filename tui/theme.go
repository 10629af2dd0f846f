package tui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"kitescope/render"
	"kitescope/tui/draw"
)

// autoTheme is dark or light, as the terminal's background is; the first built-in
// theme, which suits both, until the terminal has said.
const autoTheme = "auto"

// builtinThemes are render's, and one without colours.
func builtinThemes() []render.Theme {
	themes := render.Themes()
	mono := themes[0]
	mono.Name = "mono"
	for role := range mono.Styles {
		mono.Styles[role].Foreground, mono.Styles[role].Background = "", ""
	}
	return append(themes, mono)
}

// themeNames are what Config.Theme and ":theme" understand.
func (m *Model) themeNames() []string {
	names := []string{autoTheme}
	for _, t := range m.themes {
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
	name := m.theme
	if name == autoTheme {
		name = m.themes[0].Name
		switch m.background {
		case backgroundDark:
			name = "dark"
		case backgroundLight:
			name = "light"
		default:
		}
	}
	theme := m.themes[0]
	if i := slices.IndexFunc(m.themes, func(t render.Theme) bool { return t.Name == name }); i >= 0 {
		theme = m.themes[i]
	}
	// Of a theme with more colours than the terminal has, each would become the nearest of sixteen, and what it means
	// another thing: a pale blue is grey, a light red yellow. The first theme is made of those sixteen.
	few := m.colours == colorprofile.ANSI
	if few && !ofSixteen(&theme) {
		theme = m.themes[0]
	}
	noColor := m.Config.NoColor || m.colours == colorprofile.NoTTY || m.colours == colorprofile.ASCII
	m.Styles = draw.NewStyles(&theme, noColor, few)
}

// useTheme is ":theme NAME"; without a name the next one.
func (m *Model) useTheme(name string) Cmd {
	names := m.themeNames()
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

// ofSixteen reports whether a theme has none but the terminal's own sixteen colours.
func ofSixteen(t *render.Theme) bool {
	own := func(colour string) bool {
		n, err := strconv.Atoi(colour)
		return colour == "" || err == nil && n < 16
	}
	return !slices.ContainsFunc(t.Styles[:], func(s render.Style) bool { return !own(s.Foreground) || !own(s.Background) })
}
