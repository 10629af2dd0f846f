// Package liberationsansregular is the face of that name, without its instructions for hinting.
package liberationsansregular

import _ "embed"

// TTF is the file.
//
//go:embed liberationsansregular.ttf
var TTF []byte
