package metrics

import "kitescope/inspect/model"

// Names of the metrics that budgets and checks use.
const (
	ProxySearch             Name = "proxy_search"
	ProxyCollectionSearch   Name = "proxy_collection_search"
	ProxyTask               Name = "proxy_task"
	ProxyQueue              Name = "proxy_queue"
	ProxyReduce             Name = "proxy_reduce"
	ProxyDecode             Name = "proxy_decode"
	ProxyMutation           Name = "proxy_mutation"
	ProxyCollectionMutation Name = "proxy_collection_mutation"
	ProxyMutationSend       Name = "proxy_mutation_send"
	ProxyAssignSegments     Name = "proxy_assign_segments"
	ProxyAllocateIDs        Name = "proxy_allocate_ids"
	ProxyTimestamp          Name = "proxy_timestamp"
	ProxyCacheUpdate        Name = "proxy_cache_update"
	ProxyCache              Name = "proxy_cache"
	ProxyRequest            Name = "proxy_request"
	ProxyRequests           Name = "proxy_requests"
	ProxyRateLimited        Name = "proxy_rate_limited"
	ProxyLimit              Name = "proxy_limit"
	ProxySlow               Name = "proxy_slow"
	ProxyVectors            Name = "proxy_vectors"
	ProxyReceivedVectors    Name = "proxy_received_vectors"
	ProxyInserted           Name = "proxy_inserted"
	ProxyUpserted           Name = "proxy_upserted"
	ProxyDeleted            Name = "proxy_deleted"
	ProxySentBytes          Name = "proxy_sent_bytes"
	ProxyReceivedBytes      Name = "proxy_received_bytes"
	ProxyQueued             Name = "proxy_queued"
	ProxyParse              Name = "proxy_parse"
	ProxyRetries            Name = "proxy_retries"
	ProxyTickLag            Name = "proxy_tick_lag"

	NodeRequest     Name = "node_request"
	NodeRequests    Name = "node_requests"
	ConsistencyWait Name = "consistency_wait"
	TaskQueue       Name = "task_queue"
	SegmentKernel   Name = "segment_kernel"
	VectorKernel    Name = "vector_kernel"
	CoreKernel      Name = "core_kernel"
	NodeReduce      Name = "node_reduce"
	GroupSize       Name = "group_size"
	GroupVectors    Name = "group_vectors"
	GroupTopK       Name = "group_topk"
	RequestVectors  Name = "request_vectors"
	RequestTopK     Name = "request_topk"
	ReadUnsolved    Name = "read_unsolved"
	ReadReady       Name = "read_ready"
	ReadRunning     Name = "read_running"
	ReadEvicted     Name = "read_evicted"
	NodeCalls       Name = "node_calls"
	CacheWait       Name = "cache_wait"
	DiskCacheLoad   Name = "disk_cache_load"
	CacheHitBytes   Name = "cache_hit_bytes"
	CacheMissBytes  Name = "cache_miss_bytes"
	CacheHits       Name = "cache_hits"
	CacheMisses     Name = "cache_misses"
	CacheEvicted    Name = "cache_evicted"
	CacheLoad       Name = "cache_load"
	CacheLoadFailed Name = "cache_load_failed"
	LoadSegment     Name = "load_segment"
	LoadIndex       Name = "load_index"
	ConsumeLag      Name = "consume_lag"
	DispatchLag     Name = "dispatch_lag"
	ApplyWrites     Name = "apply_writes"

	CgoQueue   Name = "cgo_queue"
	CgoCall    Name = "cgo_call"
	CgoRunning Name = "cgo_running"
	CgoWaiting Name = "cgo_waiting"

	SegmentStates   Name = "segment_states"
	DataConsumeLag  Name = "data_consume_lag"
	FlushSave       Name = "flush_save"
	Flushes         Name = "flushes"
	FlushedBytes    Name = "flushed_bytes"
	Compaction      Name = "compaction"
	CompactionQueue Name = "compaction_queue"

	QuotaStates    Name = "quota_states"
	RateLimitRatio Name = "rate_limit_ratio"
	TickSync       Name = "tick_sync"
	TickDelay      Name = "tick_delay"
	RootTickLag    Name = "root_tick_lag"
	DDLRequest     Name = "ddl_request"
	DDLRequests    Name = "ddl_requests"
	LoadRequests   Name = "load_requests"
	IndexRequests  Name = "index_requests"

	QueueRequest    Name = "queue_request"
	QueueOperations Name = "queue_operations"
	WALAppend       Name = "wal_append"
	WALWrite        Name = "wal_write"
	WALBefore       Name = "wal_before"
	WALProduce      Name = "wal_produce"
	WALRetries      Name = "wal_retries"
	WALProduces     Name = "wal_produces"
	WALAppends      Name = "wal_appends"
	WALAppendBytes  Name = "wal_append_bytes"

	StorageRequest        Name = "storage_request"
	StorageOperations     Name = "storage_operations"
	CoreStorageRequest    Name = "core_storage_request"
	CoreStorageOperations Name = "core_storage_operations"
	MetaRequest           Name = "meta_request"
	MetaOperations        Name = "meta_operations"
	IndexTasks            Name = "index_tasks"

	GCPause    Name = "gc_pause"
	Goroutines Name = "goroutines"
	Threads    Name = "threads"
	Processors Name = "processors"
	CPUSeconds Name = "cpu_seconds"
	Allocated  Name = "allocated"
	Heap       Name = "heap"
	NextGC     Name = "next_gc"
	Resident   Name = "resident"
	OpenFiles  Name = "open_files"
	MaxFiles   Name = "max_files"
	StartTime  Name = "start_time"
	LastGC     Name = "last_gc"
)

