//go:build !purego

package dist

// sq8Native is the generated kernel of an order on a back end; nil where there is the specification alone.
func sq8Native(b Backend, m Metric, o sq8Order) scanFunc {
	type key struct {
		l2 bool
		sq8Order
	}
	k := key{m == L2, o}
	if b == AVX512 {
		if f := map[key]scanFunc{
			{true, sq8Order{16, false, false}}:  sq8L2AVX512,
			{false, sq8Order{16, false, false}}: sq8IPAVX512,
			{true, sq8Order{16, true, false}}:   sq8KnowhereL2AVX512,
			{false, sq8Order{16, true, false}}:  sq8KnowhereIPAVX512,
		}[k]; f != nil {
			return f
		}
	}
	if b != AVX512 && b != AVX2 {
		return nil
	}
	return map[key]scanFunc{
		{true, sq8Order{8, false, false}}:  sq8L2AVX2,
		{false, sq8Order{8, false, false}}: sq8IPAVX2,
		{true, sq8Order{8, true, false}}:   sq8KnowhereL2AVX2,
		{false, sq8Order{8, true, false}}:  sq8KnowhereIPAVX2,
	}[k]
}
