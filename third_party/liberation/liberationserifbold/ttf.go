// Package liberationserifbold has liberationsansregular in its place.
package liberationserifbold

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
