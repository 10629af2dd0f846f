//go:build !purego

package dist

// rankNative are the kernels of lists of this CPU, the best last.
func rankNative() []rankFunc {
	for _, b := range native() {
		if b == AVX512 {
			return []rankFunc{rankAVX512}
		}
	}
	return nil
}
