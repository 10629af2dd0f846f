package dist

// Translate writes to dst, which is as long as src, the entry of a table for each byte of src, if this CPU has a kernel for it
// (Translates), and reports whether it did.
func Translate(table *[256]byte, src, dst []byte) bool {
	if len(src) == 0 || !Translates() {
		return false
	}
	_ = dst[len(src)-1]
	translate(table, &src[0], &dst[0], len(src))
	return true
}
