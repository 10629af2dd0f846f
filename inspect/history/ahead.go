package history

import (
	"context"
	"slices"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// What happened long ago is read by two goroutines: one decodes changes as they come, the other tells of them, a batch at a time and in
// their order. Both take about as long. What a Decoder says of a change is valid until the next one, so that it is copied into the batch.

const (
	// batchChanges are how many changes a batch has, batchesAhead how many wait to be told of.
	batchChanges = 1024
	batchesAhead = 2
)

// decoded is a change on its way to who tells of it.
type decoded struct {
	revision int64
	// empty says that nothing changed in that revision.
	empty bool
	meta.Single
	value [8]byte // of a timestamp
}

// batch is some changes. What their objects point to has its place in it.
type batch struct {
	list      []decoded
	segments  []meta.SegmentBrief
	indexes   []meta.IndexBrief
	vchannels []string // their names, so far
}

func newBatch() *batch {
	return &batch{
		list: make([]decoded, 0, batchChanges), segments: make([]meta.SegmentBrief, 0, batchChanges), indexes: make([]meta.IndexBrief, 0, batchChanges),
	}
}

// add copies what a Decoder says of a change.
func (b *batch) add(revision int64, x *meta.Single, value []byte) {
	b.list = append(b.list, decoded{revision: revision, Single: *x})
	d := &b.list[len(b.list)-1]
	switch object := x.Object.(type) {
	case *meta.SegmentBrief:
		b.segments = append(b.segments, *object)
		s := &b.segments[len(b.segments)-1]
		s.CompactedFrom = slices.Clone(s.CompactedFrom)
		d.Object = s
	case *meta.IndexBrief:
		b.indexes = append(b.indexes, *object)
		d.Object = &b.indexes[len(b.indexes)-1]
	case *model.Allocator:
		copy(d.value[:], value)
	case *model.VChannel:
		if x.Kind != checkpointKey { // of a checkpoint At says what changes
			own := *object
			d.Object = &own
		}
	}
}

// readAhead takes changes in as Apply does.
func (r *Reader) readAhead(ctx context.Context, changes Changes) error {
	full, free, done := make(chan *batch, batchesAhead), make(chan *batch, batchesAhead+2), make(chan struct{})
	go func() {
		defer close(done)
		for b := range full {
			r.tellBatch(b)
			b.list, b.segments, b.indexes = b.list[:0], b.segments[:0], b.indexes[:0]
			select {
			case free <- b:
			default:
			}
		}
	}()
	b := newBatch()
	send := func() {
		b.vchannels = r.decoder.VChannels()
		full <- b
		select {
		case b = <-free:
		default:
			b = newBatch()
		}
	}
	err := changes(ctx, func(revision int64, events []source.Event) error {
		if len(events) == 0 {
			b.list = append(b.list, decoded{revision: revision, empty: true})
		}
		for i := range events {
			e := &events[i]
			b.add(revision, r.decoder.Decode(&e.KV, e.Deleted), e.Value)
			if len(b.list) == batchChanges {
				send()
			}
		}
		if len(b.list) == batchChanges {
			send()
		}
		return nil
	})
	send()
	close(full)
	<-done
	return err
}

func (r *Reader) tellBatch(b *batch) {
	r.vchannels = b.vchannels
	for i := range b.list {
		d := &b.list[i]
		if r.reach(d.revision); d.empty {
			continue
		}
		r.history.Changes++
		r.takeDecoded(&d.Single, d.value[:])
	}
}
