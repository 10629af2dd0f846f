package read

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"kitescope/profile"
)

// demangled returns p with demangled C++ and Rust names, without parameters and template arguments, as `go tool
// pprof` shows them (google/pprof internal/symbolizer/symbolizer.go). System names are unchanged.
func demangled(p *profile.Profile) *profile.Profile {
	var functions []profile.Function
	for i, f := range p.Functions {
		if f.Name != "" && f.SystemName != f.Name {
			continue // the writer of the profile already set a readable name
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
		for _, mangled := range []string{system, strings.TrimPrefix(system, "_")} { // macOS adds another _
			if name := demangle.Filter(mangled, demangle.NoParams, demangle.NoEnclosingParams,
				demangle.NoTemplateParams); name != mangled {
				return name
			}
		}
	}
	if !looksLikeCPlusPlus(system) {
		return system
	}
	return without(without(system, '(', ')'), '<', '>')
}

// looksLikeCPlusPlus guesses whether name is a demangled C++ name, by the rules of pprof.
func looksLikeCPlusPlus(name string) bool {
	switch {
	case strings.Contains(name, ".<"): // Java: class.<init>
		return false
	case strings.Contains(name, "])."): // Go: pkg.(*Type[...]).Method
		return false
	}
	return strings.ContainsAny(name, "<>[]") || strings.Contains(name, "::")
}

// without removes the bracketed parts of a name. It leaves the rest of the name unchanged from the first
// unbalanced bracket.
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
