// Package flame writes the trees of profile/flame as HTML pages, SVG pictures and folded stacks. Write takes a Graph,
// i.e. a Tree with its titles. Frames are colored by class of code, or in a difference by change, and noise is grey
// (colors.go).
package flame

import (
	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// Options control how a flame graph is drawn.
type Options struct {
	// Title is the name of the profile. Subtitle holds further details: time, duration, number of samples.
	Title, Subtitle string
	// More are trees of other sample types of the same profiles, which the page offers to select.
	More []*flame.Tree
	// Width is in pixels; 0 means 1200. MaxHeight limits the height of pictures in pixels; 0 means 4000.
	Width, MaxHeight int
	// Dark selects colors for dark backgrounds in pictures. The page follows the browser's setting.
	Dark bool
	// Version is the version of the program.
	Version string
}

func (o *Options) width() int {
	if o.Width <= 0 {
		return 1200
	}
	return min(max(o.Width, 300), 10_000)
}

func (o *Options) maxHeight() int {
	if o.MaxHeight <= 0 {
		return 4000
	}
	return min(max(o.MaxHeight, 200), 30_000)
}

// restName is the label of omitted frames.
const restName = "(smaller frames)"

// cutName cuts a name after 300 characters. Names of C++ templates and hostile names can be longer.
func cutName(name string) string {
	const most = 300
	name = words.Sanitize(name)
	if len(name) <= most {
		return name
	}
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(runes[:most]) + "…"
}
