package check

// All are the checks, in the order of the documentation. A new check is a file and a
// line here.
var All = []*Check{
	// Who is there, and what is served.
	NodeUnreachable, StaleSession, StoppingServing, ReplicaDeadNode, ReplicaShort,
	NoShardLeader, ShardUnserviceable, LeaderSplit, LoadStuck, LoadMismatch, TargetBehind,
	SegmentNotLoaded, SegmentDropped, SegmentTwice, IndexNotLoaded,
	GrowingFlushed, GrowingOld, GrowingLarge, BruteForceShare, ConsumptionLag,

	// How the work is spread.
	AutoBalanceOff, IdleNode, ImbalanceRows, ImbalanceMemory, ImbalanceLeaders, ImbalanceChannels, MemoryPressure, CPUSkew,
}
