package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Changes yields the changes of all chunks. After a period that was not recorded, it yields the differences:
// written keys at their mod revisions, and deleted keys at the end of the period. Intermediate writes of the
// period are lost, which is a gap.
func (r *Recording) Changes(
	ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error,
) error {
	if _, _, err := r.findRecorded(ctx, from); err != nil {
		return err
	}
	if _, _, err := r.findRecorded(ctx, to); err != nil {
		return err
	}
	if to < from {
		return CheckRevisions(r.dir, from, from, from, to)
	}
	for from < to {
		_, b, last, err := r.lastUpTo(ctx, from, from+1)
		if err != nil {
			return err
		}
		end, n := min(last.revision, to), r.firstAfter(from)
		if n < len(r.chunks) { // the next chunk may have been started before this one was ended
			end = min(end, r.chunks[n].first())
		} else if end <= from { // a file was removed since
			return CheckRevisions(r.dir, r.chunks[0].first(), end, to)
		}
		if from < end {
			err = b.Changes(ctx, h, from, end, yield)
			for _, g := range b.gaps.list() {
				r.gaps.put(g)
			}
		}
		if err != nil {
			return err
		}
		if from = end; from < to && from == last.revision && n < len(r.chunks) && from < r.chunks[n].first() {
			if err := r.diffChunks(ctx, last, r.chunks[n], to, yield); err != nil {
				return err
			}
			from = r.chunks[n].first()
		}
	}
	return nil
}

// WriteTimes implements Timestamped.
func (r *Recording) WriteTimes(ctx context.Context, from, to int64, yield func(revision int64, at time.Time)) error {
	for i := range r.chunks {
		if r.chunks[i].first() > to || i+1 < len(r.chunks) && r.chunks[i+1].first() <= from {
			continue
		}
		b, _, err := r.chunk(ctx, i)
		if err == nil {
			err = b.WriteTimes(ctx, from, to, func(revision int64, at time.Time) {
				yield(revision, at)
				from = revision
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteTimes implements Timestamped. It yields nothing unless the bundle is a chunk of a recording.
func (b *Bundle) WriteTimes(ctx context.Context, from, to int64, yield func(revision int64, at time.Time)) error {
	e, err := b.edge(ctx)
	if err != nil || !b.isRecording() {
		return err
	}
	for _, t := range append([]recordedTime{{b.manifest.Revision, b.manifest.Taken}}, e.times...) {
		if t.revision > from && t.revision <= to {
			yield(t.revision, t.at)
		}
	}
	return nil
}

// unrecordedGap returns the gap between the end of a chunk and the start of the next one.
func unrecordedGap(last bundleEdge, next *recordedChunk) Gap {
	return Gap{
		Where:  fmt.Sprintf("revisions %d to %d", last.revision+1, next.first()),
		Reason: fmt.Sprintf("not recorded from %s to %s", recordedText(last.at), recordedText(next.manifest.Taken)),
		Count:  next.first() - last.revision, Unrecorded: true,
	}
}

// diffChunks yields the differences between the end of a chunk and the start of the next one.
func (r *Recording) diffChunks(
	ctx context.Context, last bundleEdge, next recordedChunk, to int64,
	yield func(revision int64, events []Event) error,
) error {
	r.gaps.put(unrecordedGap(last, &next))
	before := map[string]int64{}
	err := r.state(ctx, last.revision, func(kv KV) { before[string(kv.Key)] = kv.ModRevision })
	if err != nil {
		return err
	}
	var events []Event
	err = r.state(ctx, next.first(), func(kv KV) {
		if had, ok := before[string(kv.Key)]; !ok || had != kv.ModRevision {
			events = append(events, Event{KV: *cloneKV(kv)})
		}
		delete(before, string(kv.Key))
	})
	if err != nil {
		return err
	}
	for key := range before {
		events = append(events, Event{KV: KV{Key: []byte(key), ModRevision: next.first()}, Deleted: true})
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.ModRevision, b.ModRevision), slices.Compare(a.Key, b.Key))
	})
	return byRevision(events, func(revision int64, events []Event) error {
		if revision > to {
			return nil
		}
		return yield(revision, events)
	})
}

// state reads the store at a revision.
func (r *Recording) state(ctx context.Context, revision int64, take func(KV)) error {
	snap, err := r.PinAt(ctx, Header{}, revision)
	if err != nil {
		return err
	}
	defer snap.Close()
	return snap.Scan(ctx, []Range{Prefix(snap.Header().Root + "/")}, func(kv KV) error {
		take(kv)
		return nil
	})
}
