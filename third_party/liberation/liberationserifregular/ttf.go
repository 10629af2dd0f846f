// Package liberationserifregular has liberationsansregular in its place.
package liberationserifregular

import "github.com/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
