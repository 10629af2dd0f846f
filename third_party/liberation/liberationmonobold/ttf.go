// Package liberationmonobold has liberationmonoregular in its place.
package liberationmonobold

import "codeberg.org/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
