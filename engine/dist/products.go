package dist

// Products writes to out[i] the inner product of q and the i-th row of rows, which are as long as q: one dimension after the other, a product and
// a sum rounded once. It takes four rows at a time, because each sum waits for the one before.
func Products(q, rows, out []float32) {
	n := len(q)
	last := len(out) - 1
	row := func(i int) []float32 { return rows[i*n:][:n] }
	for i := 0; i <= last; i += 4 {
		a, b, c, d := row(i), row(min(i+1, last)), row(min(i+2, last)), row(min(i+3, last))
		var sums [4]float32
		for j, v := range q {
			sums[0], sums[1] = fusedAdd(v, a[j], sums[0]), fusedAdd(v, b[j], sums[1])
			sums[2], sums[3] = fusedAdd(v, c[j], sums[2]), fusedAdd(v, d[j], sums[3])
		}
		copy(out[i:], sums[:])
	}
}
