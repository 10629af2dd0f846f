// Package liberationmonoregular is the face of that name.
package liberationmonoregular

import "github.com/go-fonts/liberation/liberationmonoregular"

// TTF is the file.
var TTF = liberationmonoregular.TTF
