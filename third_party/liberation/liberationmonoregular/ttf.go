// Package liberationmonoregular is the face of that name, without its instructions for hinting.
package liberationmonoregular

import _ "embed"

// TTF is the file.
//
//go:embed liberationmonoregular.ttf
var TTF []byte
