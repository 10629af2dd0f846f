// Package liberationmonobolditalic has liberationmonoregular in its place.
package liberationmonobolditalic

import "github.com/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
