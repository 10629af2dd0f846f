//go:build !purego

package dist

// linearNative are the kernels of linear maps of a back end; nil where there are none.
func linearNative(b Backend) linearKernels {
	if b != AVX2 && b != AVX512 {
		return linearKernels{}
	}
	rows := func(kernel func(rows *float32, stride uintptr, x *float32, n int, out *float32, count int)) func([]float32, int, []float32, int, []float32) {
		return func(rows []float32, stride int, x []float32, n int, out []float32) {
			kernel(&rows[0], uintptr(4*stride), &x[0], n, &out[0], len(out))
		}
	}
	return linearKernels{
		eights: rows(linearEightsAVX2), sixteens: rows(linearSixteensAVX2),
		turns: func(columns, x []float32, n int, out []float32) {
			linearTurnsAVX2(&columns[0], uintptr(4*len(out)), &x[0], n, &out[0], len(out))
		},
	}
}
