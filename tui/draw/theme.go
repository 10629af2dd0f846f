package draw

import "kitescope/render"

// Themes are render's, and one without colours.
func Themes() []render.Theme {
	themes := render.Themes()
	mono := themes[0]
	mono.Name = "mono"
	for role := range mono.Styles {
		mono.Styles[role].Foreground, mono.Styles[role].Background = "", ""
	}
	return append(themes, mono)
}
