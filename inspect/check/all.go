package check

// All are the checks, in the order of the documentation. A new check is a file and a
// line here.
var All = []*Check{
	// Who is there, and what is served.
	RoleMissing, NodeUnreachable, StaleSession, StoppingServing, NodeStopping, ReplicaDeadNode, ReplicaShort,
	NoShardLeader, ShardUnserviceable, LeaderSplit, LoadStuck, LoadMismatch, TargetBehind,
	SegmentNotLoaded, SegmentDropped, SegmentTwice, IndexNotLoaded,
	GrowingFlushed, GrowingOld, GrowingLarge, BruteForceShare, ConsumptionLag,

	// How the work is spread.
	AutoBalanceOff, IdleNode, ImbalanceRows, ImbalanceMemory, ImbalanceLeaders, ImbalanceChannels, MemoryPressure, CPUSkew, ProcessSlow,

	// Indexes.
	IndexFailed, IndexStuck, IndexMissing, IndexTooNew, IndexMetricMismatch, IndexUnfit, CollectionUnindexed,

	// Versions, etcd, clocks.
	LayoutRollback, LayoutOlder, MixedVersions, EtcdNoLeader, EtcdAlarm, EtcdSize, WatchLivelock, ClockRegression, UndecodedRecords,

	// Channels and the message queue.
	QueueUnreachable, TimetickLag, ChannelUnwatched, ChannelWatchedTwice, ChannelWatchState,
	CheckpointLag, CheckpointMissing, CheckpointStaleDropped, QueueLag, QuotaDenied,

	// Segments, compaction, background tasks.
	StorageFailing, StorageReadOnly, FilesMissing, SmallSegments, DeleteHeavy, L0Backlog, SegmentsInvisible, DroppedNotCollected,
	ImportStuck, CompactionStuck, TaskFailed,

	// Configuration.
	ConfigDrift, BadSwitches,

	// Shape of the data, and limits.
	ShardSkew, PartitionKeySkew, ResourceGroupShort, NearLimit,

	// Profiles of the processes.
	ProfileBruteForceShare, ProfileGCShare, ProfileLockContention, ProfileGoroutineLeak, ProfileIdleNode,

	// What is left over.
	OrphanSegments, OrphanBinlogs, OrphanIndex, OrphanLoad, OrphanAlias, OrphanTask,
}
