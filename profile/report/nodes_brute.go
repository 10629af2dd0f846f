package report

import (
	"path"
	"strings"

	"kitescope/profile"
)

// lockRx matches the slow paths of locks in sync (internal/sync since go1.24) and in glibc, which are not taken
// if the lock is free. The runtime's own lock2 includes the fast path, see counter.add.
var lockRx = profile.NewPattern(`^(internal/)?sync\.\(\*Mutex\)\.(lockSlow|unlockSlow)$|^(internal/)?sync\.runtime_Semacquire(RW)?(Mutex|RWMutexR|RWMutex)|^sync\.\(\*RWMutex\)\.rUnlockSlow$|` +
	`^(__GI_)?_*lll_lock_wait(_private)?$|^(__GI_)?_*pthread_mutex_lock_full$|^native_queued_spin_lock_slowpath`)

// Native libraries of Milvus, as prefixes of their file names.
const (
	knowhereLib = "libknowhere"
	openMPLib   = "libgomp"
)

// inLibrary reports whether a mapped file belongs to a library, e.g. "/opt/milvus/lib/libgomp.so.1".
func inLibrary(file, lib string) bool { return strings.HasPrefix(path.Base(file), lib) }

// BruteForce is the fraction of a process's time for comparing queries with every row. This occurs with FLAT
// indexes, growing segments, sealed segments without an index, and indexes that give up because a filter leaves
// few rows.
//
// If libknowhere's functions have names, it is the samples under faiss::knn_L2sqr, knn_inner_product,
// knn_cosine, IndexFlat::search, binary_knn_hc, BruteForceSearch, searchKnnBF, brute_force_search_impl and
// similar functions. Samples under an IVF index are excluded, because IVF compares queries with its centroids
// in the same functions (knowhere src/common/comp/brute_force.cc, src/index/flat/flat.cc, src/index/ivf/ivf.cc,
// faiss/IndexIVF.cpp). With the names of Milvus 2.3.5's own library, that was 0 of 779 samples during an HNSW
// search and 422 of 954 during a FLAT search. On four query nodes with all kinds of indexes, it was 4 % on the
// node without growing segments, and 10 to 11 % on the others.
//
// In Milvus releases libknowhere's functions have no names. The stacks then show only Exhaustive: samples of
// libknowhere that run through OpenMP. faiss scans rows and IVF lists in parallel regions
// (faiss/utils/distances.cpp, faiss/IndexIVF.cpp), whereas knowhere searches graphs without OpenMP. In the same
// profiles that was 0 of 779 samples, and 298 of 954. IVF runs through OpenMP too, and so does refining in
// later versions (IndexRefine.cpp). Exhaustive is therefore not the brute force share, and Known is false.
type BruteForce struct {
	Part
	// Known reports whether the share could be determined. If not, Reason is the reason.
	Known  bool
	Reason string
	// Exhaustive is work in libknowhere that runs through OpenMP: brute force, or IVF. Knowhere is all work
	// in libknowhere.
	Exhaustive, Knowhere Part
}

var (
	bruteRx = profile.NewPattern(`\b(exhaustive|all)_(inner_product|L2sqr|cosine)|\bknn_(inner_product|L2sqr|cosine|jaccard|extra_metrics)|\bIndex(Binary)?Flat(L2|IP|Cosine)?::(range_)?search|` +
		`\bbinary_(knn|range_search)|BruteForce|\bsearch(Knn|Range)BF\b|\bbrute_force_search`)
	ivfRx = profile.NewPattern(`\bIndex(Binary)?(IVF|Scann|ScaNN)|\bIvf\w*Node\b|\bClustering::train|\bkmeans`)
)
