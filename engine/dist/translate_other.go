//go:build !amd64 || purego

package dist

// Translates reports whether this CPU has a kernel for Translate.
func Translates() bool { return false }

func translate(*[256]byte, *byte, *byte, int) {}
