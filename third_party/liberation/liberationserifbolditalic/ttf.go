// Package liberationserifbolditalic has liberationsansregular in its place.
package liberationserifbolditalic

import "github.com/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
