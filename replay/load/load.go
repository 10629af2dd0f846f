// Package load sends requests to a Target and measures the responses. In a closed loop each session sends its next
// request after the response. In an open loop requests start at a fixed rate or at the log's own times, regardless
// of the responses.
//
// Run returns a Point, with a Round for each repetition: queries per second, latencies as a histogram, failures and
// CPU, with confidence intervals over rounds. In an open loop, latency counts from the intended start. A stall is
// therefore part of the latency of all requests that should have started during it (no coordinated omission; Gil
// Tene, wrk2).
package load

import (
	"context"
	"errors"
	"math"
	"time"

	"kitescope/engine"
	"kitescope/internal/encode"
)

// Target is a system under test: the engine over the segments of a Layout, or a server such as Milvus or
// PostgreSQL.
type Target interface {
	// Name returns the name for reports, without credentials.
	Name() string
	// Session opens a new client. Each session is used by one goroutine. The context limits only the opening.
	Session(ctx context.Context) (Session, error)
}

// Session sends one request at a time.
type Session interface {
	// Ask sends a request and returns its answer, which is valid until the next call. An error concerns only this
	// request. Ask must return when the context ends, e.g. at the request's deadline. The session is then closed,
	// and another one is opened.
	Ask(ctx context.Context, r *Request) (*Answer, error)
	Close() error
}

// Request is a request with all its parameters.
type Request struct {
	Number int // number of the request in the log
	// At is the time of the request in the log, relative to any origin. Only a Timed plan uses it.
	At time.Duration
	// Vectors holds NQ rows of the collection's element type.
	Vectors *engine.Vectors
	K       int
	engine.SearchParams
	// Keys holds the only keys that may be returned or, with Exclude, the keys that may not; nil means no filter.
	Keys    []engine.Key
	Exclude bool
	// Expr is a filter expression of Milvus; "" means no filter. It is never set together with Keys.
	Expr string
}

// Answer is the response to a request.
type Answer struct {
	// Hits holds the hits of each vector, nearest first.
	Hits [][]Hit
	// Distances is the number of computed distances, 0 if unknown.
	Distances int
}

// Hit is one result. Distance is the value that Milvus returns: squared for L2, a similarity for inner product and
// cosine.
type Hit struct {
	Key      engine.Key
	Distance float32
}

// savedHit is the file format of a Hit: exactly one of KeyText and Key is set.
type savedHit struct {
	KeyText  *string
	Key      *encode.ID
	Distance *float32
}

// MarshalDoc encodes a hit. It omits a distance that is not a number.
func (h *Hit) MarshalDoc(e *encode.Encoder) {
	s := savedHit{Distance: &h.Distance}
	if h.Key.IsText {
		s.KeyText = &h.Key.Text
	} else {
		s.Key = new(encode.ID(h.Key.Number))
	}
	e.Value(&s)
}

// ReadDoc decodes a hit that was encoded by MarshalDoc.
func (h *Hit) ReadDoc(decode func(v any) error) error {
	s := savedHit{}
	if err := decode(&s); err != nil {
		return err
	}
	*h = Hit{Distance: float32(math.NaN())}
	if s.Distance != nil {
		h.Distance = *s.Distance
	}
	switch {
	case s.KeyText != nil:
		h.Key = engine.TextKey(*s.KeyText)
	case s.Key != nil:
		h.Key = engine.NumberKey(int64(*s.Key))
	default:
		return errors.New("key: it is missing")
	}
	return nil
}
