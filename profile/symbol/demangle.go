package symbol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"kitescope/profile"
)

// Mode is how much is shown of names of C++ and Rust. The zero Mode is that of `go tool pprof`.
type Mode uint8

// The modes are the values of pprof's -symbolize=demangle= (google/pprof
// internal/symbolizer/symbolizer.go).
const (
	// Simple leaves out parameters, template arguments and return types.
	Simple Mode = iota
	// Templates leaves template arguments in.
	Templates
	// Full leaves everything in.
	Full
	// None shows names as the linker knows them.
	None
)

var modes = [...]string{"simple", "templates", "full", "none"}

func (m Mode) String() string { return modes[m] }

// ModeOf is the Mode of a word of its String, or of "default", pprof's word for Simple.
func ModeOf(word string) (Mode, error) {
	if word == "default" {
		return Simple, nil
	}
	if at := slices.Index(modes[:], word); at >= 0 {
		return Mode(at), nil
	}
	return 0, fmt.Errorf("demangle %q: it is one of %s", word, strings.Join(modes[:], ", "))
}

func (m Mode) options() []demangle.Option {
	switch m {
	case Templates:
		return []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams}
	case Full:
		return []demangle.Option{demangle.NoClones}
	default:
		return []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams}
	}
}

// Demangle makes names of C++ and Rust readable, as `go tool pprof` does before it shows a profile:
// those that their writer has demangled already lose what the mode leaves out. System names stay.
func Demangle(p *profile.Profile, mode Mode) *profile.Profile {
	if mode == None {
		return p
	}
	options := mode.options()
	var functions []profile.Function
	for i, f := range p.Functions {
		if f.Name != "" && f.SystemName != f.Name {
			continue // its writer has chosen
		}
		name := demangled(f.SystemName, mode, options)
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

// Demangled is the name that is shown for what the linker knows.
func Demangled(name string, mode Mode) string {
	if mode == None {
		return name
	}
	return demangled(name, mode, mode.options())
}

func demangled(system string, mode Mode, options []demangle.Option) string {
	if mayBeMangled(system) {
		if name := demangle.Filter(system, options...); name != system {
			return name
		}
		// macOS sets one more _ before all names.
		if rest, ok := strings.CutPrefix(system, "_"); ok {
			if name := demangle.Filter(rest, options...); name != rest {
				return name
			}
		}
	}
	if mode == Full || !looksLikeCPlusPlus(system) {
		return system
	}
	name := without(system, '(', ')')
	if mode == Simple {
		name = without(name, '<', '>')
	}
	return name
}

// mayBeMangled spares names the demangler that it would return as they are: mangled names begin with
// _Z, _R or, of D and old compilers, with something else that demangle.Filter does not know either.
func mayBeMangled(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "$")
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
