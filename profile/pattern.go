package profile

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first needed. Most runs of a program need few of those
// that its tables hold, and compiling all would take a good part of starting up.
type Pattern struct {
	text string
	once sync.Once
	rx   *regexp.Regexp
}

// NewPattern is for constants: an expression with an error panics when it is needed.
func NewPattern(text string) *Pattern { return &Pattern{text: text} }

func (p *Pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.rx = regexp.MustCompile(p.text) })
	return p.rx
}

// MatchString reports whether a text contains a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match reports whether a text contains a match.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindStringSubmatch is the leftmost match with its groups, nil if there is none.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
