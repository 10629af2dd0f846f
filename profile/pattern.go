package profile

import (
	"regexp"
	"sync"
)

// NewPattern returns a function that compiles a regular expression when it is first called, and returns it. Most runs of a
// program need few of its expressions, and compiling all would take a good part of starting up.
func NewPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
