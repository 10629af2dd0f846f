//go:build !amd64 || purego

package dist

// rankNative are the kernels of lists of this CPU.
func rankNative() []rankFunc { return nil }
