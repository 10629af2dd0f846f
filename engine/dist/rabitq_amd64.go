//go:build !purego

package dist

// rabitqNative are the kernels of RaBitQ of a back end; nil where there are none.
func rabitqNative(Backend) rabitqKernels { return rabitqKernels{} }
