package dist

// order is an order in which the terms of a float32 distance are added: how many lanes the
// main loop has, what becomes of the lanes, and of the elements that do not fill them.
type order uint8

// The orders. The main loops round once for a product and a sum (FMA) unless said otherwise.
const (
	// orderPyramid16 has 16 lanes; folds them to 8, adds the next 8 elements if there are 8,
	// folds to 4, adds the next 4, then the last 1 to 3 with zeros, then (0+1)+(2+3).
	orderPyramid16 order = iota
	// orderPyramid8 is the same from 8 lanes on, orderPyramid4 from 4 lanes on, which rounds
	// twice.
	orderPyramid8
	orderPyramid4
	// orderHNSW16 has 16 lanes. L2 adds them one after the other, the inner product folds them
	// to 8 and 4 and adds (0+2)+(1+3). What is left has a sum of its own, that is added at last:
	// L2 takes 8 elements with products rounded, the rest with FMA; the inner product rounds all.
	orderHNSW16
	// orderHNSW4 rounds twice. L2 has 4 lanes; the inner product has 8 for as many times 16
	// elements as there are, folds them to 4 and goes on with 4. They are added one after the
	// other. The last 1 to 3 have a sum of their own, L2 with FMA, the inner product without.
	orderHNSW4
	// orderFaiss has 16 lanes; folds them to 8, adds the next 8 elements, folds to 4, adds
	// (0+2)+(1+3), then the rest one after the other.
	orderFaiss
	// orderHNSW16Fused is orderHNSW16 but in what is left: L2 takes eight and then four elements with products
	// rounded, the rest with FMA; the inner product is FMA throughout.
	orderHNSW16Fused
	// orderHNSW8Fused has 8 lanes, for as many times 16 elements as there are, which are added one after the other;
	// what is left is as in orderHNSW16Fused. orderHNSW8 rounds twice, but for FMA in the last 1 to 3 elements of L2.
	orderHNSW8Fused
	orderHNSW8
	// orderHNSW4Fused is orderHNSW4 with FMA throughout.
	orderHNSW4Fused
	// orderPlain4 has 4 lanes that are added one after the other, what is left has a sum of its own, and there is no FMA.
	// orderPlain16 is the same, with its lanes for as many times 16 elements as there are.
	orderPlain4
	orderPlain16
	// orderFaiss8 is orderFaiss from 8 lanes on, which takes the next 4 elements before it adds its last 4 lanes, as GCC vectorises the end of
	// a loop for AVX2. orderTurn adds one term after the other and rounds twice, orderTurnFused once.
	orderFaiss8
	orderTurn
	orderTurnFused
	orders
)

// orderOf is the order of a profile at a dimension. Seen in, and compared bit by bit with, at
// dimensions 1 to 257 and a few more (testdata/float32_peers.py):
//   - knowhere v2.2.3: src/simd/distances_{avx512,avx,sse}.cc and libknowhere.so of Milvus
//     2.3.5, whose last 1 to 3 elements are fused like the others. From v2.3.12 on (Milvus 2.4)
//     its AVX-512 functions are plain loops, which compile to faiss's order: use Faiss for them;
//     its AVX2 functions have an order that is none of these;
//   - hnswlib 0.8.0: hnswlib/space_l2.h and space_ip.h, and what GCC 12 with -O3
//     -march=native makes of them on an AMD CPU with AVX-512, where it fuses no products in
//     loops of 128 and 256 bits (-mtune=znver3) and vectorises the products, not the sums, of
//     the plain loops. What GCC 11 and 12 make of them on other CPUs is in hnswlibOrders;
//   - faiss 1.15.1 of PyPI: the AVX512 instances of fvec_L2sqr, fvec_inner_product and of their
//     batch_4 forms (faiss/utils/simd_impl/distances_autovec-inl.h), which agree. So FLAT with
//     few queries and HNSW have the same bits; FLAT with many queries uses BLAS and has not.
func orderOf(p Profile, dim int) order {
	if by16, by4, ok := hnswlibOrders(p); ok {
		if by16 == orderHNSW16Fused && dim%16 == 0 {
			return orderHNSW16 // nothing is left, and this one has kernels
		}
		if dim%16 == 0 || dim > 16 && dim%4 != 0 {
			return by16
		}
		return by4
	}
	switch p {
	case KnowhereAVX2:
		return orderPyramid8
	case KnowhereSSE:
		return orderPyramid4
	case Faiss, Knowhere25:
		return orderFaiss
	default:
		return orderPyramid16
	}
}

// specified reports whether an order has no kernels but the specification.
func (o order) specified() bool { return o > orderFaiss }

// hnswlibOrders are the orders of a profile of hnswlib: by16 that of its functions for 16 elements at a time, which take
// dimensions that are multiples of 16, or greater than 16 and no multiples of 4; by4 that of all others.
//
// Which there are was seen in the machine code for -march=haswell, skylake, alderlake, skylake-avx512, cascadelake,
// icelake-server, sapphirerapids, znver2, znver3 and none, of g++ 12.2 and in part 11.3: the CPUs of one maker with the same
// vectors agree (but znver1, which is of no profile). The bits were compared (testdata/hnswlib_builds.cc).
func hnswlibOrders(p Profile) (by16, by4 order, ok bool) {
	switch p {
	case HNSWLib:
		return orderHNSW16, orderHNSW4, true
	case HNSWLibIntelAVX512:
		return orderHNSW16Fused, orderHNSW4Fused, true
	case HNSWLibIntelAVX2:
		return orderHNSW8Fused, orderHNSW4Fused, true
	case HNSWLibAMDAVX2:
		return orderHNSW8, orderHNSW4, true
	case HNSWLibSSE:
		return orderPlain16, orderPlain4, true
	default:
		return 0, 0, false
	}
}
