// Package liberationmonobolditalic has liberationmonoregular in its place.
package liberationmonobolditalic

import "codeberg.org/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
