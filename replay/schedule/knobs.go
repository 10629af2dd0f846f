package schedule

import (
	"strconv"
	"strings"
	"time"
)

// Knobs are a query node's settings of how many reads run at once. The zero value admits one task at a time: see Defaults.
type Knobs struct {
	Cores float64 // of the node
	// ConcurrencyRatio times Cores is how many tasks run at once (queryNode.scheduler.maxReadConcurrentRatio).
	ConcurrencyRatio float64
	// CPURatio is how many percent of a core 2.1 and 2.2 estimate a task to need for each of its vectors in each of its
	// segments (queryNode.scheduler.cpuRatio): see Estimate. Tasks run while the estimates of all together are at most Cores, so that a greater
	// ratio lets fewer run at once. 2.3 and later have the setting and do not read it; 0 does not bound.
	CPURatio float64
	// Grouping merges waiting requests with the same parameters up to MaxNQ vectors (queryNode.grouping.enabled, .maxNQ), if all vectors with the greater k
	// are at most TopKRatio times the vectors times k of the smaller request (queryNode.grouping.topKMergeRatio). 2.3 and later look at the ratio only
	// where k differs, and no longer read .enabled: there only a MaxNQ of 1 turns grouping off.
	Grouping  bool
	MaxNQ     int
	TopKRatio float64
	// SameKRatio tells that TopKRatio bounds requests of equal k too, as in 2.1 and 2.2: those of one vector are merged up to a
	// group of TopKRatio.
	SameKRatio bool
	// Waiting bounds how many requests wait: more are refused; 0 does not bound. No release up to 2.6 bounds those that are ready to run:
	// queryNode.scheduler.unsolvedQueueSize counts requests that wait for their timestamp (2.1, 2.2), or ends the
	// taking in of a batch (2.3 to 2.6). WaitingPerUser bounds the groups of each user of UserTaskPolling
	// (queryNode.scheduler.scheduleReadPolicy.maxPendingTaskPerUser).
	Waiting, WaitingPerUser int
	// Policy of the queue (queryNode.scheduler.scheduleReadPolicy.name). CrossUser lets UserTaskPolling merge requests of several users
	// (.enableCrossUserGrouping).
	Policy    Policy
	CrossUser bool
	// Staged is how many groups have left the queue and cannot be merged with any more although they do not run yet. 2 since 2.3: one is in the hand
	// of the goroutine that schedules, one in that of the goroutine which hands tasks to the pool.
	Staged int
	// Rules names the release whose rules these are, and where they are written down.
	Rules string
	// From tells which of these the cluster's configuration said; the others are the version's defaults.
	From map[string]string
}

// Policy is the order in which waiting tasks are taken.
type Policy uint8

// The policies.
const (
	FIFO Policy = iota
	UserTaskPolling
)

// Task is one request's work on one node.
type Task struct {
	Number  int
	NQ, K   int
	Group   string        // requests with equal ones may be merged: collection, shard, parameters, filter, timestamp
	User    string        // of UserTaskPolling
	Arrived time.Duration // on the caller's clock
	// Segments are how many it searches: 2.1 and 2.2 estimate its CPU from them. CPU is the estimate itself, in cores, for who knows better; 0
	// takes that of Milvus.
	Segments int
	CPU      float64
}

// Defaults returns the settings of a release of Milvus ("2.2.11", "v2.4"), for a query node of so many cores. A version that
// is empty or not known has the rules of 2.6.
//
// Sources: for 2.1 and 2.2 internal/util/paramtable/component_param.go (queryNodeConfig), internal/querynode/task_scheduler.go, task_policy.go and
// task_search.go of Milvus; cpuRatio is 20 in the configs/milvus.yaml of 2.1 (Milvus issue 20338, of 2.1.4) and 10 in that of 2.2. For 2.3 and later
// configs/milvus.yaml, pkg/util/paramtable/component_param.go, and internal/querynodev2/tasks/{concurrent_safe_scheduler,
// fifo_policy,user_task_polling_policy,queues,search_task}.go, in 2.6 under internal/util/searchutil/scheduler.
func Defaults(version string, cores float64) Knobs {
	major, minor := release(version)
	k := Knobs{
		Cores: cores, ConcurrencyRatio: 1, Grouping: true, MaxNQ: 1000, TopKRatio: 20, WaitingPerUser: 1024, Staged: 2,
		Rules: "Milvus 2.3 to 2.6 (internal/querynodev2/tasks/concurrent_safe_scheduler.go)",
	}
	if major == 2 && minor <= 2 {
		k.ConcurrencyRatio, k.CPURatio, k.TopKRatio, k.SameKRatio = 2, 10, 10, true
		k.Staged, k.WaitingPerUser = 0, 0
		k.Rules = "Milvus 2.1 and 2.2 (internal/querynode/task_scheduler.go)"
		if minor <= 1 {
			k.CPURatio = 20
		}
	}
	return k
}

// release is the major and minor number of a version; 0, 0 if it has none.
func release(version string) (major, minor int) {
	a, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".")
	if !ok {
		return 0, 0
	}
	b, _, _ := strings.Cut(rest, ".")
	b, _, _ = strings.Cut(b, "-")
	major, err := strconv.Atoi(a)
	if err != nil {
		return 0, 0
	}
	if minor, err = strconv.Atoi(b); err != nil {
		return 0, 0
	}
	return major, minor
}

// Concurrency is how many groups run at once: Cores times ConcurrencyRatio, at least one and at most 100 per core.
func (k *Knobs) Concurrency() int {
	n := k.Cores * k.ConcurrencyRatio
	if !(n >= 1) {
		return 1
	}
	return int(min(n, max(1, 100*k.Cores), 1<<30))
}

// Estimate is how many cores 2.1 and 2.2 think that a task of nq vectors over so many segments needs while it runs:
// CPURatio percent for each vector in each segment, whole percents, 5% if that is none, and never more than the node
// has (searchTask.estimateCPUUsage). 0 where CPURatio is 0.
func (k *Knobs) Estimate(nq, segments int) float64 {
	if k.CPURatio <= 0 {
		return 0
	}
	percent := float64(nq) * float64(segments) * k.CPURatio
	if percent < 1 {
		percent = 5
	}
	return min(float64(int64(min(percent, 1e15)))/100, k.Cores)
}
