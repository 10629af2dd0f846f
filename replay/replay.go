// Package replay asks the queries of a log of the segments of a cluster, as its nodes would, and says what it cost.
//
// In: a Layout (which node searches which segments; replay/layout makes it of a cluster), a store with their files, a log
// (replay/log). Out: a Result: recall, differences, latencies, cost by segment, state, index and node, with all that is
// needed to repeat it. The steps: Load reads the segments and says which could not be; a Target made of what was
// loaded searches each of them, by its graph or row by row, reduces by node, by shard leader and as the proxy does
// (distance, then primary key, no key twice); replay/load drives it, as it drives a live target (replay/live); Results are
// saved, compared, and the ground of predictions (replay/whatif).
package replay