const (
	counter   = model.MetricCounter
	gauge     = model.MetricGauge
	histogram = model.MetricHistogram
	summary   = model.MetricSummary
)

// always returns the name of a metric that is the same in all releases.
func always(name string) []Spelling { return []Spelling{{Name: name}} }

func since(release, name string) []Spelling { return []Spelling{{Name: name, Since: release}} }

// Source files, and labels that several metrics share. Up to 2.2 the files are below internal/metrics.
const (
	proxyFile   = "pkg/metrics/proxy_metrics.go"
	queryFile   = "pkg/metrics/querynode_metrics.go"
	dataFile    = "pkg/metrics/datanode_metrics.go"
	rootFile    = "pkg/metrics/rootcoord_metrics.go"
	queueFile   = "pkg/metrics/msgstream_metrics.go"
	streamFile  = "pkg/metrics/streaming_service_metrics.go"
	storageFile = "pkg/metrics/persistent_store_metrics.go"
	coreFile    = "internal/core/src/monitor/prometheus_client.cpp"
	cgoFile     = "pkg/metrics/cgo_metrics.go"
	metaFile    = "pkg/metrics/meta_metrics.go"
	goFile      = "client_golang/prometheus/go_collector.go"
	processFile = "client_golang/prometheus/process_collector.go"
	cacheFile   = "milvus-common/src/cachinglayer/Metrics.cpp"
	byPlace     = "data_type (vector_field, vector_index, scalar_field, scalar_index, other), location (memory, " +
		"disk, mixed)"
	byQuery       = "query_type (search, query; hybrid_search since 2.4)"
	byMessage     = "msg_type (insert, delete; upsert since 2.3)"
	ofCollections = "collection_name, db_name since 2.4"
)

