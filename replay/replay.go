// Package replay searches the segments of a cluster with the queries of a log, as the cluster's nodes would, and
// measures the cost.
//
// The inputs are a Layout (the segments on each node; replay/layout derives it from a cluster), a store with the
// segments' files, and a log (replay/log). Load reads the segments and lists those that it could not read. A
// Target searches each loaded segment, by its graph or row by row, and reduces the hits by node, by shard leader
// and as the proxy does: by distance, then by primary key, each key once. replay/load drives it, as it drives a
// live target (replay/live).
//
// The output is a Result: recall, differences, latencies, and the cost by segment, state, index and node, with
// everything needed to repeat the run. Results can be saved and compared, and are the input of predictions
// (replay/whatif).
package replay
