package profile

import (
	"regexp"
	"sync"
)

// NewPattern returns a function that compiles a regular expression on its first call and returns it. Most runs
// of a program use few of its expressions, and compiling them all would take a considerable part of the startup
// time.
func NewPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
