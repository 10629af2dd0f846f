package check

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// starts names for each check the events that start what it finds, then behind "|" others that can lead to it. A colon is followed by
// the role of the node, or by the setting. A time in front is how long such an event may lie before a finding: what the check itself
// waits for. A finding began with the newest event in front of "|" that is about its object, or what that belongs to (inspect/onset).
var starts = map[string]string{
	"role-missing":              "node_lost node_left | node_stopping node_changed",
	"node-unreachable":          "node_stopping node_joined | node_changed",
	"stale-session":             "node_joined node_stopping | node_changed",
	"stopping-node-serving":     "node_stopping | config_changed:autoBalance",
	"node-stopping":             "node_stopping",
	"replica-dead-node":         "node_lost node_left | node_stopping replica_changed resource_group_changed",
	"replica-short":             "node_lost node_left | node_stopping replica_created replica_changed resource_group_changed collection_loading",
	"no-shard-leader":           "node_lost:querynode node_left:querynode | node_stopping:querynode collection_loading collection_loaded channel_reassigned",
	"shard-not-serviceable":     "node_lost:querynode node_left:querynode | node_stopping:querynode segment_compacted collection_loading",
	"leader-channel-split":      "node_joined:querynode node_lost:querynode | replica_changed",
	"load-stuck":                "1h collection_loading | node_lost node_left index_dropped partition_loaded",
	"load-state-mismatch":       "collection_released collection_loading collection_loaded | node_joined:querycoord node_lost:querycoord",
	"target-behind":             "node_lost node_left | segment_flushed segment_compacted node_joined:querycoord",
	"segment-not-loaded":        "node_lost:querynode node_left:querynode segment_flushed segment_compacted | index_built config_changed",
	"segment-loaded-dropped":    "segment_dropped segment_compacted collection_dropped partition_dropped | collection_released",
	"segment-loaded-twice":      "node_joined:querynode | replica_changed config_changed:autoBalance",
	"index-not-loaded":          "index_built index_created | collection_loading",
	"growing-flushed":           "segment_flushed | node_joined channel_reassigned node_lost",
	"growing-too-old":           "1h segment_created | node_lost:datanode node_left:datanode channel_released config_changed:segment",
	"growing-too-large":         "segment_created | config_changed:segment node_lost:datanode",
	"brute-force-share":         "index_dropped index_failed | segment_flushed segment_created node_lost:indexnode",
	"channel-consumption-lag":   "node_lost node_joined channel_reassigned | collection_loading segment_created",
	"cache-thrashing":           "collection_loading collection_loaded node_lost:querynode | config_changed:tieredStorage replica_changed",
	"cache-loads-failing":       "collection_loading config_changed:tieredStorage | config_changed:minio node_lost:querynode",
	"auto-balance-off":          "config_changed:autoBalance node_joined:querynode | node_lost:querynode replica_changed",
	"balancing-suspended":       "node_joined | config_changed",
	"checker-off":               "collection_loading segment_flushed | index_built config_changed",
	"node-suspended":            "resource_group_changed replica_changed | node_joined",
	"node-idle":                 "config_changed:autoBalance node_joined:querynode | collection_released replica_changed resource_group_changed",
	"imbalance-rows":            "config_changed:autoBalance node_joined:querynode node_lost:querynode | collection_loaded segment_flushed segment_compacted",
	"imbalance-memory":          "config_changed:autoBalance node_joined:querynode node_lost:querynode | collection_loaded index_built",
	"imbalance-leaders":         "node_lost:querynode node_joined:querynode | collection_loaded config_changed:autoBalance",
	"imbalance-channels":        "node_joined node_lost node_left channel_reassigned | channel_assigned collection_created config_changed",
	"memory-pressure":           "collection_loading collection_loaded replica_created node_lost:querynode | partition_loaded node_left:querynode index_built",
	"cpu-skew":                  "node_joined node_lost config_changed:autoBalance | collection_loaded replica_changed",
	"process-slow":              "node_joined collection_loading | task_created segment_compacted",
	"consistency-wait":          "node_lost node_joined | channel_reassigned collection_altered",
	"read-queue-full":           "node_lost:querynode collection_loaded | config_changed:queryNode node_left:querynode",
	"worker-slow":               "node_joined:querynode segment_flushed | index_dropped collection_loaded",
	"segment-thread-wait":       "segment_flushed config_changed:queryNode | collection_loaded",
	"growing-search-time":       "segment_created | index_dropped node_lost:datanode",
	"large-nq":                  "config_changed:quota | collection_loaded",
	"reduce-heavy":              "segment_flushed config_changed | collection_loaded",
	"proxy-queue":               "node_lost:proxy node_left:proxy | config_changed:proxy",
	"proxy-starved":             "node_lost:proxy node_left:proxy | config_changed:proxy",
	"metadata-cache-miss":       "collection_altered collection_loading alias_altered | node_joined:proxy partition_created",
	"wal-append-slow":           "node_lost node_joined | channel_reassigned",
	"gc-pause":                  "collection_loading collection_loaded | index_built",
	"rate-limited":              "config_changed:quota | database_altered collection_altered",
	"storage-slow":              "task_created | collection_loading segment_compacted",
	"few-requests":              "node_left:proxy node_lost:proxy | collection_loaded",
	"index-failed":              "index_failed | index_created index_altered segment_flushed",
	"index-stuck":               "30m index_created node_lost:indexnode node_left:indexnode node_lost:datanode | segment_flushed node_stopping index_failed",
	"index-missing":             "index_created index_dropped | segment_flushed node_lost:indexnode",
	"index-too-new":             "node_joined | index_built",
	"index-metric-mismatch":     "index_created index_altered | index_dropped",
	"index-unfit":               "index_created index_altered | segment_flushed collection_loaded",
	"collection-unindexed":      "index_dropped collection_created | segment_flushed collection_loading",
	"layout-rollback":           "node_joined:rootcoord node_joined:datacoord node_joined:querycoord | node_joined",
	"layout-older":              "node_joined:rootcoord node_joined:datacoord node_joined:querycoord | node_joined",
	"mixed-versions":            "node_joined | node_changed",
	"etcd-no-leader":            "channel_rewritten",
	"etcd-alarm":                "channel_rewritten | segment_created",
	"etcd-size":                 "channel_rewritten | segment_created",
	"watch-livelock":            "channel_rewritten | node_joined channel_assigned collection_created",
	"clock-regression":          "node_joined:rootcoord | node_joined",
	"undecoded-records":         "node_joined | node_changed",
	"queue-unreachable":         "config_changed | checkpoint_stopped",
	"timetick-lag":              "node_lost node_left | node_joined checkpoint_stopped",
	"channel-unwatched":         "2m channel_released node_lost:datanode node_left:datanode node_lost:streamingnode node_left:streamingnode | collection_created channel_reassigned",
	"channel-watched-twice":     "channel_assigned channel_reassigned | node_joined:datanode node_joined:datacoord",
	"channel-watch-state":       "7m channel_assigned channel_reassigned channel_rewritten | node_joined:datanode node_lost:datanode collection_created",
	"checkpoint-lag":            "20m checkpoint_stopped channel_released node_lost:datanode node_left:datanode | channel_reassigned segment_created node_lost:streamingnode config_changed:dataNode",
	"checkpoint-missing":        "collection_created | channel_assigned",
	"checkpoint-stale-dropped":  "collection_dropped",
	"dependency-unhealthy":      "config_changed | node_lost checkpoint_stopped",
	"subscription-unread":       "node_lost node_left | channel_released channel_reassigned",
	"queue-backlog":             "checkpoint_stopped node_lost | channel_reassigned node_joined",
	"queue-lag":                 "20m checkpoint_stopped node_lost:datanode | channel_released config_changed",
	"wal-recovery-stuck":        "30m node_lost:streamingnode node_left:streamingnode checkpoint_stopped | node_joined:streamingnode config_changed",
	"wal-not-open":              "node_joined:streamingnode node_lost:streamingnode node_left:streamingnode | channel_assigned channel_reassigned",
	"wal-open-twice":            "node_lost:streamingnode node_joined:streamingnode | channel_reassigned",
	"wal-flush-lag":             "checkpoint_stopped node_lost:streamingnode | segment_created config_changed channel_reassigned",
	"growing-over-watermark":    "segment_created | config_changed:streaming checkpoint_stopped",
	"broadcast-stuck":           "15m node_lost:streamingnode node_left:streamingnode task_created | channel_reassigned task_changed",
	"wal-throttled":             "segment_created config_changed:streaming | node_lost:streamingnode checkpoint_stopped",
	"wal-backlog":               "checkpoint_stopped | node_lost:streamingnode segment_created config_changed",
	"wal-not-truncated":         "96h config_changed checkpoint_stopped | node_lost:streamingnode",
	"wal-damaged":               "node_joined | node_lost:streamingnode",
	"wal-log-left":              "config_changed | collection_dropped",
	"quota-denied":              "config_changed:quota | node_lost checkpoint_stopped",
	"storage-failing":           "config_changed:minio | task_failed index_failed checkpoint_stopped",
	"storage-read-only":         "config_changed:minio | task_failed index_failed checkpoint_stopped",
	"files-missing":             "segment_dropped segment_removed | segment_compacted index_failed",
	"small-segments":            "segment_flushed segment_sealed | config_changed:compaction segment_created collection_loaded",
	"delete-heavy":              "task_failed config_changed:compaction | segment_flushed segment_compacted",
	"l0-backlog":                "segment_created segment_flushed config_changed:compaction | task_failed node_lost:datanode",
	"segments-invisible":        "segment_changed segment_compacted | task_created",
	"dropped-not-collected":     "3h segment_dropped segment_compacted | config_changed:gc collection_dropped",
	"import-stuck":              "1h task_created | node_lost:datanode node_left:datanode task_changed",
	"compaction-stuck":          "1h task_created | node_lost:datanode node_left:datanode task_changed",
	"task-failed":               "task_failed | task_changed collection_dropped",
	"config-drift":              "config_changed | node_joined",
	"bad-switches":              "config_changed node_joined",
	"shard-skew":                "collection_created segment_flushed | segment_created",
	"partition-key-skew":        "collection_created segment_flushed | segment_created",
	"resource-group-short":      "node_lost:querynode node_left:querynode resource_group_changed resource_group_created | node_stopping:querynode",
	"near-limit":                "collection_created partition_created | collection_altered",
	"profile-brute-force-share": "index_dropped | segment_created segment_flushed",
	"profile-gc-share":          "collection_loading collection_loaded | index_built",
	"profile-lock-contention":   "collection_loaded node_joined | task_created",
	"profile-goroutine-leak":    "node_joined | node_lost",
	"profile-idle-node":         "node_joined config_changed:autoBalance | collection_released",
	"orphan-segments":           "collection_dropped partition_dropped | segment_created",
	"orphan-binlogs":            "segment_removed collection_dropped | segment_dropped",
	"orphan-index":              "collection_dropped index_created | index_dropped",
	"orphan-load":               "collection_dropped collection_loading | collection_released",
	"orphan-alias":              "collection_dropped alias_created | alias_altered",
	"orphan-grant":              "collection_dropped privilege_granted role_dropped | database_dropped user_dropped",
	"grant-on-alias":            "privilege_granted alias_created node_joined:proxy | alias_altered",
	"dynamic-mismatch":          "collection_altered | collection_created node_joined",
	"mixed-logs":                "segment_flushed node_joined | segment_compacted",
	"orphan-task":               "collection_dropped task_created | task_changed",
}

