package facts

// NewKinds are kinds of keys that a release was the first to write.
type NewKinds struct {
	Release Release
	Kinds   []string
}

// KindsByRelease are the kinds of keys by the version that first wrote them; the newest first.
func KindsByRelease() []NewKinds {
	return []NewKinds{
		{Release{3, 0}, []string{"snapshot", "query-view", "wal-query-view", "wal-salvage-checkpoint", "predicate-deltalog"}},
		{Release{2, 6}, []string{"streaming-version", "control-channel", "pchannel", "broadcast-task", "wal-checkpoint", "wal-vchannel", "wal-segment", "struct-array-field"}},
		{Release{2, 5}, []string{"stats-task", "bm25log", "function", "privilege-group"}},
		{Release{2, 4}, []string{"import-job", "preimport-task", "import-task", "compaction-task", "analyze-task", "partition-stats", "partition-stats-version"}},
		{Release{2, 2}, []string{"binlog", "deltalog", "statslog", "index", "segment-index", "collection-load", "channel-checkpoint", "resource-group", "replica", "field", "partition", "database"}},
	}
}
