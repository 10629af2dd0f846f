//go:build !purego

package dist

import "golang.org/x/sys/cpu"

// Translates reports whether this CPU has a kernel for Translate: with AVX-512's VBMI.
func Translates() bool { return cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW }

func translate(table *[256]byte, src, dst *byte, n int) {
	translateVBMI(&table[0], src, dst, n)
}
