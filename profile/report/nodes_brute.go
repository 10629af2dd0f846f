package report

import (
	"path"
	"strings"

	"kitescope/profile"
)

// lockRx are the slow paths of locks, which nobody takes who finds a lock free: sync's (internal/sync since go1.24) and glibc's.
// The runtime's own lock2 has the fast path inside; see counter.add.
var lockRx = profile.NewPattern(`^(internal/)?sync\.\(\*Mutex\)\.(lockSlow|unlockSlow)$|^(internal/)?sync\.runtime_Semacquire(RW)?(Mutex|RWMutexR|RWMutex)|^sync\.\(\*RWMutex\)\.rUnlockSlow$|` +
	`^(__GI_)?_*lll_lock_wait(_private)?$|^(__GI_)?_*pthread_mutex_lock_full$|^native_queued_spin_lock_slowpath`)

// Native libraries of Milvus that rules speak of, as the names of mappings begin.
const (
	knowhereLib = "libknowhere"
	openMPLib   = "libgomp"
)

// inLibrary reports whether a mapping is of a library: "/opt/milvus/lib/libgomp.so.1".
func inLibrary(file, lib string) bool { return strings.HasPrefix(path.Base(file), lib) }

// BruteForce is how much of a process's time goes into comparing queries with every row: FLAT indexes, growing
// segments, sealed ones without an index, and indexes that give up because a filter leaves little.
//
// Where libknowhere's functions have names, it is the samples under faiss::knn_L2sqr, knn_inner_product, knn_cosine,
// IndexFlat::search, binary_knn_hc, BruteForceSearch, searchKnnBF, brute_force_search_impl and their like, but not those under an
// IVF index, which compares with its centroids in the same functions (knowhere src/common/comp/brute_force.cc,
// src/index/flat/flat.cc, src/index/ivf/ivf.cc, faiss/IndexIVF.cpp). With the names of Milvus 2.3.5's own library that is none of 779
// samples while HNSW was searched and 422 of 954 while FLAT was; of four query nodes with all kinds of indexes, 4% on the one without growing segments,
// and 10 to 11% on the others.
//
// Releases of Milvus have no names there. What the stacks tell then is only Exhaustive: samples of libknowhere that it
// runs through OpenMP. faiss scans rows and IVF lists in parallel regions (faiss/utils/distances.cpp, faiss/IndexIVF.cpp), and knowhere
// searches graphs without. In the same profiles that is none of 779 samples, and 298 of 954. As IVF does so too, and refining in later versions (IndexRefine.cpp), it is no brute force share, and Known is false.
type BruteForce struct {
	Part
	// Known is false if nothing tells, and Why says why.
	Known bool
	Why   string
	// Exhaustive is work in libknowhere that goes through OpenMP: brute force, or IVF. Knowhere is all work in libknowhere.
	Exhaustive, Knowhere Part
}

var (
	bruteRx = profile.NewPattern(`\b(exhaustive|all)_(inner_product|L2sqr|cosine)|\bknn_(inner_product|L2sqr|cosine|jaccard|extra_metrics)|\bIndex(Binary)?Flat(L2|IP|Cosine)?::(range_)?search|` +
		`\bbinary_(knn|range_search)|BruteForce|\bsearch(Knn|Range)BF\b|\bbrute_force_search`)
	ivfRx = profile.NewPattern(`\bIndex(Binary)?(IVF|Scann|ScaNN)|\bIvf\w*Node\b|\bClustering::train|\bkmeans`)
)
