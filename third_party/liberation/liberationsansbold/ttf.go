// Package liberationsansbold is the face of that name, without its instructions for hinting.
package liberationsansbold

import _ "embed"

// TTF is the file.
//
//go:embed liberationsansbold.ttf
var TTF []byte
