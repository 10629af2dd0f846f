//go:build unix && !linux

package object

// discard returns nil because only Linux can release single pages. Elsewhere, all pages are released when the
// file is closed.
func discard([]byte) func(from, to int) { return nil }
