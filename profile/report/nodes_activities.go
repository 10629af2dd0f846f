package report

import (
	"path"
	"strings"

	"kitescope/profile"
)

// Activity is something that Milvus does, known by functions that are on the stack while it does it.
type Activity struct {
	// Name is for people: "insert".
	Name string
	// Doc says which functions.
	Doc string

	rx *profile.Pattern
}

// Names of activities that are judged elsewhere.
const (
	ActivityGC       = "gc"
	ActivityLockWait = "lock wait"
)

// activities are what Milvus's processes are about. The functions are those of Milvus 2.3 to 2.6; the packages moved over
// time, so that a pattern names the last part of a package and the function. A function that runs without
// anything to do, as the pipeline does for each time tick (internal/querynodev2/pipeline/insert_node.go), is no evidence,
// and not among them.
var activities = []Activity{
	{
		"insert", "rows are taken in: the proxy's insert and upsert tasks, messages with rows, the buffer of data and streaming nodes, rows put into growing segments",
		profile.NewPattern(`/proxy\.\(\*(insertTask|upsertTask)\)\.|/proxy\.\(\*Proxy\)\.(Insert|Upsert)(\.|$)|/msgstream\.\(\*InsertMsg\)\.|` +
			`/datanode\.\(\*insertBufferNode\)\.bufferInsertMsg|/writebuffer\.\(\*\w*[bB]uffer\w*\)\.(bufferInsert|Buffer(\.|$))|` +
			`/pipeline\.\(\*insertNode\)\.addInsertData|\._Cfunc_Insert(\.|$)|/segments\.\(\*LocalSegment\)\.(Insert|preInsert)(\.|$)`),
	},
	{
		"flush", "buffered rows are encoded and written to storage",
		profile.NewPattern(`/storage\.\(\*InsertCodec\)\.Serialize|/datanode\.\(\*rendezvousFlushManager\)\.|/syncmgr\.\(\*(SyncTask|storageV1Serializer|BulkPackWriter\w*)\)\.`),
	},
	{
		"search", "segment search as far as Go stacks show it; knowhere's own threads have no Go caller: see class libknowhere",
		profile.NewPattern(`\._Cfunc_(AsyncSearch|Search)(\.|$)|/segments\.(SearchHistorical|SearchStreaming|searchSegments)(\.|$)|/segments\.\(\*LocalSegment\)\.Search(\.|$)|/segcore\.\(\*cSegmentImpl\)\.Search(\.|$)`),
	},
	{
		"growing search", "growing segments are searched",
		profile.NewPattern(`/segments\.SearchStreaming(\.|$)|\bquery::SearchOnGrowing\b|\bsegcore::SegmentGrowingImpl::(vector_search|search)`),
	},
	{
		"reduce", "results of segments and shards are merged",
		profile.NewPattern(`[rR]educeSearchResult|/proxy\.reduce|reduceRetrieve|segcore::Reduce`),
	},
	{
		"load", "segments are loaded into a query node",
		profile.NewPattern(`/segments\.\(\*segmentLoader\)\.|\._Cfunc_(Load\w*|UpdateSealedSegmentIndex|AppendIndex\w*)(\.|$)`),
	},
	{
		"compaction", "segments are compacted",
		profile.NewPattern(`/(datanode|compaction|compactor)\.\(\*\w*[cC]ompact\w*\)\.`),
	},
	{
		"index build", "indexes are built",
		profile.NewPattern(`\._Cfunc_(CreateIndex\w*|BuildIndex|BuildFloatVecIndex\w*)(\.|$)|/(indexnode|index)\.\(\*index(Build|Node)Task\w*\)\.|/indexcgowrapper\.`),
	},
	{
		"lock wait", "goroutines and threads wait for locks, awake or on their way to sleep: the slow paths of sync's mutexes, of the runtime's own and of libc's",
		lockRx,
	},
	{
		"gc", "garbage is collected: background marking and sweeping, and what allocations are made to help", nil,
	},
}

// lockRx are the slow paths of locks, which nobody takes who finds a lock free: sync's (internal/sync since go1.24) and glibc's.
// The runtime's own lock2 has the fast path inside; see counter.sample.
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
	// Exhaustive is work in libknowhere that goes through OpenMP: brute force, or IVF.
	Exhaustive Part
	// Knowhere is all work in libknowhere, and Named how much of it has names, 0 to 1.
	Knowhere Part
	Named    float64
}

var (
	bruteRx = profile.NewPattern(`\b(exhaustive|all)_(inner_product|L2sqr|cosine)|\bknn_(inner_product|L2sqr|cosine|jaccard|extra_metrics)|\bIndex(Binary)?Flat(L2|IP|Cosine)?::(range_)?search|` +
		`\bbinary_(knn|range_search)|BruteForce|\bsearch(Knn|Range)BF\b|\bbrute_force_search`)
	ivfRx = profile.NewPattern(`\bIndex(Binary)?(IVF|Scann|ScaNN)|\bIvf\w*Node\b|\bClustering::train|\bkmeans`)
)
