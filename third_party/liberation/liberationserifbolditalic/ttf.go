// Package liberationserifbolditalic has liberationsansregular in its place.
package liberationserifbolditalic

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
