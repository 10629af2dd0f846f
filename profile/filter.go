package profile

import "regexp"

// Filter selects samples and frames by regular expressions, with the meaning of the `go tool pprof` options
// of the same names. The zero Filter keeps everything.
type Filter struct {
	// Focus keeps samples with a matching frame. Ignore drops them.
	Focus, Ignore *regexp.Regexp
	// Hide removes matching frames from stacks. Show removes all others.
	Hide, Show *regexp.Regexp
	// Nodes lists the nodes (NodeLabel) whose samples are kept. If nil, all samples are kept.
	Nodes []string
}

// Empty reports whether f keeps everything.
func (f *Filter) Empty() bool {
	return f == nil || f.Focus == nil && f.Ignore == nil && f.Hide == nil && f.Show == nil && f.Nodes == nil
}
