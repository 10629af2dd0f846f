// Package flame draws the trees of profile/flame as a page, as an SVG picture and as folded stacks. A Tree enters with Options; bytes leave.
package flame

import (
	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// Options say how a flame graph is drawn.
type Options struct {
	// Title is what the profile is called, Subtitle what else is known of it: when, how long, how many samples.
	Title, Subtitle string
	// More are trees of other sample types of the same profiles, to choose from on the page.
	More []*flame.Tree
	// Width is in pixels; 0 is 1200. Pictures are as high as they must be, MaxHeight at most: 0 is 4000.
	Width, MaxHeight int
	// Dark is for dark backgrounds: of a picture; the page follows the browser.
	Dark bool
	// Version is the program's.
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

// restName is what stands for frames that were left out.
const restName = "(smaller frames)"

// cutName shortens a name that would fill a picture: the names of C++ templates and hostile ones.
func cutName(name string) string {
	const most = 300
	name = words.Harmless(name)
	if len(name) <= most {
		return name
	}
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(runes[:most]) + "…"
}
