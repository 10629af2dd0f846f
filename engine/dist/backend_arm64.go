//go:build !purego

package dist

// native are the back ends of this CPU other than Generic: every arm64 CPU has NEON.
func native() []Backend { return []Backend{NEON} }
