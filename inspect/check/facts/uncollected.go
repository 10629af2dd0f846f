package facts

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Uncollected are dropped segments that garbage collection has left.
type Uncollected struct {
	Segments, Undated int // Undated are those without a time of dropping
	Bytes             int64
	// Behind are those whose vchannel's checkpoint is behind their last write.
	Behind int
	// Late are these vchannels, by name.
	Late []string
	// Oldest is when the first of them was dropped, zero if none says.
	Oldest time.Time
	// First are the first of them by id, as many as a finding names.
	First []*model.Segment
}

// Uncollected are the segments of all collections that were dropped before a limit: where that is not recorded, that were written last
// before it.
func (f *Facts) Uncollected(limit model.TSO) (u Uncollected) {
	late := make(map[string]bool)
	for s := range f.AllAmong(DroppedSegs) {
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
	u.Late = slices.Sorted(maps.Keys(late))
	return u
}
