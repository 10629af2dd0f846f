package draw

import (
	"slices"
	"strconv"

	"kitescope/render"
)

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

// OfSixteen reports whether a theme has none but the terminal's own sixteen colours.
func OfSixteen(t *render.Theme) bool {
	own := func(colour string) bool {
		n, err := strconv.Atoi(colour)
		return colour == "" || err == nil && n < 16
	}
	return !slices.ContainsFunc(t.Styles[:], func(s render.Style) bool { return !own(s.Foreground) || !own(s.Background) })
}
