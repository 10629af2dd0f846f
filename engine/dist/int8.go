package dist

import "unsafe"

// int8L2 and int8IP are the specification of the int8 kernels. They return a sum of int32, which does not
// depend on the order of addition, as float32 (int8_vec_* in src/simd of knowhere v2.5.5, the same at all
// levels). The sum is exact up to 33,025 dimensions and wraps around above that.
func int8L2(q, x unsafe.Pointer, n int) float32 {
	query, row := unsafe.Slice((*int8)(q), n), unsafe.Slice((*int8)(x), n)
	var sum int32
	for i := range query {
		d := int32(query[i]) - int32(row[i])
		sum += d * d
	}
	return float32(sum)
}

func int8IP(q, x unsafe.Pointer, n int) float32 {
	query, row := unsafe.Slice((*int8)(q), n), unsafe.Slice((*int8)(x), n)
	var sum int32
	for i := range query {
		sum += int32(query[i]) * int32(row[i])
	}
	return float32(sum)
}
