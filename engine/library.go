package engine

import (
	"slices"

	"kitescope/engine/dist"
)

// Library is the library whose results are reproduced. It decides everything that the distances alone do not
// determine: which of several equal hits are returned and in which order, which rows are compared, the effect of a
// filter, the defaults of search parameters, and the order in which floats are added up (Profile).
type Library uint8

// The supported libraries.
const (
	// Native is the library that wrote the index. Vectors without an index file are searched as faiss does, graphs
	// as hnswlib does.
	Native Library = iota
	// HNSWLib is hnswlib 0.8.0: HierarchicalNSW::searchKnn and BruteforceSearch, with hits as returned by knn_query
	// of its Python module.
	HNSWLib
	// Faiss is faiss 1.15: IndexHNSWFlat with its bounded queue, and IndexFlat and IndexIVFFlat of 1.7.3 and later
	// for batches too small for BLAS. With BLAS, faiss adds up floats in a different order.
	Faiss
	// Knowhere22 is knowhere 1 and 2.2, of Milvus 2.1 to 2.3. It contains a fork of hnswlib, and a fork of faiss
	// whose heap compares only distances and which does not use BLAS below 16,384 queries at once (v2.2.3). Milvus
	// sends queries one by one.
	Knowhere22
	// Knowhere23 is knowhere 2.3, of Milvus 2.4. It searches graphs with two candidate lists and uses the newer
	// heap of faiss. Rows of length 0 have cosine 0 instead of no cosine (v2.3.12).
	Knowhere23
	// Knowhere25 and Knowhere26 are the versions of knowhere in Milvus 2.5 and 2.6. Both search sparse vectors
	// differently than Milvus 2.4, and each adds up BM25 scores in a different order. Everything else is as in
	// Knowhere23.
	Knowhere25
	Knowhere26
)

// Libraries returns the names of all libraries, in the order of their values.
func Libraries() []string {
	return []string{"native", "hnswlib", "faiss", "knowhere-2.2", "knowhere-2.3", "knowhere-2.5", "knowhere-2.6"}
}

func (l Library) String() string { return Libraries()[l] }

// ParseLibrary returns the library with the given name, and whether it exists.
func ParseLibrary(name string) (Library, bool) {
	i := slices.Index(Libraries(), name)
	return Library(max(i, 0)), i >= 0
}

// MilvusLibrary returns the library in a release of Milvus.
func MilvusLibrary(major, minor int) Library {
	switch {
	case major > 2 || major == 2 && minor >= 6:
		return Knowhere26
	case major == 2 && minor == 5:
		return Knowhere25
	case major == 2 && minor == 4:
		return Knowhere23
	default:
		return Knowhere22
	}
}

// Or returns l, or native if l is Native.
func (l Library) Or(native Library) Library {
	if l == Native {
		return native
	}
	return l
}

// Valid reports whether l is one of the supported libraries.
func (l Library) Valid() bool { return l <= Knowhere26 }

// Knowhere reports whether l is a version of knowhere, the library of Milvus.
func (l Library) Knowhere() bool { return l >= Knowhere22 && l <= Knowhere26 }

// Profile returns the order in which the library adds up floats on a machine with AVX-512. Since 2.3, knowhere adds
// up as faiss does (src/simd/distances_avx512.cc of v2.3.12 and v2.5.5, compiled and compared).
func (l Library) Profile() dist.Profile {
	switch l {
	case HNSWLib:
		return dist.HNSWLib
	case Knowhere22:
		return dist.Knowhere
	default:
		return dist.Faiss
	}
}
