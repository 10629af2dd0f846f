package dist

import (
	"fmt"
	"slices"
	"strings"
)

// Backend is an implementation of the kernels.
type Backend uint8

// The back ends. Generic is the specification and works everywhere.
const (
	Generic Backend = iota
	AVX2            // with FMA and F16C
	AVX512          // F, BW, DQ, VL
	NEON
)

// backendNames are the names of the back ends, in their order.
func backendNames() []string { return []string{"generic", "avx2", "avx512", "neon"} }

func (b Backend) String() string { return nameOf(backendNames(), int(b)) }

// Backends lists the back ends that this CPU and this build have, the best last.
func Backends() []Backend { return append([]Backend{Generic}, native()...) }

// usable reports whether b is one of Backends.
func (b Backend) usable() bool { return b == Generic || slices.Contains(native(), b) }

// nameOf is the i-th name.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%d?", i)
}

// find is the place of a name among names, in any case.
func find(what, name string, names []string) (int, error) {
	i := slices.Index(names, strings.ToLower(name))
	if i < 0 {
		return 0, fmt.Errorf("%s %q: expected one of %s", what, name, strings.Join(names, ", "))
	}
	return i, nil
}
