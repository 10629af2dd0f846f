package history

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
)

// UnknownError is the error of a time that is bounded on one side only: before the first timestamp that Milvus
// reserved, or after the last one.
const UnknownError = time.Duration(-1)

// revisionTime returns the time at which a revision was written and the bound of its error. The time is zero if the
// store has no times. A revision before the first timestamp gets the time of that timestamp.
func revisionTime(c *meta.Clock, revision int64) (at time.Time, maxError time.Duration) {
	m, known := c.At(revision)
	switch {
	case !known:
		return c.First(), UnknownError
	case m.Open:
		return m.Time, UnknownError
	}
	return m.Time, m.Error
}

// Date uses the recorder's clock for revisions that Milvus's clock does not date, if past is a recording.
func (h *History) Date(ctx context.Context, past source.Past) error {
	err := h.clock.FillAll(ctx, past)
	h.FromTime, _ = revisionTime(h.clock, h.From)
	h.ToTime, _ = revisionTime(h.clock, h.To)
	return err
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
