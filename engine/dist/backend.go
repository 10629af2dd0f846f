package dist

// Backend is an implementation of the kernels.
type Backend uint8

// The back ends. Generic is the specification and works everywhere.
const (
	Generic Backend = iota
	AVX2            // with FMA and F16C
	AVX512          // F, BW, DQ, VL
	NEON
)
