package dist

import "unsafe"

// int8L2 and int8IP are the specification of the int8 kernels: a sum of int32, which no order of
// addition changes, as float32 (int8_vec_* in src/simd of knowhere v2.5.5, all levels alike).
// It is exact up to 33,025 dimensions and wraps around beyond.
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
