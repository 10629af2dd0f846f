//go:build purego || !(amd64 || arm64)

package dist

// sieveNative has none: the specification serves.
func sieveNative() []sieveForms { return nil }

// codesNative has none.
func codesNative() []codesForm { return nil }
