// Package replay searches the segments of a cluster with the queries of a log, as the cluster's nodes would, and
// measures the cost.
//
// The inputs are a Layout (the segments on each node; replay/layout derives it from a cluster), a store with the
// segments' files, and a log (replay/log). Load reads the segments and lists those that it could not read. Requests
// makes load.Requests of the log.
//
// A Target implements load.Target with the engine: it searches each loaded segment (segment.Probe), and reduces the
// hits by node, by shard leader and as the proxy does: by distance, then by primary key, each key once.
// replay/live has the load.Target of a live server.
//
// Run takes the true neighbours from the log or computes them (Exact), asks each request once (AskAll), measures the
// load (replay/load) and computes the recall (RecallOf). A hit as near as the last true neighbour counts as found.
//
// The output is a Result: recall, differences, latencies, and the cost by segment, state, index and node, with
// everything needed to repeat the run. Results can be saved and compared, and are the input of predictions
// (replay/whatif).
package replay
