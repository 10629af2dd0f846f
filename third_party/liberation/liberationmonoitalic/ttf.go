// Package liberationmonoitalic has liberationmonoregular in its place.
package liberationmonoitalic

import "github.com/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
