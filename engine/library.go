package engine

import (
	"slices"

	"kitescope/engine/dist"
)

// Library is whose answers are reproduced where the distances alone do not determine them: which of several equal hits
// enter and in which order they come, which rows are compared, what a filter does, the parameters of a search that names
// none, and the order in which floats are added up (Profile).
type Library uint8

// The libraries.
const (
	// Native is the one that wrote the index. Vectors without a file are searched as faiss does, graphs as hnswlib does.
	Native Library = iota
	// HNSWLib is hnswlib 0.8.0: HierarchicalNSW::searchKnn and BruteforceSearch, as knn_query of its Python module returns
	// their hits.
	HNSWLib
	// Faiss is faiss 1.15: IndexHNSWFlat with its bounded queue; IndexFlat and IndexIVFFlat, of 1.7.3 and later, for fewer
	// queries than go to BLAS (faiss sums differently there).
	Faiss
	// Knowhere22 is knowhere 1 and 2.2, of Milvus 2.1 to 2.3: a fork of hnswlib, and one of faiss whose heap compares
	// distances only and which never uses BLAS below 16,384 queries at once (v2.2.3); Milvus sends queries one by one.
	Knowhere22
	// Knowhere23 is knowhere 2.3, of Milvus 2.4: graphs with two lists of candidates, faiss's newer heap, and rows
	// without length that have cosine 0, not none (v2.3.12).
	Knowhere23
	// Knowhere25 and Knowhere26 are those of Milvus 2.5 and 2.6: sparse vectors are searched in other ways than in 2.4, and scores under
	// BM25 added up in another order in each; all else as Knowhere23.
	Knowhere25
	Knowhere26
)

// Libraries are the names of all.
func Libraries() []string {
	return []string{"native", "hnswlib", "faiss", "knowhere-2.2", "knowhere-2.3", "knowhere-2.5", "knowhere-2.6"}
}

func (l Library) String() string { return Libraries()[l] }

// ParseLibrary finds a library by its name.
func ParseLibrary(name string) (Library, bool) {
	i := slices.Index(Libraries(), name)
	return Library(max(i, 0)), i >= 0
}

// MilvusLibrary is the library in a release of Milvus.
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

// Or is l, or native in its place.
func (l Library) Or(native Library) Library {
	if l == Native {
		return native
	}
	return l
}

// Valid reports whether there is such a library.
func (l Library) Valid() bool { return l <= Knowhere26 }

// Knowhere reports whether it is Milvus's.
func (l Library) Knowhere() bool { return l >= Knowhere22 && l <= Knowhere26 }

// Profile is the order in which the library adds up floats on a machine with AVX-512. Knowhere from 2.3 on adds up as faiss does
// (src/simd/distances_avx512.cc of v2.3.12 and v2.5.5, compiled and compared).
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
