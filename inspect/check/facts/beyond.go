package facts

import (
	"slices"

	"kitescope/inspect/model"
)

// Position is how far a segment has come.
func Position(s *model.Segment) model.TSO { return max(s.StartAt, s.PositionAt) }

// Beyond are the segments, not dropped, with a position beyond a limit: the first MaxObjects of them by id, the one that has come
// furthest, nil if there is none, and how many they are.
func (f *Facts) Beyond(limit model.TSO) (first []*model.Segment, furthest *model.Segment, count int) {
	for _, id := range f.SegmentOwners() {
		d := f.DigestOf(id)
		if d.furthest <= limit { // nearly always
			continue
		}
		for _, s := range d.segments {
			if t := Position(s); t > limit && t != model.MaxTSO && s.State.Healthy() {
				first = append(first, s)
			}
		}
	}
	slices.SortFunc(first, ByID)
	for _, s := range first {
		if furthest == nil || Position(s) > Position(furthest) {
			furthest = s
		}
	}
	return first[:min(len(first), MaxObjects)], furthest, len(first)
}
