package history

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
)

// UnknownError is that of a time of which one side is known alone: before the first timestamp that Milvus reserved, or after the last one.
const UnknownError = time.Duration(-1)

// dated is when a revision was written, and by how much that may be wrong. The time is zero where nothing dates it; of what was
// before the first timestamp it is the time of that.
func dated(c *meta.Clock, revision int64) (at time.Time, wrong time.Duration) {
	m, known := c.At(revision)
	switch {
	case !known:
		return c.First(), UnknownError
	case m.Open:
		return m.Time, UnknownError
	}
	return m.Time, m.Error
}

// Date dates by a recorder's clock what Milvus's does not, where the past that it is of is a recording.
func (h *History) Date(ctx context.Context, past source.Past) error {
	err := h.clock.FillAll(ctx, past)
	h.First, _ = dated(h.clock, h.From)
	h.Until, _ = dated(h.clock, h.To)
	return err
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
