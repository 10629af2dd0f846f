// Package whatif predicts how the queries of a log would run on another cluster: with everything sealed and indexed, balanced, with more nodes,
// other parameters, another index, other segments. It multiplies measured costs with one model of queues:
//
//  1. A Change makes another Layout (apply.go, place.go, rows.go).
//  2. Each segment is searched by the engine on this machine, with the real vectors and an index that is built if need be; segments that are
//     not here cost what measured ones of the same kind cost, in proportion to their work (artifacts.go, measure.go, cost.go).
//  3. A server takes more than the engine: a call's CPU, some for each segment, a factor of the engine's in comparing. These are assumed, or read
//     from a live run of the present cluster (overhead.go, calibrate.go).
//  4. Nodes are cores behind a queue, first come, first served; a request waits for its slowest part (queue.go).
//  5. The gain of a change is the ratio of two such simulations; its range has all ways in which the live run can be read, and the errors of all
//     that was measured (predict.go, check.go).
package whatif
