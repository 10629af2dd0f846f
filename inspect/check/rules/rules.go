// Package rules defines the checks of the diagnosis, most of them in a file of their own. All lists them. A check is a
// value that declares the data it reads, and a function that reports findings to a check.Pass.
package rules

import "kitescope/inspect/check"

// All returns the checks in the order of the documentation.
func All() []*check.Check {
	return []*check.Check{
		// Requests of clients.
		requestsFailing, requestsSlow,

		// Processes: registered for each role, and responding.
		roleMissing, nodeUnreachable, staleSession, registeredElsewhere, processRestarting, stoppingServing,
		nodeStopping, nodeSuspended,

		// Data in memory of query nodes: replicas, shards and their leaders, loads, segments, indexes, and lag
		// in consumption.
		replicaDeadNode, replicaShort,
		noShardLeader, shardUnserviceable, leaderSplit, loadStuck, loadMismatch, targetBehind,
		segmentNotLoaded, segmentDropped, segmentTwice, indexNotLoaded,
		growingFlushed, growingOld, growingLarge, bruteForceShare, consumptionLag, cacheThrashing, cacheLoadsFailing,

		// Balance of query nodes: rows, memory, shard leaders, channels.
		autoBalanceOff, balancingSuspended, checkerOff, idleNode, imbalanceRows, imbalanceMemory, imbalanceLeaders,
		imbalanceChannels,

		// Load of processes.
		hostStarved, memoryPressure, cpuSkew, processSlow, componentHanging, dependencyUnhealthy,

		// Latency of requests by phase (see cost).
		consistencyWait, readQueueFull, workerSlow, segmentThreads, growingSearched, largeNQ, reduceHeavy,
		proxyQueue, proxyStarved, metadataCache, walAppendSlow, gcPause, rateLimited, storageSlow, fewRequests,
		moreRequests,

		// Index definitions and builds: failed, stuck, missing, or of no use to searches.
		indexFailed, indexStuck, indexMissing, indexTooNew, indexMetricMismatch, indexUnfit, collectionUnindexed,

		// Layout of the metadata and the versions that write it, etcd, and the clock of all timestamps.
		layoutRollback, layoutOlder, mixedVersions, etcdNoLeader, etcdAlarm, etcdSize, watchLivelock, clockRegression,
		undecodedRecords,

		// Message queue and its consumers: watchers, checkpoints, lags, refused writes.
		queueUnreachable, timetickLag, channelUnwatched, channelWatchedTwice, channelWatchState, ddlStuck,
		recordsMissing,
		checkpointLag, checkpointMissing, checkpointStaleDropped, queueLag, queueBacklog, subscriptionUnread,
		quotaDenied,
		walRecoveryStuck, walNotOpen, walOpenTwice, walFlushLag, growingOverWatermark, walThrottled, walBacklog,
		walNotTruncated, walDamaged,

		// Storage: files, small segments, deleted rows, leftover segments, and background tasks.
		storageFailing, storageReadOnly, filesMissing, smallSegments, deleteHeavy, l0Backlog, segmentsInvisible,
		mixedLogs, droppedNotCollected,
		taskStuck, taskFailed,

		// Settings.
		configDrift, badSwitches,

		// Shape of the data, and limits.
		shardSkew, partitionKeySkew, resourceGroupShort, nearLimit, grantOnAlias, dynamicUnset,

		// Profiles of processes: CPU, lock contention, and goroutine leaks.
		profileBruteForceShare, profileGCShare, profileLockContention, profileGoroutineLeak, profileIdleNode,

		// Records whose owner is gone.
		orphanRecords, orphanGrant,
	}
}
