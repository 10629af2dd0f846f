package facts

import "kitescope/inspect/model"

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

// state is the state of a segment at or after a position, None if there is no record.
func (r *records) state(id model.SegmentID, from int) (s model.SegmentState, at int) {
	at, ok := model.Seek(r.ids, id, from)
	if !ok {
		return model.SegmentStateNone, at
	}
	return r.states[at], at
}

// records are those of a digest's segments; nil of a digest is of none.
func (d *Digest) records() *records {
	switch {
	case d == nil:
		return newRecords(nil)
	case d.known != nil:
		return d.known
	}
	return newRecords(d.segments)
}
