//go:build !purego

package dist

import "golang.org/x/sys/cpu"

// native are the back ends of this CPU other than Generic, the best last. GODEBUG can mask
// features, which the package cpu obeys.
func native() []Backend {
	x := cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return nil
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return []Backend{AVX2}
	}
	return []Backend{AVX2, AVX512}
}
