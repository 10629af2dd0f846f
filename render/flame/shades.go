package flame

import (
	"image/color"
	"math"

	"kitescope/profile"
)

// Colors of flame graphs. Text on light fills is black, and on dark fills white or black, with a contrast of at
// least 4.5. A test checks this.

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

// classGroups returns the groups of classes in the order of profile.Classes.
func classGroups() []flameGroup {
	shades := map[profile.Class][2]uint32{
		profile.Unknown: {0xdfe1e4, 0x50555d}, profile.GoCode: {0x8fc7ee, 0x2a6896},
		profile.Runtime: {0xbcb5ea, 0x5d539b},
		profile.GC:      {0xf2a7a5, 0x97423f}, profile.Cgo: {0xe9dc8c, 0x766a1c}, profile.Native: {0xf3bd84, 0x8c5a1f},
		profile.Assembly: {0xa7d9a0, 0x37713a}, profile.Syscall: {0xe0aed4, 0x84467a},
		profile.Kernel: {0xcbb79f, 0x6d5a43},
		profile.Idle:   {0xced4da, 0x5a626b}, profile.Managed: {0x98dccb, 0x1f7361},
	}
	groups := make([]flameGroup, 0, len(shades))
	for _, class := range profile.Classes() {
		shade, ok := shades[class]
		if !ok {
			shade = shades[profile.Unknown]
		}
		groups = append(groups, flameGroup{class.String(), rgb(shade[0]), rgb(shade[1])})
	}
	return groups
}

// ClassColor returns the fill color of a class of code, for use in all pictures.
func ClassColor(class profile.Class, dark bool) color.RGBA {
	groups := classGroups()
	if int(class) >= len(groups) {
		class = profile.Unknown
	}
	return groups[class].color(dark)
}

// ChangeColors returns the color stops from an unchanged frame to the strongest decrease, and to the strongest
// increase.
func ChangeColors(dark bool) (less, more []color.RGBA) {
	c := flameRamps(dark)
	return c.less, c.more
}

// Hex formats a color as in themes: #rrggbb.
func Hex(c color.RGBA) string { return hexText(c) }

// libraryShades returns the colors for the native libraries with the largest values. Other libraries have the
// color of native code.
func libraryShades() []flameGroup {
	return []flameGroup{
		{light: rgb(0xf5a65b), dark: rgb(0x9a5512)},
		{light: rgb(0xf7d07a), dark: rgb(0x85641a)},
		{light: rgb(0xdfa07c), dark: rgb(0x8a4a2b)},
		{light: rgb(0xd9c27c), dark: rgb(0x6b5f2b)},
		{light: rgb(0xf6c9ac), dark: rgb(0x7d5744)},
	}
}

// flameSet holds the colors that do not depend on the class of code. Changes range from white to blue for
// decreases and to red for increases: the scheme RdBu of ColorBrewer (Brewer, Harrower and others), which
// color-blind people can distinguish.
type flameSet struct {
	background, text, dim, edge color.RGBA
	rest, noise                 color.RGBA
	more, less                  []color.RGBA
}

func flameRamps(dark bool) flameSet {
	if dark {
		return flameSet{
			background: rgb(0x15181c), text: rgb(0xe0e5ec), dim: rgb(0x98a2b0), edge: rgb(0x15181c),
			rest: rgb(0x3d434b), noise: rgb(0x343a42),
			more: []color.RGBA{rgb(0x565c65), rgb(0x80483d), rgb(0xa94a36), rgb(0xd8604a), rgb(0xff8a75)},
			less: []color.RGBA{rgb(0x565c65), rgb(0x3f5f7c), rgb(0x2c6da3), rgb(0x4a98d6), rgb(0x7cc0ff)},
		}
	}
	return flameSet{
		background: rgb(0xffffff), text: rgb(0x1f2328), dim: rgb(0x59636e), edge: rgb(0xb4bac1), rest: rgb(0xe6e8eb),
		noise: rgb(0xd3d6da),
		more:  []color.RGBA{rgb(0xf9f9f9), rgb(0xfddbc7), rgb(0xf4a582), rgb(0xd6604d), rgb(0xb2182b)},
		less:  []color.RGBA{rgb(0xf9f9f9), rgb(0xd1e5f0), rgb(0x92c5de), rgb(0x4393c3), rgb(0x2166ac)},
	}
}

// ramp interpolates between color stops, with at from 0 to 1.
func ramp(stops []color.RGBA, at float64) color.RGBA {
	at = min(1, max(0, at)) * float64(len(stops)-1)
	i := min(len(stops)-2, int(at))
	between := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (float64(b)-float64(a))*(at-float64(i))))
	}
	a, b := stops[i], stops[i+1]
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}

// luminance returns the relative luminance of WCAG 2: 0 for black, 1 for white.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func hexText(c color.RGBA) string {
	const digits = "0123456789abcdef"
	b := []byte{'#'}
	for _, v := range []uint8{c.R, c.G, c.B} {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}
