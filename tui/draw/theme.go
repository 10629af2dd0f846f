package draw

import "kitescope/render"

// Themes returns the themes of package render and "mono", which has no colours.
func Themes() []render.Theme {
	themes := render.Themes()
	mono := themes[0]
	mono.Name = "mono"
	for role := range mono.Styles {
		mono.Styles[role].Foreground, mono.Styles[role].Background = "", ""
	}
	return append(themes, mono)
}
