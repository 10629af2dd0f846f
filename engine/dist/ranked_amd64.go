//go:build !purego

package dist

import "slices"

// rankNative are the kernels of lists of this CPU, the best last.
func rankNative() []rankFunc {
	if !slices.Contains(native(), AVX512) {
		return nil
	}
	return []rankFunc{rankAVX512}
}
