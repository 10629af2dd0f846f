// Package liberationserifregular has liberationsansregular in its place.
package liberationserifregular

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
