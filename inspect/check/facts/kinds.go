package facts

import "strconv"

// NewKinds holds the kinds of keys that a version introduced: a release, or one of its patches.
type NewKinds struct {
	Release Release
	Patch   int
	Kinds   []string
}

// Since returns the version that introduced the kinds, e.g. 2.6 or 2.3.13.
func (n NewKinds) Since() string {
	if n.Patch == 0 {
		return n.Release.String()
	}
	return n.Release.String() + "." + strconv.Itoa(n.Patch)
}

// KindsByRelease returns the kinds of keys by the version that introduced them, newest first. The list repeats the
// grammar of package meta, which a check may not import; a test compares the two.
func KindsByRelease() []NewKinds {
	return []NewKinds{
		{Release{3, 0}, 0, []string{
			"snapshot", "copy-segment-job", "copy-segment-task", "export-snapshot-job",
			"external-collection-refresh-job", "external-collection-refresh-task", "query-view", "wal-query-view",
			"wal-salvage-checkpoint", "predicate-deltalog",
		}},
		{Release{2, 6}, 0, []string{
			"streaming-version", "control-channel", "pchannel", "broadcast-task", "replicate-configuration",
			"replicating-pchannel", "wal-checkpoint", "wal-vchannel", "wal-schema", "wal-segment",
			"struct-array-field",
		}},
		{Release{2, 5}, 0, []string{"stats-task", "bm25log", "function", "privilege-group"}},
		{Release{2, 4}, 0, []string{
			"import-job", "preimport-task", "import-task", "compaction-task", "analyze-task", "partition-stats",
			"partition-stats-version",
		}},
		{Release{2, 3}, 13, []string{"target"}},
		{Release{2, 2}, 9, []string{"database"}},
		{Release{2, 2}, 0, []string{
			"binlog", "deltalog", "statslog", "index", "segment-index", "collection-load", "partition-load",
			"channel-checkpoint", "resource-group", "replica", "field", "partition", "role", "user-role", "grantee",
			"grant",
		}},
	}
}
