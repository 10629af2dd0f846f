package profile

import "regexp"

// Filter chooses samples and frames by regular expressions, with the meanings of the options of
// `go tool pprof` of the same names. The zero Filter keeps everything.
type Filter struct {
	// Focus keeps samples with a matching frame, Ignore drops such samples.
	Focus, Ignore *regexp.Regexp
	// Hide takes matching frames out of stacks, Show all others.
	Hide, Show *regexp.Regexp
	// Nodes keeps samples of these nodes (NodeLabel); nil: all.
	Nodes []string
}

// Empty reports whether nothing is filtered.
func (f *Filter) Empty() bool {
	return f == nil || f.Focus == nil && f.Ignore == nil && f.Hide == nil && f.Show == nil && f.Nodes == nil
}
