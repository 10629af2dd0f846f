//go:build !purego

package dist

import "golang.org/x/sys/cpu"

// sieveNative are the forms of this CPU, the best last.
func sieveNative() []sieveForms {
	var all []sieveForms
	for _, b := range native() {
		switch {
		case b == AVX2:
			all = append(all, sieveForms{fine: sieveAVX2, wide: true})
			if cpu.X86.HasAVXVNNI {
				all = append(all, sieveForms{fine: sieveAVXVNNI})
			}
		case cpu.X86.HasAVX512VNNI:
			all = append(all, sieveForms{fine: sieve1x2AVX512, blockFine: sieve2x2AVX512, blockCoarse: sieve4x1AVX512})
		}
	}
	return all
}

// codesNative are the forms of Codes of this CPU, the best last.
func codesNative() []codesForm {
	var all []codesForm
	for _, b := range native() {
		switch {
		case b == AVX2:
			all = append(all, codesForm{codesAVX2, true})
			if cpu.X86.HasAVXVNNI {
				all = append(all, codesForm{codesAVXVNNI, false})
			}
		case cpu.X86.HasAVX512VNNI:
			all = append(all, codesForm{codesAVX512, false})
		}
	}
	return all
}
