package facts

import (
	"slices"

	"kitescope/inspect/model"
)

// Position returns the latest known position of a segment.
func Position(s *model.Segment) model.TSO { return max(s.StartAt, s.PositionAt) }

// SegmentsAfter selects the segments that are not dropped and have a position after limit. It returns the first
// MaxObjects by id, the segment with the latest position (nil if there is no such segment), and the total count.
func (f *Facts) SegmentsAfter(limit model.TSO) (first []*model.Segment, latest *model.Segment, count int) {
	for _, id := range f.SegmentOwners() {
		d := f.DigestOf(id)
		if d.latest <= limit { // nearly always
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
		if latest == nil || Position(s) > Position(latest) {
			latest = s
		}
	}
	return first[:min(len(first), MaxObjects)], latest, len(first)
}
