package pgo

import (
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// blockedPrefix is prepended to the name of a blocked function. It is the prefix of datadog-pgo
// (github.com/DataDog/datadog-pgo pgo/noinline.go), so that users of that tool recognize it.
const blockedPrefix = "DO NOT INLINE: "

// Blocked returns a copy of p in which the given functions have names that do not exist in the program. The
// compiler then finds no hot calls to these functions and inlines them only where it would without a profile.
// It also no longer treats the calls that they make as hot. Blocked returns an error with a hint if a function
// is not in the profile.
//
// It is the workaround for golang/go#65532: inlining processData of gRPC makes the stacks of all its goroutines
// grow.
func Blocked(p *profile.Profile, functions ...string) (*profile.Profile, error) {
	if len(functions) == 0 {
		return p, nil
	}
	out := *p
	out.Functions = slices.Clone(p.Functions)
	for _, name := range functions {
		found := false
		for i := range out.Functions {
			if out.Functions[i].Name == name {
				out.Functions[i].Name = blockedPrefix + name
				found = true
			}
		}
		if !found && !slices.ContainsFunc(p.Functions, func(f profile.Function) bool { return f.Name == name }) {
			return nil,
				hints.Errorf(similar(p, name), "block %s: no such function calls or is called in these profiles", name)
		}
	}
	return &out, nil
}

// similar returns a hint with at most three functions of a similar name.
func similar(p *profile.Profile, name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	var list []string
	for i := range p.Functions {
		f := p.Functions[i].Name
		if last != "" && strings.Contains(f, last) && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	const most = 3
	slices.Sort(list)
	switch {
	case len(list) == 0:
		return "names are the linker's, as profile top prints them: " +
			"google.golang.org/grpc/internal/transport.(*loopyWriter).processData"
	case len(list) > most:
		return "available: " + strings.Join(list[:most], ", ") + ", ..."
	}
	return "similar names: " + strings.Join(list, ", ")
}
