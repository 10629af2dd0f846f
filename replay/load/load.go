// Package load sends requests to a Target and measures what comes back: closed loop (each session asks when it has its
// answer) and open loop (at a fixed rate or at the log's own times, whatever the answers do).
//
// In: a Target, Requests, a Plan. Out: a Round for each repetition and a Point of all: queries per second, latencies as a
// histogram, fails, CPU, with confidence intervals over rounds. In an open loop latency counts from the intended
// start: a stall is in the latency of all that should have started meanwhile (no coordinated omission; Gil Tene, wrk2).
package load

import (
	"context"
	"errors"
	"math"
	"time"

	"kitescope/engine"
	"kitescope/internal/encode"
)

// Target is what can be asked: the engine over the segments of a Layout, a Milvus, a PostgreSQL.
type Target interface {
	// Name is what a report calls it, without credentials.
	Name() string
	// Session opens one more client. Sessions are used by one goroutine each. The context bounds the opening, not the session.
	Session(ctx context.Context) (Session, error)
}

// Session asks one request at a time.
type Session interface {
	// Ask answers a request. The answer is valid until the next call. An error is of this request. A context that ends, as it
	// does when the request's deadline is over, has to end the call; the session is closed then, and another one opened.
	Ask(ctx context.Context, r *Request) (*Answer, error)
	Close() error
}

// Request is what is asked, with all parameters filled in.
type Request struct {
	Number int // of the log's request
	// At is when the log has it, from any beginning; only a Timed plan looks at it.
	At time.Duration
	// Vectors are NQ rows of the collection's element type.
	Vectors *engine.Vectors
	K       int
	engine.SearchParams
	// Keys are the keys that may be answered, or with Exclude those that may not; nil is no filter.
	Keys    []engine.Key
	Exclude bool
	// Expr is a filter expression of Milvus's, "" for none; beside Keys there is none.
	Expr string
}

// Answer is what came back.
type Answer struct {
	// Hits of each vector, nearest first.
	Hits [][]Hit
	// Distances were computed, 0 if nobody counted.
	Distances int
}

// Hit is one answer. Distance is as Milvus returns it: squared for L2, a similarity for inner product and cosine.
type Hit struct {
	Key      engine.Key
	Distance float32
}

// savedHit is a Hit in files: the key is one of two.
type savedHit struct {
	KeyText  *string
	Key      *encode.ID
	Distance *float32
}

// TellDoc writes a hit; a distance that is no number is left out.
func (h *Hit) TellDoc(e *encode.Encoder) {
	s := savedHit{Distance: &h.Distance}
	if h.Key.IsText {
		s.KeyText = &h.Key.Text
	} else {
		s.Key = new(encode.ID(h.Key.Number))
	}
	e.Value(&s)
}

// ReadDoc reads what TellDoc wrote.
func (h *Hit) ReadDoc(of func(v any) error) error {
	s := savedHit{}
	if err := of(&s); err != nil {
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
