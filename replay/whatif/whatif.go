// Package whatif answers what the same queries would do on another cluster: everything sealed and indexed, balanced, with
// more nodes, other parameters, another index, other segments.
//
// In: a replay.Loaded with its log, and Changes. Out: Predictions. The steps:
//
//  1. A Change makes another Layout (apply.go, place.go), which remembers where the rows of its segments come from.
//  2. Where these fit this machine, their vectors are put together and graphs built of them (artifacts.go), and all are searched
//     in turn, with recall (measure.go, table.go); where they do not, a model that was fitted to measured segments
//     and to parts of them says what one costs (fit.go, model.go), with what caches and memory make of it (memory.go).
//  3. What a server takes beside searching is worked out of a live run, or assumed (calibrate.go).
//  4. replay/simulate makes queries per second and latencies of costs (cluster.go, predict.go).
//  5. The same simulation of this machine is held against the engine's own runs, that of the present cluster against the live
//     run, and the model against segments that it was not fitted to (check.go): the errors stand beside the figures.
//
// Explain ranks the changes by what they gain; WriteReport and ReadReport keep it all.
package whatif
