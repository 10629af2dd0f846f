package model

// CurrentTarget is the current target of a collection in QueryCoord's memory: the segments that query nodes
// should serve. QueryCoord writes a Target to etcd only when it stops.
type CurrentTarget struct {
	Collection CollectionID
	// Sealed are the segments to load, Growing the segments to consume.
	Sealed, Growing []SegmentID
}

// InTarget reports whether the current targets contain a segment as sealed or growing. ok is false if the targets
// are unknown.
func (r *Runtime) InTarget(id SegmentID) (sealed, growing, ok bool) {
	if r == nil || r.Targets == nil {
		return false, false, false
	}
	as := r.inTarget[id]
	return as&targetSealed != 0, as&targetGrowing != 0, true
}

const (
	targetSealed = 1 << iota
	targetGrowing
)

// linkTargets indexes the targets by segment.
func (r *Runtime) linkTargets() {
	r.inTarget = map[SegmentID]uint8{}
	for i := range r.Targets {
		for _, id := range r.Targets[i].Sealed {
			r.inTarget[id] |= targetSealed
		}
		for _, id := range r.Targets[i].Growing {
			r.inTarget[id] |= targetGrowing
		}
	}
}
