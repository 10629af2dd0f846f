// Package log reads, draws and writes query logs: what was asked of a collection, when, and what the answer should be.
//
// In: a file (.npy, .fvecs, .bvecs, .parquet, .jsonl), the access log of a Milvus proxy, or the vectors of a collection.
// Out: a Log, vectors and parameters of requests in the order of their arrival. The steps: Open tells the format by the
// first bytes; a reader makes requests; Sample draws them from a collection's own vectors; CaptureFiles takes rate and
// shape from an access log, which has no vectors, and Dress puts a shape on vectors. Write makes a .jsonl of any of them,
// which is described there.
package log

import (
	"time"

	"kitescope/engine"
)

// Log is requests in the order of their arrival. It is immutable and may be shared.
type Log struct {
	// Name is the path, or what the log was drawn from. Format is that of the file ("npy", "jsonl", "sample", ...).
	Name, Format string
	// Digest is the SHA-256 of the file, or of all that a drawn log consists of, in hex: a result names it.
	Digest string
	// Vectors are those of all requests, one after the other; nil of a log without (an access log).
	Vectors  *engine.Vectors
	Requests []Request
	// Truth are the true nearest keys of each vector, nearest first; nil if the file has none.
	Truth [][]engine.Key
	// Notes tell what was odd or left out: lines that are broken, methods that are no searches.
	Notes []string
	// Start is when the first request came; zero if the log knows no more than the times between requests.
	Start time.Time

	before int    // vectors of the file that lie before the first of Vectors
	free   func() // gives back what the vectors lie in
}

// Close gives back the memory of vectors that lie in a mapped file or outside the heap; nothing may use the log afterwards.
// Logs that were made of this one (Arrange, Dress, TruthFrom) share its vectors.
func (l *Log) Close() {
	if l.free != nil {
		l.free()
	}
	l.free, l.Vectors, l.Requests = nil, nil, nil
}

// Request is one search as a client sends it: NQ vectors with the same parameters.
type Request struct {
	First, NQ int // its vectors, by row of Log.Vectors
	// K and SearchParams are what was asked for; what is not set is left to the run.
	K int
	engine.SearchParams
	// Filter restricts the answer; nil is no filter.
	Filter *Filter
	// At is the time since the log's first request; Timed reports whether it is known.
	At    time.Duration
	Timed bool
	// Collection is the name that was asked; empty where the log does not say.
	Collection string
	// Took is how long it had taken where it was recorded, 0 unknown; Failed that it had failed there.
	Took   time.Duration
	Failed bool
}

// Filter is a list of primary keys: only these may be answered, or none of these. Or it is an expression of Milvus's, with the
// values of its {names} written in.
type Filter struct {
	Keys    []engine.Key
	Exclude bool
	Expr    string
}

// Queries is how many vectors are asked for in all.
func (l *Log) Queries() (n int) {
	for i := range l.Requests {
		n += l.Requests[i].NQ
	}
	return n
}
