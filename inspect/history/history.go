// Package history says what happened to a cluster, in Milvus's words. What enters is the store as it was at some revision and the
// changes of its keys since; what leaves are Events: a node joined, a channel was reassigned, a segment was flushed.
//
//  1. A Reader takes in the store as it was (Begin), and each change with Apply, which decodes it as package meta does for a Cluster.
//  2. Of each key it keeps what it needs to say what the next change means: of segments their states, of the rest the object.
//     No Cluster is built: a change costs what it is about, however large the store is.
//  3. A rule (rules.go) makes events of an object before and after. What has no rule, and what is no news, is counted.
//  4. The same that happens to the same object again and again is one event with a count (entries.go).
//  5. Finish dates them: etcd keeps no times, the timestamps that Milvus reserves every 3 seconds do (meta.Clock).
package history

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Kind is what happened. Scripts rely on the words.
type Kind string

// Event is something that happened, or that happened Count times.
type Event struct {
	// Time is when, of a group when first; zero where nothing dates it. It is wrong by Error at most.
	Time  time.Time
	Error time.Duration
	// Revision is etcd's, Last that of the last one of a group, which was at LastTime; the same ones where Count is 1.
	Revision, Last int64
	LastTime       time.Time
	Count          int
	Kind           Kind
	Object         model.Ref
	// Collection is what the object belongs to, or is; the zero Ref if nothing.
	Collection model.Ref
	// Before and After are the object's state, or what of it has changed, "" where it was not there; of a group, before the first
	// and after the last.
	Before, After string
	// Message is a sentence without the object's name.
	Message string
}

// History is what happened between two revisions. It does not change.
type History struct {
	// From is the revision of the store that it begins with, To the last that was read.
	From, To int64
	// First and Until are when those were, zero where nothing dates them.
	First, Until time.Time
	// Revisions and Changes count what was read, puts and deletes of keys.
	Revisions, Changes int64
	// Plain counts changes that are no event, by the kind of key, "" for keys that no pattern explains: what a session counter
	// or a list of log files says is no news by itself.
	Plain map[string]int64
	// Undecoded counts values that could not be decoded.
	Undecoded int64

	clock   *meta.Clock
	entries entries
}

// Len is how many events there are.
func (h *History) Len() int { return len(h.entries.list) }

// Event is the i-th event, in the order of their first revisions.
func (h *History) Event(i int) Event {
	e := &h.entries.list[i]
	out := Event{
		Revision: e.at, Last: e.last, Count: e.count, Kind: kinds[e.kind].name, Object: h.entries.named(e.object),
		Collection: h.entries.collection(e.collection), Before: e.before, After: e.after,
	}
	out.Time, out.Error = dated(h.clock, e.at)
	out.LastTime, _ = dated(h.clock, e.last)
	out.Message = message(&out, kinds[e.kind].words, e.via, e.detail)
	return out
}

// Between reads what happened from a revision on, up to another, of a source whose snapshots head is of. Gaps are what could not be read.
func Between(ctx context.Context, past source.Past, head source.Header, from, to int64) (*History, []source.Gap, error) {
	first, err := past.PinAt(ctx, head, from)
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	h, err := Of(ctx, first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
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

// Changes brings the changes of revisions in order, as source.Past does.
type Changes func(ctx context.Context, yield func(revision int64, events []source.Event) error) error

// Of reads what happened after a snapshot.
func Of(ctx context.Context, first source.Snapshot, changes Changes) (*History, error) {
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
