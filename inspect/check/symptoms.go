package check

import "slices"

// Symptom is what people notice before they know what is wrong, and the checks that may find why.
type Symptom struct {
	Name   string
	Checks []string
}

// Symptoms are all of them, the most frequent first; of each the likely checks come first.
func Symptoms() []Symptom {
	return []Symptom{
		{"Searches are slow", []string{
			"node-idle", "auto-balance-off", "balancing-suspended", "node-suspended", "imbalance-rows", "imbalance-leaders", "cpu-skew", "brute-force-share", "cache-thrashing", "growing-flushed", "growing-too-old", "growing-too-large", "index-not-loaded",
			"index-missing", "collection-unindexed", "index-unfit", "small-segments", "consistency-wait", "read-queue-full", "worker-slow", "segment-thread-wait", "growing-search-time", "large-nq", "reduce-heavy",
			"proxy-queue", "proxy-starved", "metadata-cache-miss", "gc-pause", "process-slow", "channel-consumption-lag", "bad-switches", "shard-skew", "partition-key-skew", "delete-heavy", "l0-backlog",
			"profile-brute-force-share", "profile-gc-share", "profile-lock-contention", "profile-idle-node", "few-requests",
		}},
		{"Searches fail", []string{
			"role-missing", "node-unreachable", "stale-session", "no-shard-leader", "shard-not-serviceable", "replica-dead-node", "replica-short", "leader-channel-split", "load-state-mismatch", "stopping-node-serving",
			"index-metric-mismatch", "index-too-new", "layout-rollback", "rate-limited", "quota-denied", "channel-consumption-lag", "timetick-lag", "orphan-alias", "files-missing", "cache-loads-failing", "clock-regression",
		}},
		{"Searches miss rows or return old ones", []string{
			"segment-not-loaded", "target-behind", "segments-invisible", "segment-loaded-dropped", "load-state-mismatch", "leader-channel-split", "channel-consumption-lag", "consistency-wait", "checkpoint-missing", "queue-lag", "files-missing",
			"l0-backlog", "growing-flushed",
		}},
		{"A collection does not load", []string{
			"load-stuck", "load-state-mismatch", "checker-off", "node-suspended", "replica-short", "resource-group-short", "index-missing", "index-stuck", "index-failed", "index-too-new", "index-metric-mismatch", "memory-pressure", "cache-loads-failing", "files-missing", "storage-failing", "storage-slow", "broadcast-stuck",
			"role-missing", "node-unreachable", "orphan-load", "layout-older", "near-limit",
		}},
		{"Writes are slow or fail", []string{
			"wal-append-slow", "wal-recovery-stuck", "wal-not-open", "wal-open-twice", "wal-throttled", "queue-unreachable", "dependency-unhealthy", "subscription-unread", "quota-denied", "rate-limited", "memory-pressure", "role-missing", "node-unreachable", "channel-unwatched", "channel-watched-twice", "channel-watch-state", "checkpoint-lag",
			"imbalance-channels", "storage-failing", "storage-read-only", "storage-slow", "etcd-alarm", "etcd-no-leader", "clock-regression", "process-slow", "metadata-cache-miss", "proxy-queue", "proxy-starved", "bad-switches",
		}},
		{"Flushes and checkpoints do not advance", []string{
			"checkpoint-lag", "checkpoint-missing", "channel-unwatched", "channel-watch-state", "timetick-lag", "queue-lag", "queue-backlog", "storage-failing", "storage-read-only", "growing-too-old", "growing-too-large",
			"wal-recovery-stuck", "wal-not-open", "wal-flush-lag", "wal-backlog", "wal-damaged",
		}},
		{"Memory is full", []string{
			"memory-pressure", "imbalance-memory", "segment-loaded-twice", "segment-loaded-dropped", "growing-flushed", "growing-too-old", "growing-over-watermark", "wal-flush-lag", "channel-unwatched", "profile-goroutine-leak", "profile-gc-share",
		}},
		{"Indexing does not finish", []string{
			"index-stuck", "index-missing", "index-failed", "task-failed", "role-missing", "storage-failing", "files-missing", "index-metric-mismatch",
		}},
		{"Compactions or imports do not finish", []string{
			"compaction-stuck", "small-segments", "l0-backlog", "delete-heavy", "import-stuck", "task-failed", "segments-invisible", "storage-failing",
		}},
		{"etcd grows or is slow", []string{
			"etcd-size", "etcd-alarm", "etcd-no-leader", "watch-livelock", "dropped-not-collected", "orphan-segments", "orphan-binlogs", "orphan-index", "orphan-task", "checkpoint-stale-dropped",
		}},
		{"Storage grows", []string{
			"dropped-not-collected", "delete-heavy", "small-segments", "compaction-stuck", "orphan-segments", "orphan-binlogs", "storage-read-only", "wal-not-truncated", "wal-log-left", "subscription-unread",
		}},
		{"After an upgrade or a rollback", []string{
			"mixed-versions", "layout-rollback", "layout-older", "index-too-new", "config-drift", "bad-switches", "undecoded-records", "l0-backlog", "mixed-logs", "grant-on-alias", "dynamic-mismatch",
		}},
		{"After a restart or the loss of a node", []string{
			"node-unreachable", "stale-session", "role-missing", "replica-dead-node", "no-shard-leader", "shard-not-serviceable", "node-idle", "node-stopping", "stopping-node-serving", "channel-watched-twice", "target-behind", "clock-regression",
			"config-drift",
		}},
		{"Leftovers of dropped collections", []string{
			"orphan-segments", "orphan-binlogs", "orphan-index", "orphan-load", "orphan-alias", "orphan-grant", "orphan-task", "checkpoint-stale-dropped", "dropped-not-collected",
		}},
	}
}

// Symptoms are those that a check may explain.
func (x *Check) Symptoms() (names []string) {
	for _, s := range Symptoms() {
		if slices.Contains(s.Checks, x.ID) {
			names = append(names, s.Name)
		}
	}
	return names
}
