//go:build !amd64 || purego

package dist

// rabitqNative are the kernels of RaBitQ of a back end.
func rabitqNative(Backend) rabitqKernels { return rabitqKernels{} }
