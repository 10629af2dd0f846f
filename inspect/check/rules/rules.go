// Package rules has all checks, a file each: a check is a value with what it reads, and a function over a check.Pass that reports
// what it finds.
package rules

import "kitescope/inspect/check"

// All returns the checks, in the order of the documentation.
func All() []*check.Check {
	return []*check.Check{
		// What clients feel.
		requestsFailing, requestsSlow,

		// The processes: whether each role has somebody, and whether they answer.
		roleMissing, nodeUnreachable, staleSession, registeredElsewhere, processRestarting, stoppingServing, nodeStopping, nodeSuspended,

		// What query nodes have in memory: replicas, shards and their leaders, loads, segments, indexes; and how far behind they read.
		replicaDeadNode, replicaShort,
		noShardLeader, shardUnserviceable, leaderSplit, loadStuck, loadMismatch, targetBehind,
		segmentNotLoaded, segmentDropped, segmentTwice, indexNotLoaded,
		growingFlushed, growingOld, growingLarge, bruteForceShare, consumptionLag, cacheThrashing, cacheLoadsFailing,

		// How evenly query nodes share the work: rows, memory, shard leaders, channels.
		autoBalanceOff, balancingSuspended, checkerOff, idleNode, imbalanceRows, imbalanceMemory, imbalanceLeaders, imbalanceChannels,

		// How busy processes are.
		hostStarved, memoryPressure, cpuSkew, processSlow, componentHanging, dependencyUnhealthy,

		// Where requests spend their time (see cost).
		consistencyWait, readQueueFull, workerSlow, segmentThreads, growingSearched, largeNQ, reduceHeavy,
		proxyQueue, proxyStarved, metadataCache, walAppendSlow, gcPause, rateLimited, storageSlow, fewRequests,

		// Index definitions and builds: failed, stuck or missing ones, and those of no use to searches.
		indexFailed, indexStuck, indexMissing, indexTooNew, indexMetricMismatch, indexUnfit, collectionUnindexed,

		// The layout of the metadata and the versions that write it, etcd, and the clock of all timestamps.
		layoutRollback, layoutOlder, mixedVersions, etcdNoLeader, etcdAlarm, etcdSize, watchLivelock, clockRegression, undecodedRecords,

		// The message queue and who consumes it: watchers, checkpoints, lags, refused writes.
		queueUnreachable, timetickLag, channelUnwatched, channelWatchedTwice, channelWatchState, ddlStuck, recordsMissing,
		checkpointLag, checkpointMissing, checkpointStaleDropped, queueLag, queueBacklog, subscriptionUnread, quotaDenied,
		walRecoveryStuck, walNotOpen, walOpenTwice, walFlushLag, growingOverWatermark, walThrottled, walBacklog,
		walNotTruncated, walDamaged,

		// What is stored: files, segments that are small, deleted from or left behind, and the background tasks.
		storageFailing, storageReadOnly, filesMissing, smallSegments, deleteHeavy, l0Backlog, segmentsInvisible, mixedLogs, droppedNotCollected,
		taskStuck, taskFailed,

		// Settings.
		configDrift, badSwitches,

		// The shape of the data, and limits.
		shardSkew, partitionKeySkew, resourceGroupShort, nearLimit, grantOnAlias, dynamicUnsaid,

		// Profiles of the processes: where they spend CPU, wait for locks, and leave goroutines behind.
		profileBruteForceShare, profileGCShare, profileLockContention, profileGoroutineLeak, profileIdleNode,

		// Records whose owner is gone.
		orphanRecords, orphanGrant,
	}
}
