package model

// CurrentTarget is what QueryCoord, now and in memory, wants its nodes to serve of a collection; in etcd it leaves a Target only
// when it stops.
type CurrentTarget struct {
	Collection CollectionID
	// Sealed are the segments to be loaded, Growing those to be consumed.
	Sealed, Growing []SegmentID
}

// Wanted says how the current targets want a segment: sealed, growing, or neither; ok is false if they are unknown.
func (r *Runtime) Wanted(id SegmentID) (sealed, growing, ok bool) {
	if r == nil || r.Targets == nil {
		return false, false, false
	}
	as := r.wanted[id]
	return as&wantedSealed != 0, as&wantedGrowing != 0, true
}

const (
	wantedSealed = 1 << iota
	wantedGrowing
)

// linkTargets finds how each segment is wanted.
func (r *Runtime) linkTargets() {
	r.wanted = map[SegmentID]uint8{}
	for i := range r.Targets {
		for _, id := range r.Targets[i].Sealed {
			r.wanted[id] |= wantedSealed
		}
		for _, id := range r.Targets[i].Growing {
			r.wanted[id] |= wantedGrowing
		}
	}
}
