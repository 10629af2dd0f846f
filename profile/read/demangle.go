package read

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"kitescope/profile"
)

// demangled returns a profile whose names of C++ and Rust are readable, without parameters and template arguments, as
// `go tool pprof` shows them (google/pprof internal/symbolizer/symbolizer.go). System names stay.
func demangled(p *profile.Profile) *profile.Profile {
	var functions []profile.Function
	for i, f := range p.Functions {
		if f.Name != "" && f.SystemName != f.Name {
			continue // its writer has chosen
		}
		name := demangledName(f.SystemName)
		if name == f.Name {
			continue
		}
		if functions == nil {
			functions = slices.Clone(p.Functions)
		}
		functions[i].Name = name
	}
	if functions == nil {
		return p
	}
	q := *p
	q.Functions = functions
	return &q
}

func demangledName(system string) string {
	if strings.HasPrefix(system, "_") || strings.HasPrefix(system, "$") {
		for _, mangled := range []string{system, strings.TrimPrefix(system, "_")} { // macOS sets one more _ before all names
			if name := demangle.Filter(mangled, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams); name != mangled {
				return name
			}
		}
	}
	if !looksLikeCPlusPlus(system) {
		return system
	}
	return without(without(system, '(', ')'), '<', '>')
}

// looksLikeCPlusPlus guesses whether a name was demangled from C++, with the same rules as pprof.
func looksLikeCPlusPlus(name string) bool {
	switch {
	case strings.Contains(name, ".<"): // Java: class.<init>
		return false
	case strings.Contains(name, "])."): // Go: pkg.(*Type[...]).Method
		return false
	}
	return strings.ContainsAny(name, "<>[]") || strings.Contains(name, "::")
}

// without takes parts in brackets out of a name, and leaves it as it is where they do not match from there on.
func without(name string, opening, closing byte) string {
	var kept strings.Builder
	depth, from := 0, 0
	for i := range len(name) {
		switch name[i] {
		case opening:
			if depth == 0 {
				kept.WriteString(name[from:i])
				from = i
			}
			depth++
		case closing:
			if depth == 0 {
				return kept.String() + name[from:]
			}
			if depth--; depth == 0 {
				from = i + 1
			}
		}
	}
	return kept.String() + name[from:]
}
