package history

import (
	"context"
	"maps"
	"time"

	"kitescope/inspect/diff"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Reader derives events from changes. It is not safe for concurrent use.
type Reader struct {
	decoder *meta.Decoder
	header  source.Header
	clock   *meta.Clock
	entries entries
	history History

	// small holds the objects of kinds with few keys, by key.
	small    map[string]any
	segments map[model.SegmentID]segmentState
	builds   map[buildKey]model.IndexState
	// creating are the collections that are not yet Created. Their fields and partitions are part of their
	// creation.
	creating map[model.CollectionID]bool
	// live are the collections whose field and function changes count as alterations. At the end of each revision the
	// collections in created are added to it.
	live    map[model.CollectionID]bool
	created []model.CollectionID
	schema  []occurrence // schema changes in this revision
	// Names for the objects of other keys.
	partitions  map[model.PartitionID]string
	grantees    map[string]model.Grant
	indexes     map[model.IndexID]string
	sessions    map[string]int // number of keys that register a node
	channels    map[model.Ref]*channelState
	checkpoints map[string]*checkpointState // by vchannel
	// now is the newest time that Milvus wrote, in Unix nanoseconds, or 0 before the first such time.
	now int64

	// Fields that are evaluated at the end of a revision.
	revision  int64
	touched   []*channelState // channels whose watches changed, in order
	dropped   []droppedSegment
	compacted map[model.SegmentID]model.SegmentID // new segment by its source segment
	beginning bool                                // reading the initial store, which has no events
}

// NewReader returns a Reader for the store of a header.
func NewReader(h source.Header) (*Reader, error) {
	d, err := meta.NewDecoder(h)
	if err != nil {
		return nil, err
	}
	return &Reader{
		decoder: d, header: h, clock: meta.ClockOf(h.Root), entries: newEntries(),
		history: History{From: h.Revision, To: h.Revision, NonEvents: map[string]int64{}},
		small:   map[string]any{}, segments: map[model.SegmentID]segmentState{},
		builds:   map[buildKey]model.IndexState{},
		creating: map[model.CollectionID]bool{}, indexes: map[model.IndexID]string{}, sessions: map[string]int{},
		channels: map[model.Ref]*channelState{}, checkpoints: map[string]*checkpointState{},
		live: map[model.CollectionID]bool{}, partitions: map[model.PartitionID]string{},
		grantees:  map[string]model.Grant{},
		compacted: map[model.SegmentID]model.SegmentID{},
	}, nil
}

// Begin reads the initial store.
func (r *Reader) Begin(ctx context.Context, first source.Snapshot) error {
	r.beginning = true
	err := first.Scan(ctx, []source.Range{source.Prefix(r.header.Root + "/")}, func(kv source.KV) error {
		r.revision = kv.ModRevision
		r.take(&kv, false)
		return nil
	})
	r.touched = r.touched[:0]
	for _, c := range r.channels {
		c.commit()
	}
	r.endSchemas()
	r.beginCheckpoints()
	r.revision, r.beginning = 0, false
	return err
}

// Apply applies the changes of a revision. They may be split over several calls.
func (r *Reader) Apply(revision int64, events []source.Event) error {
	r.advance(revision)
	for i := range events {
		r.history.Changes++
		r.take(&events[i].KV, events[i].Deleted)
	}
	return nil
}

// advance advances to a revision.
func (r *Reader) advance(revision int64) {
	if revision != r.revision {
		r.endRevision()
		r.revision = revision
		r.history.Revisions++
	}
	r.history.To = max(r.history.To, revision)
}

// Finish returns the history. The Reader must not be used afterwards.
func (r *Reader) Finish() *History {
	r.endRevision()
	return r.finish(r.clock.UpTo(r.history.To, time.Time{}), r.entries)
}

// Snapshot returns the history so far. now is the current time by a clock, or zero if unknown. The Reader can be
// used further, and the returned History does not change.
func (r *Reader) Snapshot(now time.Time) *History {
	r.endRevision()
	return r.finish(r.clock.UpTo(r.history.To, now), r.entries.clone())
}

// finish adds the checkpoints that are still stopped, sorts the events and dates the history.
func (r *Reader) finish(clock *meta.Clock, list entries) *History {
	for _, n := range r.ongoingStops() {
		list.list = append(list.list, list.newEntry(&n))
	}
	list.sort()
	h := r.history
	h.clock, h.entries = clock, list
	h.NonEvents = maps.Clone(h.NonEvents)
	h.FromTime, _ = revisionTime(clock, h.From)
	h.ToTime, _ = revisionTime(clock, h.To)
	return &h
}

// Kinds of keys of vchannels.
const (
	checkpointKey = "channel-checkpoint"
	watchKey      = "channel-watch"
)

// change is a key before and after.
type change struct {
	*Reader
	key           string
	collection    model.CollectionID // that the key is part of
	before, after any                // nil: the key does not exist
}

// take decodes a change and applies the rule of its kind.
func (r *Reader) take(kv *source.KV, deleted bool) {
	x := r.decoder.Decode(kv, deleted)
	if x.Problem != "" && x.Object == nil && !x.Deleted && x.Kind != "" {
		if !r.beginning {
			r.history.Undecoded++
		}
		return
	}
	if !r.takeAs(x, kv) && !r.beginning {
		r.history.NonEvents[x.Kind]++
	}
}

// takeAs applies a change according to its kind, and reports whether it is an event.
func (r *Reader) takeAs(x *meta.DecodedKey, kv *source.KV) bool {
	switch object := x.Object.(type) {
	case *meta.SegmentBrief:
		return r.takeSegment(object, x.Deleted)
	case *meta.IndexBrief:
		return r.takeIndex(object, x.Deleted)
	case *model.Allocator:
		r.clock.Put(source.KV{Key: kv.Key, Value: kv.Value, ModRevision: r.revision})
		r.now = nanoseconds(r.clock.Last())
		return false
	case *model.VChannel:
		switch x.Kind {
		case checkpointKey:
			r.takeCheckpoint(x, object)
			return false
		case watchKey:
			r.takeWatch(object, x.Deleted)
			return true
		}
		return false
	}
	rule := rules[x.Kind]
	return rule != nil && r.takeSmall(rule, x)
}

// takeSmall stores the key's object and compares it with the previous one.
func (r *Reader) takeSmall(rule rule, x *meta.DecodedKey) bool {
	key := x.Key
	c := change{Reader: r, key: key, collection: x.Collection, before: r.small[key], after: x.Object}
	if x.Object == nil {
		delete(r.small, key)
	} else {
		r.small[key] = x.Object
	}
	if c.before == nil && c.after == nil {
		return false
	}
	return rule(&c)
}

// emit adds an event. It always returns true, so that a rule can return its result.
func (r *Reader) emit(n occurrence) bool {
	if r.beginning {
		return true
	}
	if n.at == 0 {
		n.at = r.revision
	}
	r.entries.add(n, r.nanoseconds)
	return true
}

// nanoseconds returns the approximate time of a revision, by the clock so far.
func (r *Reader) nanoseconds(revision int64) int64 {
	at, _ := revisionTime(r.clock, revision)
	return nanoseconds(at)
}

// endRevision reports the events that depend on all changes of a revision.
func (r *Reader) endRevision() {
	r.endChannels()
	r.endSegments()
	r.endSchemas()
}

// object returns the object after the change, or before it if it is gone.
func (c *change) object() any {
	if c.after == nil {
		return c.before
	}
	return c.after
}

// emitObject adds an event for an object that package diff can describe.
func (c *change) emitObject(kind kindID) bool {
	ref, collection, text := diff.Describe(c.object())
	n := occurrence{kind: kind, object: ref, collection: collection, after: text}
	if c.after == nil {
		n.before, n.after = text, ""
	}
	return c.emit(n)
}

// emitAltered adds an event with the changed fields. It returns false if no relevant field changed.
func (c *change) emitAltered(kind kindID) bool {
	n := occurrence{kind: kind}
	n.object, n.collection, _ = diff.Describe(c.after)
	n.before, n.after = fieldsText(c.before, c.after)
	return n.before != "" && c.emit(n)
}
