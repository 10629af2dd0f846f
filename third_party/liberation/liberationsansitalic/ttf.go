// Package liberationsansitalic has liberationsansregular in its place.
package liberationsansitalic

import "github.com/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
