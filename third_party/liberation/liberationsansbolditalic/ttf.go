// Package liberationsansbolditalic has liberationsansbold in its place.
package liberationsansbolditalic

import "codeberg.org/go-fonts/liberation/liberationsansbold"

// TTF is the file.
var TTF = liberationsansbold.TTF