// Starts is the row of a check.
type Starts struct {
	First, Others []EventFilter
	Waits         time.Duration
}

// EventFilter matches events of a kind, of some nodes or settings only where Of is set.
type EventFilter struct {
	Kind history.Kind
	Of   string
}

// StartsOf returns the row of a check.
func StartsOf(id string) (s Starts) {
	list := &s.First
	for word := range strings.FieldsSeq(starts[id]) {
		if word == "|" {
			list = &s.Others
			continue
		}
		if d, err := time.ParseDuration(word); err == nil {
			s.Waits = d
			continue
		}
		kind, of, _ := strings.Cut(word, ":")
		*list = append(*list, EventFilter{history.Kind(kind), of})
	}
	return s
}

// EventKinds returns the kinds of events that can be the cause of what a check finds: those that start it, and the others.
func EventKinds(id string) (first, others []history.Kind) {
	s := StartsOf(id)
	kinds := func(list []EventFilter) (kinds []history.Kind) {
		for _, f := range list {
			kinds = append(kinds, f.Kind)
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	}
	return kinds(s.First), kinds(s.Others)
}

// Matches reports whether an event is one that is meant.
func (f *EventFilter) Matches(e *history.Event) bool {
	if f.Kind != e.Kind {
		return false
	}
	if f.Of == "" {
		return true
	}
	if e.Object.Resource == "config" {
		return strings.Contains(model.FoldConfigKey(e.Object.ID), model.FoldConfigKey(f.Of))
	}
	// All of them in one process, and all coordinators.
	role, _, _ := strings.Cut(e.Object.ID, "-")
	return role == f.Of || role == "standalone" || role == "mixcoord" && strings.HasSuffix(f.Of, "coord")
}
