// Package flame draws the trees of profile/flame as a page, as pictures and as files that other programs read. A Tree, or a Profile
// where nothing may be pruned, enters with Options; bytes leave. A picture is laid out once and drawn with a brush: SVG or PNG.
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
	// Scale is how many pixels of a PNG one is drawn with; 0 is 2.
	Scale int
	// Dark is for dark backgrounds: SVG and PNG. The page asks the browser.
	Dark bool
	// Upright puts the root at the bottom: a flame; else it is an icicle.
	Upright bool
	// Relative colours a difference by how much a frame changed of itself, not of all.
	Relative bool
	// Vanished gives frames that are only in the base a width.
	Vanished bool
	// Focus lets the page open with callers and callees of the function of this name, if the tree has it.
	Focus string
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

func (o *Options) widths() flame.Widths {
	if o.Vanished {
		return flame.WidthBoth
	}
	return flame.WidthNew
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
