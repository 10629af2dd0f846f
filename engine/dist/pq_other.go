//go:build !amd64 || purego

package dist

// pqNative are the kernels of product quantisers of a back end.
func pqNative(Backend) pqForms { return pqForms{} }
