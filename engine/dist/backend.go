package dist

import (
	"fmt"
	"slices"
	"strings"
)

// Backend is an implementation of the kernels.
type Backend uint8

// The back ends. Generic is the specification and works on every machine.
const (
	Generic Backend = iota
	AVX2            // with FMA and F16C
	AVX512          // F, BW, DQ, VL
	NEON
)

// backendNames returns the names of the back ends, in the order of the constants.
func backendNames() []string { return []string{"generic", "avx2", "avx512", "neon"} }

func (b Backend) String() string { return nameOf(backendNames(), int(b)) }

// Backends returns the back ends that this CPU and this build support, from slowest to fastest.
func Backends() []Backend { return append([]Backend{Generic}, native()...) }

// usable reports whether b is one of Backends.
func (b Backend) usable() bool { return b == Generic || slices.Contains(native(), b) }

// nameOf returns the i-th name, or the number and a question mark if names has no such entry.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%d?", i)
}

// find returns the index of name in names, ignoring case. It returns an error that lists names if there is no
// such name.
func find(what, name string, names []string) (int, error) {
	i := slices.Index(names, strings.ToLower(name))
	if i < 0 {
		return 0, fmt.Errorf("%s %q: expected one of %s", what, name, strings.Join(names, ", "))
	}
	return i, nil
}
