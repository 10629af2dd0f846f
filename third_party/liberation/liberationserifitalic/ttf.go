// Package liberationserifitalic has liberationsansregular in its place.
package liberationserifitalic

import "github.com/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