// table lists every metric that has a Name. Spellings are copied from the sources, including "lantency".
var table = []Metric{
	{
		ProxySearch, histogram, Milliseconds,
		[]Spelling{{Name: "milvus_proxy_sq_latency"}, {"milvus_proxy_sq_lantency", "", "2.1"}},
		byQuery + ", since 2.5 " + ofCollections, proxyFile,
		"Successful searches and queries at the proxy, from arrival to response.",
	},
	{
		ProxyCollectionSearch, histogram, Milliseconds, since("2.3", "milvus_proxy_collection_sq_latency"),
		byQuery + ", " + ofCollections, proxyFile, "The same by collection.",
	},
	{
		ProxyTask, histogram, Milliseconds, always("milvus_proxy_sq_wait_result_latency"), byQuery, proxyFile,
		"The task of a search or query: the proxy's queue, calling the shards, reducing and decoding.",
	},
	{
		ProxyQueue, histogram, Milliseconds, since("2.4", "milvus_proxy_req_in_queue_latency"),
		"function_name (the message's type: Search, Retrieve, Insert, Delete, Upsert, ...)", proxyFile,
		"The wait of a task in the proxy's queue.",
	},
	{
		ProxyReduce, histogram, Milliseconds, always("milvus_proxy_sq_reduce_result_latency"), byQuery, proxyFile,
		"Merging the results of the shards.",
	},
	{
		ProxyDecode, histogram, Milliseconds, always("milvus_proxy_sq_decode_result_latency"), byQuery, proxyFile,
		"Decoding the results of the shards.",
	},
	{
		ProxyMutation, histogram, Milliseconds, always("milvus_proxy_mutation_latency"),
		byMessage + ", since 2.5 " + ofCollections, proxyFile,
		"Inserts, deletes and upserts at the proxy, from arrival to response.",
	},
	{
		ProxyCollectionMutation, histogram, Milliseconds, since("2.3", "milvus_proxy_collection_mutation_latency"),
		byMessage + ", " + ofCollections, proxyFile, "The same by collection.",
	},
	{
		ProxyMutationSend, histogram, Milliseconds, always("milvus_proxy_mutation_send_latency"), byMessage, proxyFile,
		"Sending an insert or delete to the message queue.",
	},
	{
		ProxyAssignSegments, histogram, Milliseconds, since("2.3", "milvus_proxy_assign_segmentID_latency"), "",
		proxyFile, "Getting segments for an insert from DataCoord.",
	},
	{
		ProxyAllocateIDs, histogram, Milliseconds, always("milvus_proxy_apply_pk_latency"), "", proxyFile,
		"Getting row ids for an insert from RootCoord.",
	},
	{
		ProxyTimestamp, histogram, Milliseconds, always("milvus_proxy_apply_timestamp_latency"), "", proxyFile,
		"Getting a timestamp from RootCoord.",
	},
	{
		ProxyCacheUpdate, histogram, Milliseconds, always("milvus_proxy_cache_update_latency"),
		"cache_name since 2.3", proxyFile, "Fetching metadata missing from the proxy's cache.",
	},
	{
		ProxyCache, counter, Count, always("milvus_proxy_cache_hit_count"), "cache_name, cache_state (hit, miss)",
		proxyFile,
		"Lookups in the proxy's metadata cache.",
	},
	{
		ProxyRequest, histogram, Milliseconds,
		[]Spelling{
			{Name: "milvus_proxy_req_latency", Since: "2.3"},
			{"milvus_proxy_ddl_req_latency", "", "2.2"},
			{"milvus_proxy_dml_req_latency", "", "2.2"},
			{"milvus_proxy_dql_req_latency", "", "2.2"},
		},
		"function_name", proxyFile, "A call of any kind at the proxy.",
	},
	{
		ProxyRequests, counter, Count,
		[]Spelling{
			{Name: "milvus_proxy_req_count", Since: "2.3"},
			{"milvus_proxy_ddl_req_count", "", "2.2"},
			{"milvus_proxy_dml_req_count", "", "2.2"},
			{"milvus_proxy_dql_req_count", "", "2.2"},
		},
		"function_name (Search, Insert, ...), status (total, success, fail, ...)", proxyFile,
		"Calls at the proxy; each counts again in total.",
	},
	{
		ProxyRateLimited, counter, Count, since("2.4", "milvus_proxy_rate_limit_req_count"),
		"msg_type, status (total, success, fail)", proxyFile, "Requests checked by the rate limiter; fail: refused.",
	},
	{
		ProxyLimit, gauge, Count, since("2.2", "milvus_proxy_limiter_rate"), "msg_type, collection_id since 2.3",
		proxyFile,
		"Limit of the rate limiter per second.",
	},
	{
		ProxySlow, counter, Count, since("2.4", "milvus_proxy_slow_query_count"), "msg_type", proxyFile,
		"Searches and queries that were slower than proxy.slowQuerySpanInSeconds.",
	},
	{
		ProxyVectors, counter, Count, always("milvus_proxy_search_vectors_count"), "since 2.5 " + ofCollections,
		proxyFile,
		"Query vectors of searches (nq).",
	},
	{
		ProxyReceivedVectors, counter, Count, since("2.3", "milvus_proxy_received_nq"),
		byQuery + ", " + ofCollections, proxyFile, "Query vectors of all requests (nq), including failed ones.",
	},
	{
		ProxyInserted, counter, Count, always("milvus_proxy_insert_vectors_count"), "since 2.5 " + ofCollections,
		proxyFile, "Rows that were inserted.",
	},
	{
		ProxyUpserted, counter, Count, since("2.4", "milvus_proxy_upsert_vectors_count"), "since 2.5 " + ofCollections,
		proxyFile, "Rows that were upserted.",
	},
	{
		ProxyDeleted, counter, Count, since("2.4", "milvus_proxy_delete_vectors_count"), "since 2.5 " + ofCollections,
		proxyFile, "Rows that were deleted.",
	},
	{
		ProxySentBytes, counter, Bytes, since("2.2", "milvus_proxy_send_bytes_count"), "", proxyFile,
		"Bytes sent to clients by the proxy.",
	},
	{
		ProxyReceivedBytes, counter, Bytes, since("2.2", "milvus_proxy_receive_bytes_count"),
		"msg_type, collection_name since 2.3", proxyFile, "Bytes received from clients by the proxy.",
	},
	{
		ProxyQueued, gauge, Count, since("2.6", "milvus_proxy_queue_task_num"), "queue_type, task_state", proxyFile,
		"Tasks in the proxy's queues.",
	},
	{
		ProxyParse, histogram, Milliseconds, since("2.6", "milvus_proxy_parse_expr_latency"), "function_name, status",
		proxyFile, "Parsing an expression.",
	},
	{
		ProxyRetries, counter, Count, since("2.5", "milvus_proxy_retry_search_cnt"),
		byQuery + ", " + ofCollections, proxyFile, "Searches retried because of too few results.",
	},
	{
		ProxyTickLag, gauge, Milliseconds, since("2.3", "milvus_proxy_tt_lag_ms"), "channel_name", proxyFile,
		"Lag of a channel's time tick at the proxy.",
	},

	{
		NodeRequest, histogram, Milliseconds, always("milvus_querynode_sq_req_latency"),
		byQuery + ", scope since 2.3 (OnLeader: of a shard, FromLeader: of a worker)", queryFile,
		"Successful searches and queries on a query node.",
	},
	{
		NodeRequests, counter, Count, always("milvus_querynode_sq_req_count"),
		byQuery + ", status (total, success, fail, abandon), scope since 2.3, collection_id since 2.5", queryFile,
		"Searches and queries on a query node; each counts again in total.",
	},
	{
		ConsistencyWait, histogram, Milliseconds, since("2.3", "milvus_querynode_sq_wait_tsafe_latency"), byQuery,
		queryFile,
		"Wait of a shard leader until it has consumed up to the guarantee timestamp.",
	},
	{
		TaskQueue, histogram, Milliseconds,
		[]Spelling{{Name: "milvus_querynode_sq_queue_latency"}, {"milvus_querynode_sq_queue_lantency", "", "2.1"}},
		byQuery + ", db_name and rg since 2.5", queryFile,
		"The wait in the scheduler of a query node, until a worker takes the task.",
	},
	{
		SegmentKernel, histogram, Milliseconds, always("milvus_querynode_sq_segment_latency"),
		byQuery + ", segment_state (Growing, Sealed)", queryFile,
		"Searching one segment for one group of requests, including the wait for a cgo thread.",
	},
	{
		VectorKernel, histogram, Milliseconds, since("2.3", "milvus_querynode_segment_latency_per_vector"),
		byQuery + ", segment_state (Growing, Sealed)", queryFile, "The same per vector (nq) of the group.",
	},
	{
		CoreKernel, histogram, Milliseconds, always("milvus_querynode_sq_core_latency"), byQuery, queryFile,
		"The same without that wait: only the C++ call.",
	},
	{
		NodeReduce, histogram, Milliseconds, always("milvus_querynode_sq_reduce_latency"),
		byQuery + ", reduce_level since 2.3 (segments, shards), reduce_type since 2.5", queryFile,
		"Merging the results of segments or shards.",
	},
	{
		GroupSize, histogram, Count, always("milvus_querynode_search_group_size"), "", queryFile,
		"Requests in a group merged by the scheduler; the count is the number of groups.",
	},
	{
		GroupVectors, histogram, Count, always("milvus_querynode_search_group_nq"), "", queryFile,
		"Vectors (nq) of a group.",
	},
	{GroupTopK, histogram, Count, always("milvus_querynode_search_group_topk"), "", queryFile, "The topk of a group."},
	{
		RequestVectors, histogram, Count, always("milvus_querynode_search_nq"), "", queryFile,
		"Vectors (nq) of a request, on the leader.",
	},
	{
		RequestTopK, histogram, Count, always("milvus_querynode_search_topk"), "", queryFile,
		"The topk of a request, on the leader.",
	},
	{
		ReadUnsolved, gauge, Count, always("milvus_querynode_read_task_unsolved_len"), "", queryFile,
		"Tasks received but not merged yet.",
	},
	{
		ReadReady, gauge, Count, always("milvus_querynode_read_task_ready_len"), "", queryFile,
		"Tasks waiting for a worker.",
	},
	{
		ReadRunning, gauge, Count, always("milvus_querynode_read_task_concurrency"), "", queryFile,
		"Running tasks.",
	},
	{
		ReadEvicted, counter, Count, always("milvus_querynode_read_evicted_count"), "", queryFile,
		"Tasks evicted from the queue.",
	},
	{
		NodeCalls, histogram, Milliseconds, since("2.6", "milvus_querynode_cgo_latency"), "cgo_name, cgo_type",
		queryFile,
		"C++ calls by name.",
	},
	{
		CacheWait, histogram, Milliseconds, since("2.4", "milvus_querynode_segment_access_wait_cache_global_duration"),
		byQuery, queryFile, "The wait of a request for a segment that is loaded on demand.",
	},
	{
		DiskCacheLoad, histogram, Milliseconds, since("2.4", "milvus_querynode_disk_cache_load_global_duration"), "",
		queryFile, "Loading a segment on demand.",
	},
	{
		CacheHitBytes, counter, Bytes, since("2.6", "internal_cache_cell_access_hit_bytes_total"), byPlace, cacheFile,
		"Bytes of requested cells found in the cache.",
	},
	{
		CacheMissBytes, counter, Bytes, since("2.6", "internal_cache_cell_access_miss_bytes_total"), byPlace, cacheFile,
		"Bytes of requested cells that had to be loaded.",
	},
	{
		CacheHits, counter, Count, since("2.6", "internal_cache_cell_access_hit_total"), byPlace, cacheFile,
		"The same in cells, in releases that do not count bytes.",
	},
	{
		CacheMisses, counter, Count, since("2.6", "internal_cache_cell_access_miss_total"), byPlace, cacheFile,
		"The same in cells, in releases that do not count bytes.",
	},
	{
		CacheEvicted, counter, Bytes,
		[]Spelling{
			{Name: "internal_cache_evicted_bytes_total", Since: "2.6"}, {"internal_cache_evicted_bytes", "2.6", "2.6"},
		},
		"location (memory, disk, mixed)", cacheFile, "Bytes that were evicted from the cache.",
	},
	{
		CacheLoad, histogram, Microseconds, since("2.6", "internal_cache_load_latency_microseconds"), byPlace,
		cacheFile, "Loading cells into the cache.",
	},
	{
		CacheLoadFailed, counter, Count, since("2.6", "internal_cache_load_event_fail_total"), byPlace, cacheFile,
		"Loads into the cache that failed.",
	},
	{
		LoadSegment, histogram, Milliseconds, always("milvus_querynode_load_segment_latency"), "", queryFile,
		"Loading a segment.",
	},
	{
		LoadIndex, histogram, Milliseconds, since("2.4", "milvus_querynode_load_index_latency"), "", queryFile,
		"Loading the index of a segment.",
	},
	{
		ConsumeLag, gauge, Milliseconds, since("2.3", "milvus_querynode_consume_tt_lag_ms"),
		"msg_type, collection_id", queryFile, "Consumption lag of a query node.",
	},
	{
		DispatchLag, gauge, Milliseconds, since("2.3", "milvus_querynode_msg_dispatcher_tt_lag_ms"),
		"channel_name", queryFile, "Lag of its dispatcher on a channel.",
	},
	{
		ApplyWrites, histogram, Milliseconds, since("2.3", "milvus_querynode_process_insert_or_delete_latency"),
		"msg_type", queryFile, "Applying inserts or deletes.",
	},

	{
		CgoQueue, histogram, Seconds, since("2.4", "milvus_cgo_cgo_queue_duration_seconds"), "", cgoFile,
		"Wait of a C++ call for a thread.",
	},
	{CgoCall, histogram, Seconds, since("2.4", "milvus_cgo_cgo_duration_seconds"), "name", cgoFile, "A C++ call."},
	{CgoRunning, gauge, Count, since("2.4", "milvus_cgo_running_cgo_call_total"), "", cgoFile, "Running C++ calls."},
	{
		CgoWaiting, gauge, Count, since("2.4", "milvus_cgo_active_future_total"), "", cgoFile,
		"C++ results being waited for.",
	},

	{
		SegmentStates, gauge, Count, always("milvus_datacoord_segment_num"), "segment_state; segment_level since 2.4",
		"pkg/metrics/datacoord_metrics.go", "Segments by state.",
	},
	{
		DataConsumeLag, gauge, Milliseconds, since("2.3", "milvus_datanode_consume_tt_lag_ms"),
		"msg_type, collection_id", dataFile, "Consumption lag of a data node.",
	},
	{
		FlushSave, histogram, Milliseconds, always("milvus_datanode_save_latency"), "msg_type (insert, delete)",
		dataFile, "Writing flushed data to the storage.",
	},
	{
		Flushes, counter, Count, always("milvus_datanode_flush_buffer_op_count"),
		"status (total, success, fail), segment_level since 2.4", dataFile, "Flushes of buffers.",
	},
	{
		FlushedBytes, counter, Bytes, always("milvus_datanode_flushed_data_size"),
		"msg_type; data_source, segment_level since 2.4", dataFile, "Flushed bytes.",
	},
	{
		Compaction, histogram, Milliseconds, always("milvus_datanode_compaction_latency"), "compaction_type since 2.3",
		dataFile, "A compaction.",
	},
	{
		CompactionQueue, histogram, Milliseconds, since("2.3", "milvus_datanode_compaction_latency_in_queue"), "",
		dataFile,
		"Wait of a compaction in the queue.",
	},

	{
		QuotaStates, gauge, Count, since("2.2", "milvus_rootcoord_quota_states"), "quota_states, name since 2.5",
		rootFile,
		"Requests that RootCoord refuses; in force if above 0.",
	},
	{
		RateLimitRatio, gauge, Ratio, since("2.4", "milvus_rootcoord_rate_limit_ratio"), "collection_id", rootFile,
		"Allowed share of the write rate.",
	},
	{
		TickSync, histogram, Milliseconds, always("milvus_rootcoord_sync_timetick_latency"), "", rootFile,
		"Writing a time tick to all channels.",
	},
	{
		TickDelay, gauge, Milliseconds, since("2.2", "milvus_rootcoord_time_tick_delay"), "role_name, node_id",
		rootFile,
		"Largest delay of a node, as used by quotas.",
	},
	{
		RootTickLag, gauge, Milliseconds, since("2.3", "milvus_rootcoord_produce_tt_lag_ms"), "channel_name", rootFile,
		"Lag of a channel's time tick at RootCoord.",
	},
	{
		DDLRequest, histogram, Milliseconds, always("milvus_rootcoord_ddl_req_latency"), "function_name", rootFile,
		"An operation on collections, partitions or databases.",
	},
	{
		DDLRequests, counter, Count, always("milvus_rootcoord_ddl_req_count"),
		"function_name, status (total, success, fail)", rootFile,
		"Operations on collections, partitions or databases, including reads of definitions.",
	},
	{
		LoadRequests, counter, Count, always("milvus_querycoord_load_req_count"), "status (total, success, fail)",
		"pkg/metrics/querycoord_metrics.go", "Requests to load collections or partitions.",
	},
	{
		IndexRequests, counter, Count, since("2.3", "milvus_datacoord_index_req_count"),
		"status (total, success, fail)", "pkg/metrics/datacoord_metrics.go", "Requests to create indexes.",
	},

	{
		QueueRequest, histogram, Milliseconds, since("2.2", "milvus_msgstream_request_latency"),
		"message_op_type (produce, create_producer, ...)", queueFile, "A request to the message queue.",
	},
	{
		QueueOperations, counter, Count, since("2.2", "milvus_msgstream_op_count"),
		"message_op_type, status (total, success, fail)", queueFile, "Requests to the message queue.",
	},
	{
		WALAppend, histogram, Seconds, since("2.6", "milvus_wal_append_message_duration_seconds"),
		"channel_name, status", streamFile, "Appending a message to the WAL, including all work on the streaming node.",
	},
	{
		WALWrite, histogram, Seconds, since("2.6", "milvus_wal_impls_append_message_duration_seconds"),
		"channel_name, status", streamFile, "The same in the message queue below.",
	},
	{
		WALBefore, histogram, Seconds, since("2.6", "milvus_wal_interceptor_before_append_duration_seconds"),
		"channel_name, interceptor_name", streamFile, "Work before the append: locks, time ticks, segments.",
	},
	{
		WALProduce, histogram, Seconds, since("2.6", "milvus_streaming_produce_success_duration_seconds"),
		"channel_name, access_model", streamFile, "Appending as the client of the WAL sees it.",
	},
	{
		WALProduces, counter, Count, since("2.6", "milvus_streaming_produce_total"),
		"channel_name, status (ok, cancel, error)", streamFile,
		"Completed appends, as counted by the client of the WAL.",
	},
	{
		WALAppends, counter, Count, since("2.6", "milvus_wal_append_message_total"),
		"channel_name, message_type, status (ok, cancel, error)", streamFile, "Messages appended to the WAL.",
	},
	{
		WALAppendBytes, histogram, Bytes, since("2.6", "milvus_wal_append_message_bytes"), "channel_name, status",
		streamFile, "Their sizes.",
	},
	{
		WALRetries, counter, Count, since("2.6", "milvus_wal_impls_append_message_retry_total"), "channel_name",
		streamFile,
		"Retried appends.",
	},

	{
		StorageRequest, histogram, Milliseconds, since("2.2", "milvus_storage_request_latency"),
		"persistent_data_op_type (get, put, stat, list, ...)", storageFile,
		"A request from Go code to the object storage.",
	},
	{
		StorageOperations, counter, Count, since("2.2", "milvus_storage_op_count"),
		"persistent_data_op_type, status (total, success, fail)", storageFile,
		"Requests from Go code to the object storage.",
	},
	{
		CoreStorageRequest, histogram, Milliseconds, since("2.3", "internal_storage_request_latency"),
		"persistent_data_op_type", coreFile, "A request from C++ code to the object storage.",
	},
	{
		CoreStorageOperations, counter, Count, since("2.3", "internal_storage_op_count"),
		"persistent_data_op_type, status (success, fail; none: failed gets)", coreFile,
		"Requests from C++ code to the object storage.",
	},
	{
		MetaRequest, histogram, Milliseconds, since("2.3", "milvus_meta_request_latency"), "meta_op_type", metaFile,
		"A request to etcd.",
	},
	{
		MetaOperations, counter, Count, since("2.3", "milvus_meta_op_count"),
		"meta_op_type (get, put, remove, txn), status (total, success, fail)", metaFile, "Completed requests to etcd.",
	},
	{
		IndexTasks, counter, Count, always("milvus_indexnode_index_task_count"),
		"status (total, success, fail)", "pkg/metrics/indexnode_metrics.go", "Index builds assigned to a node.",
	},

	{GCPause, summary, Seconds, always("go_gc_duration_seconds"), "", goFile, "Pauses of Go's garbage collector."},
	{Goroutines, gauge, Count, always("go_goroutines"), "", goFile, "Goroutines."},
	{Threads, gauge, Count, always("go_threads"), "", goFile, "Threads created by Go."},
	{
		Processors, gauge, Count, always("go_sched_gomaxprocs_threads"), "", goFile,
		"Maximum number of threads running Go code.",
	},
	{CPUSeconds, counter, Seconds, always("process_cpu_seconds_total"), "", processFile, "CPU time."},
	{Allocated, counter, Bytes, always("go_memstats_alloc_bytes_total"), "", goFile, "Bytes allocated by Go."},
	{
		Heap, gauge, Bytes, always("go_memstats_heap_alloc_bytes"), "", goFile,
		"Bytes allocated in the Go heap, including garbage.",
	},
	{
		NextGC, gauge, Bytes, always("go_memstats_next_gc_bytes"), "", goFile,
		"The size of the heap at which garbage is collected next.",
	},
	{
		Resident, gauge, Bytes, always("process_resident_memory_bytes"), "", processFile,
		"Memory as the operating system counts it.",
	},
	{OpenFiles, gauge, Count, always("process_open_fds"), "", processFile, "Open file descriptors."},
	{MaxFiles, gauge, Count, always("process_max_fds"), "", processFile, "The limit of open file descriptors."},
	{StartTime, gauge, UnixSeconds, always("process_start_time_seconds"), "", processFile, "When the process started."},
	{
		LastGC, gauge, UnixSeconds, always("go_memstats_last_gc_time_seconds"), "", goFile,
		"When the last garbage collection ended.",
	},
}
