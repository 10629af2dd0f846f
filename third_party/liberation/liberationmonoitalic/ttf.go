// Package liberationmonoitalic has liberationmonoregular in its place.
package liberationmonoitalic

import "codeberg.org/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
