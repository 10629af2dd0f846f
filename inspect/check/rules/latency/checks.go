// Package latency judges where requests spend their time: it holds the budgets of package inspect/latency, and the metrics that they are made
// of, against what the same work takes where nothing is wrong. Each finding says how many milliseconds of a request it costs.
//
//  1. A check takes the budgets of a kind of request (budgets), of single collections where the metrics tell them apart.
//  2. Of each it takes the phases that are its subject as a cost: what is measured, less what whole milliseconds may hide (costOf).
//  3. What is worth it (matters) becomes a finding about a collection, a process or the cluster (found): of few requests an information.
package latency

import "kitescope/inspect/check"

// Checks are the checks of where requests spend their time.
func Checks() []*check.Check {
	return []*check.Check{
		consistencyWait, readQueueFull, workerSlow, segmentThreads, growingSearched, largeNQ, reduceHeavy,
		proxyQueue, proxyStarved, metadataCache, walAppendSlow, gcPause, rateLimited, storageSlow, fewRequests,
	}
}
