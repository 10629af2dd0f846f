// Package log reads, samples and writes query logs: the requests to a collection, their times, and optionally the
// correct answers.
//
// Open reads a file (.npy, .fvecs, .bvecs, .parquet, .jsonl) and detects its format by the first bytes. CaptureFiles
// reads access logs of Milvus proxies, which have the rate and the shape of requests, but no vectors; Combine adds
// vectors to a shape. Sample draws requests from a collection's own vectors. All return a Log: vectors and
// parameters of requests in order of arrival. Write writes a Log as .jsonl and documents that format.
package log

import (
	"time"

	"kitescope/engine"
)

// Log holds requests in order of arrival. It is immutable and may be shared.
type Log struct {
	// Name is the path, or the source of a sampled log. Format is the format of the file ("npy", "jsonl", "sample",
	// ...).
	Name, Format string
	// Digest is the SHA-256 in hex of the file, or of the whole content of a sampled log. Results refer to it.
	Digest string
	// Vectors holds the vectors of all requests, one after another; nil for a log without vectors (an access log).
	Vectors  *engine.Vectors
	Requests []Request
	// Truth holds the true nearest keys of each vector, nearest first; nil if the file has none.
	Truth [][]engine.Key
	// Notes lists anomalies and omissions, e.g. broken lines, and methods that are not searches.
	Notes []string
	// Start is the time of the first request; zero if the log has only the times between requests.
	Start time.Time

	skipped int    // number of vectors of the file before the first of Vectors
	free    func() // releases the memory of the vectors
}

// Close releases the memory of vectors in a mapped file or outside the heap. The log must not be used afterwards.
// Logs derived from this one (Shuffle, Combine, TruthFrom) share its vectors.
func (l *Log) Close() {
	if l.free != nil {
		l.free()
	}
	l.free, l.Vectors, l.Requests = nil, nil, nil
}

// Request is one search as sent by a client: NQ vectors with the same parameters.
type Request struct {
	First, NQ int // its vectors, by row of Log.Vectors
	// K and SearchParams are the requested parameters. The run sets parameters that are unset here.
	K int
	engine.SearchParams
	// Filter restricts the results; nil means no filter.
	Filter *Filter
	// At is the time since the log's first request; Timed reports whether it is known.
	At    time.Duration
	Timed bool
	// Collection is the name of the collection; empty if the log does not have it.
	Collection string
	// Took is the recorded duration, 0 if unknown. Failed reports whether the recorded request failed.
	Took   time.Duration
	Failed bool
}

// Filter restricts the results to a list of primary keys or, with Exclude, excludes these keys. Alternatively it
// is an expression of Milvus, in which {names} are already replaced by their values.
type Filter struct {
	Keys    []engine.Key
	Exclude bool
	Expr    string
}

// Queries returns the total number of vectors of all requests.
func (l *Log) Queries() (n int) {
	for i := range l.Requests {
		n += l.Requests[i].NQ
	}
	return n
}
