package facts

import (
	"time"

	"kitescope/inspect/model"
)

// earlier reports whether t is known to be before limit; no time at all ("none", 0 and MaxTSO) stands in nobody's way.
func earlier(t, limit model.TSO) bool { return t == model.MaxTSO || t < limit }

// Settled reports whether a segment was neither written nor made since limit. Segments that a compaction makes
// keep the positions of their sources; their expiry is about when it ran (captures of 2.3.5).
func Settled(s *model.Segment, limit model.TSO) bool {
	return limit != 0 && earlier(s.PositionAt, limit) && earlier(s.ExpireAt, limit) && earlier(s.StartAt, limit)
}

// touched is when a segment was last written or made, 0 if nothing tells. It is settled at any limit beyond.
func touched(s *model.Segment) model.TSO {
	var last model.TSO
	for _, t := range [...]model.TSO{s.PositionAt, s.ExpireAt, s.StartAt} {
		if t != model.MaxTSO {
			last = max(last, t)
		}
	}
	return last
}

// LastTouched is when a segment was last written or made, zero if nothing tells.
func LastTouched(s *model.Segment) time.Time { return touched(s).Time() }

// Age is how long ago a moment was, 0 if that is unknown.
func (f *Facts) Age(t time.Time) time.Duration {
	if t.IsZero() || f.Now.IsZero() {
		return 0
	}
	return max(0, f.Now.Sub(t))
}

// ImportLong is how long a job may work: large imports take hours.
const ImportLong = 12 * time.Hour
