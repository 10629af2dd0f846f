package facts

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Garbage adds up dropped segments that garbage collection has not removed.
type Garbage struct {
	Segments, Undated int // Undated have no drop time
	Bytes             int64
	// Behind counts the segments whose vchannel's checkpoint is behind their last write.
	Behind int
	// LateChannels holds the names of these vchannels, sorted.
	LateChannels []string
	// Oldest is the earliest drop time, zero if it is unknown.
	Oldest time.Time
	// First holds the first MaxObjects segments by id.
	First []*model.Segment
}

// Garbage returns the segments of all collections that were dropped before limit. If the drop time is not
// recorded, it uses the time of the last write.
func (f *Facts) Garbage(limit model.TSO) (u Garbage) {
	late := make(map[string]bool)
	for s := range f.AllSegmentsIn(DroppedSegs) {
		dropped := s.DroppedAt
		if last := LastTouched(s); dropped == 0 && !last.IsZero() {
			dropped = model.TSOFromTime(last)
		}
		if dropped == 0 || dropped >= limit {
			continue
		}
		u.Segments++
		u.Bytes += s.Bytes
		u.First = append(u.First, s)
		if s.DroppedAt == 0 {
			u.Undated++
		} else if at := s.DroppedAt.Time(); !at.IsZero() && (u.Oldest.IsZero() || at.Before(u.Oldest)) {
			u.Oldest = at
		}
		if v := f.VChannel(s.VChannel); v != nil && v.Removal == "non-removed" && v.Checkpoint.At < s.PositionAt {
			u.Behind++
			late[s.VChannel] = true
		}
	}
	slices.SortFunc(u.First, ByID)
	u.First = u.First[:min(len(u.First), MaxObjects)]
	u.LateChannels = slices.Sorted(maps.Keys(late))
	return u
}
