package meta

import (
	"time"

	"kitescope/inspect/model"
)

// A file's date is when this copy of it was written: "cp", a browser and git all move it. What the file says of itself bounds
// its age: on a Milvus that works checkpoints move on every few seconds, so the newest time in it is of nearly when it was
// taken. Only a date that agrees with that is believed.
const (
	// datedAfter is by how much the date may be later than everything in the file: checkpoints of an idle 2.3.5 are written once a
	// minute at the latest (dataNode.segment.syncPeriod and channelCheckpointUpdateTickInSeconds).
	datedAfter = 2 * time.Minute
	// datedBefore is by how much it may be earlier: RootCoord reserves timestamps 3 s ahead, and clocks differ.
	datedBefore = 10 * time.Second
)

// datedParts are the parts that tell the newest time of a store.
const datedParts = model.PartChannels | model.PartRest

// date takes back what the file's date says where nothing in the file agrees with it: then its time is unknown.
func date(p *model.Parts) {
	if !p.Origin.FileDate {
		return
	}
	newest := newestTime(p)
	if after := p.Origin.Taken.Sub(newest); newest.IsZero() || after > datedAfter || after < -datedBefore {
		p.Origin.Taken, p.Origin.FileDate = time.Time{}, false
	}
}

// newestTime is the latest moment that Milvus wrote into a store, zero if it has none.
func newestTime(p *model.Parts) time.Time {
	var newest time.Time
	add := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	var stamp model.TSO
	stamped := func(t model.TSO) {
		if t != model.MaxTSO { // it stands for none
			stamp = max(stamp, t)
		}
	}
	for _, a := range p.Allocators {
		add(a.At)
	}
	for _, v := range p.VChannels {
		stamped(v.Checkpoint.At)
	}
	for _, x := range p.Collections {
		stamped(x.CreatedAt)
	}
	for _, x := range p.Partitions {
		stamped(x.CreatedAt)
	}
	for _, s := range p.Segments {
		stamped(s.PositionAt)
		stamped(s.StartAt)
		stamped(s.DroppedAt)
	}
	for _, h := range p.History {
		stamped(h.At)
	}
	for _, t := range p.Tasks {
		add(t.StartedAt)
		add(t.EndedAt)
	}
	add(stamp.Time())
	return newest
}
