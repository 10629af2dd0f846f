//go:build !purego

package dist

// linearNative are the kernels of linear maps of a back end; nil where there are none.
func linearNative(Backend) linearKernels { return linearKernels{} }
