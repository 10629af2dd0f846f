//go:build !amd64 || purego

package dist

// linearNative are the kernels of linear maps of a back end.
func linearNative(Backend) linearKernels { return linearKernels{} }
