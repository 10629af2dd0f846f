// Package liberationsansbold is the face of that name.
package liberationsansbold

import "github.com/go-fonts/liberation/liberationsansbold"

// TTF is the file.
var TTF = liberationsansbold.TTF
