// Package schedule is how a Milvus query node admits reads: its queue, the knobs that bound what runs at once, and the
// grouping of requests that can be answered together.
//
// In: Tasks as they arrive and as they end. Out: which of them run now, in groups. It has no clock, no goroutine and no
// I/O: the engine's runner (replay) drives it with real time, the simulation (replay/simulate) with its own, so both do the
// same. The steps are those of Milvus: a task waits in a queue by its policy; equal enough tasks are merged; the head is
// taken while fewer tasks run than may, and, in 2.1 and 2.2, while the CPU that they are estimated to need is left.
//
// A driver calls Push for what arrives and Done for what ended, and after either Next until there is none:
//
//	for group, ok := queue.Next(); ok; group, ok = queue.Next() {
//		start(group) // and later queue.Done(group)
//	}
package schedule
