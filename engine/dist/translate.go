package dist

// Translate writes to dst the table entry of each byte of src, if this CPU has a kernel (see Translates). It
// reports whether it did. dst must be as long as src.
func Translate(table *[256]byte, src, dst []byte) bool {
	if len(src) == 0 || !Translates() {
		return false
	}
	_ = dst[len(src)-1]
	translate(table, &src[0], &dst[0], len(src))
	return true
}
