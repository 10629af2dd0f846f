// Package history derives the events of a cluster from the changes of its keys, e.g. a node joined, a channel was
// reassigned, a segment was flushed. It starts from a snapshot of the store at some revision.
//
//  1. A Reader reads the snapshot (Begin) and decodes each change (Apply) as package meta does for a Cluster.
//  2. For each key it stores only the data that the next change is compared with: the states of segments, and otherwise
//     the object. It builds no Cluster, so the cost of a change does not depend on the size of the store.
//  3. A rule (rules.go) compares the object before and after and makes events. Changes without a rule or an event are
//     counted.
//  4. Repeated events of the same object are grouped into one event with a count (entries.go).
//  5. Finish dates the events. etcd stores no times, so it uses the timestamps that Milvus reserves every 3 seconds
//     (meta.Clock).
//
// The package also defines how the UI receives clusters: a Feed emits Updates (feed.go), and a Past reads earlier
// states (past.go). Package session implements both.
package history

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Kind is the kind of an event. Its values are stable, because scripts depend on them.
type Kind string

// Event is something that happened Count times.
type Event struct {
	// Time is the time of the event, or of the first event of a group; zero if unknown. It is off by at most
	// Error.
	Time  time.Time
	Error time.Duration
	// Revision is the etcd revision of the event. Last is the revision of the last event of a group, and LastTime
	// its time; they equal the first if Count is 1.
	Revision, Last int64
	LastTime       time.Time
	Count          int
	Kind           Kind
	Object         model.Ref
	// Collection is the collection that the object belongs to, or is; otherwise the zero Ref.
	Collection model.Ref
	// Before and After are the object's state, or its changed fields; "" if the object did not exist. For a group
	// they are the state before the first event and after the last.
	Before, After string
	// Message is a sentence without the object's name.
	Message string
}

// History holds the events between two revisions. It is immutable.
type History struct {
	// From is the revision of the initial store, To the last revision that was read.
	From, To int64
	// FromTime and ToTime are the times of From and To, zero if unknown.
	FromTime, ToTime time.Time
	// Revisions and Changes count the revisions, and the puts and deletes of keys.
	Revisions, Changes int64
	// NonEvents counts changes that are not events by the kind of key, "" for unknown keys. For example, a session
	// counter or a list of log files is not an event.
	NonEvents map[string]int64
	// Undecoded counts values that could not be decoded.
	Undecoded int64

	clock   *meta.Clock
	entries entries
}

// Len returns the number of events.
func (h *History) Len() int { return len(h.entries.list) }

// Event returns the i-th event, in the order of first revisions.
func (h *History) Event(i int) Event {
	e := &h.entries.list[i]
	out := Event{
		Revision: e.at, Last: e.last, Count: e.count, Kind: kinds[e.kind].name, Object: h.entries.withName(e.object),
		Collection: h.entries.collection(e.collection), Before: e.before, After: e.after,
	}
	out.Time, out.Error = revisionTime(h.clock, e.at)
	out.LastTime, _ = revisionTime(h.clock, e.last)
	out.Message = message(&out, kinds[e.kind].words, e.via, e.detail)
	return out
}

// ReadBetween reads the events between two revisions of past. head is the header of a snapshot of the same source. It
// also returns the gaps of the first snapshot.
func ReadBetween(
	ctx context.Context, past source.Past, head source.Header, from, to int64,
) (*History, []source.Gap, error) {
	first, err := past.PinAt(ctx, head, from)
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	h, err := Read(ctx, first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
		return past.Changes(ctx, head, from, to, yield)
	})
	if err == nil {
		err = h.Date(ctx, past)
	}
	if err != nil {
		return nil, nil, err
	}
	return h, first.Gaps(), nil
}

// Changes calls yield for the changes of revisions in order, like source.Past.
type Changes func(ctx context.Context, yield func(revision int64, events []source.Event) error) error

// Read reads the events after a snapshot.
func Read(ctx context.Context, first source.Snapshot, changes Changes) (*History, error) {
	r, err := NewReader(first.Header())
	if err != nil {
		return nil, err
	}
	if err := r.Begin(ctx, first); err != nil {
		return nil, err
	}
	if err := changes(ctx, r.Apply); err != nil {
		return nil, err
	}
	return r.Finish(), nil
}
