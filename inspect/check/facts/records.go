package facts

import (
	"slices"

	"kitescope/inspect/model"
)

// records are what is asked of all segments of a collection, in arrays by themselves: with 200,000 of them, looking each
// up through its pointer is what would take the time.
type records struct {
	ids    []model.SegmentID
	states []model.SegmentState
}

func newRecords(list []*model.Segment) *records {
	r := &records{ids: make([]model.SegmentID, len(list)), states: make([]model.SegmentState, len(list))}
	for i, x := range list {
		r.ids[i], r.states[i] = x.ID, x.State
	}
	return r
}

// seek finds a segment at or after a position; ok is false if there is no record. Ids are asked for in rising order,
// so that steps that double are shorter than halving the whole.
func (r *records) seek(id model.SegmentID, from int) (at int, ok bool) {
	low, step := from, 1
	for low+step < len(r.ids) && r.ids[low+step] < id {
		low += step
		step *= 2
	}
	high := min(low+step+1, len(r.ids))
	at, ok = slices.BinarySearch(r.ids[low:high], id)
	return low + at, ok
}

// state is the state of a segment at or after a position, None if there is no record.
func (r *records) state(id model.SegmentID, from int) (s model.SegmentState, at int) {
	at, ok := r.seek(id, from)
	if !ok {
		return model.SegmentStateNone, at
	}
	return r.states[at], at
}
