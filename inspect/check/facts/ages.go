package facts

import (
	"time"

	"kitescope/inspect/model"
)

// earlier reports whether t is before limit. The values that mean "no time" (0 and MaxTSO) count as earlier.
func earlier(t, limit model.TSO) bool { return t == model.MaxTSO || t < limit }

// UnchangedSince reports whether a segment was neither written nor created since limit. Segments created by a
// compaction keep the positions of their sources; their expiry is about the time of the compaction (captures of 2.3.5).
func UnchangedSince(s *model.Segment, limit model.TSO) bool {
	return limit != 0 && earlier(s.PositionAt, limit) && earlier(s.ExpireAt, limit) && earlier(s.StartAt, limit)
}

// lastTouchedTSO returns the time at which a segment was last written or created, 0 if it is unknown. UnchangedSince is
// true for any later limit.
func lastTouchedTSO(s *model.Segment) model.TSO {
	var last model.TSO
	for _, t := range [...]model.TSO{s.PositionAt, s.ExpireAt, s.StartAt} {
		if t != model.MaxTSO {
			last = max(last, t)
		}
	}
	return last
}

// LastTouched returns the time at which a segment was last written or created, zero if it is unknown.
func LastTouched(s *model.Segment) time.Time { return lastTouchedTSO(s).Time() }

// Age returns the time elapsed since t, at least 0. It returns 0 if t or the cluster's time is unknown.
func (f *Facts) Age(t time.Time) time.Duration {
	if t.IsZero() || f.Now.IsZero() {
		return 0
	}
	return max(0, f.Now.Sub(t))
}

// MaxImportTime is the time that an import job may take: large imports take hours.
const MaxImportTime = 12 * time.Hour
