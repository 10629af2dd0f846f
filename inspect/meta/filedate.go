package meta

import (
	"time"

	"kitescope/inspect/model"
)

// A file's date is the time at which this copy was written: cp, browsers and git all change it. The contents bound
// the age of the file. On a working Milvus checkpoints advance every few seconds, so the newest time in the file
// is close to the time of the backup. The date is used only if it agrees with the contents.
const (
	// maxDateAfter is how much later than the newest time in the file the date may be. An idle 2.3.5 writes
	// checkpoints at least once a minute (dataNode.segment.syncPeriod and channelCheckpointUpdateTickInSeconds).
	maxDateAfter = 2 * time.Minute
	// maxDateBefore is how much earlier it may be, because RootCoord reserves timestamps 3 s ahead and clocks
	// differ.
	maxDateBefore = 10 * time.Second
)

// newestTimeParts are the parts that determine the newest time of a store.
const newestTimeParts = model.PartChannels | model.PartRest

// checkFileDate clears a file's date unless the contents agree with it. The time of the file is then unknown.
func checkFileDate(p *model.Parts) {
	if !p.Origin.FileDate {
		return
	}
	newest := newestTime(p)
	if after := p.Origin.Taken.Sub(newest); newest.IsZero() || after > maxDateAfter || after < -maxDateBefore {
		p.Origin.Taken, p.Origin.FileDate = time.Time{}, false
	}
}

// newestTime returns the latest time that Milvus wrote into a store, zero if there is none.
func newestTime(p *model.Parts) time.Time {
	var newest time.Time
	add := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	var stamp model.TSO
	stamped := func(t model.TSO) {
		if t != model.MaxTSO { // MaxTSO means no time
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
