// Package serving judges what query nodes have in memory against what they ought to have: replicas, shards and their leaders, loads,
// sealed and growing segments, indexes; and how far behind they read.
package serving

import "kitescope/inspect/check"

// Checks are the checks of what is served.
func Checks() []*check.Check {
	return []*check.Check{
		replicaDeadNode, replicaShort,
		noShardLeader, shardUnserviceable, leaderSplit, loadStuck, loadMismatch, targetBehind,
		segmentNotLoaded, segmentDropped, segmentTwice, indexNotLoaded,
		growingFlushed, growingOld, growingLarge, bruteForceShare, consumptionLag, cacheThrashing, cacheLoadsFailing,
	}
}
