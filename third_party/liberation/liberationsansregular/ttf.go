// Package liberationsansregular is the face of that name.
package liberationsansregular

import "github.com/go-fonts/liberation/liberationsansregular"

// TTF is the file.
var TTF = liberationsansregular.TTF
