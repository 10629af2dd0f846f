//go:build !purego

package dist

import "golang.org/x/sys/cpu"

// sieveNative are the forms of this CPU: those of the first arm64 have no SDOT.
func sieveNative() []sieveForms {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []sieveForms{{fine: sieveNEON}}
}

// codesNative are the forms of Codes.
func codesNative() []codesForm { return []codesForm{{codesNEON, true}} }
