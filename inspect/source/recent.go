package source

import (
	"bytes"
	"context"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// RecentSpan is how far back a Recent counts.
const RecentSpan = time.Minute

// recentKeys are how many of the busiest keys are told: a loop writes a key for each channel.
const recentKeys = 100

// Recent counts what was written before the last timestamp that Milvus reserved, over RecentSpan or what there is of it: some
// revisions are dated so, every few seconds, and what is between two of them can be counted as Activity does while someone
// watches. It takes changes from the newest to the oldest.
type Recent struct {
	prefix     []byte
	allocators [][]byte
	count      *writeCount
	// Records since the last reservation that was met wait for the one before it.
	waiting []string
	// last is the newest reservation, first the oldest so far, with their revisions.
	last, first   time.Time
	lastAt, until int64
}

// NewRecent counts what is written below a root.
func NewRecent(root string) *Recent {
	h := &Recent{prefix: []byte(root + "/"), count: newWriteCount()}
	for _, key := range AllocatorKeys(root) {
		h.allocators = append(h.allocators, []byte(key))
	}
	return h
}

// Dates reports whether a key is one that reserves timestamps: Take wants its value.
func (h *Recent) Dates(key []byte) bool {
	return slices.ContainsFunc(h.allocators, func(a []byte) bool { return bytes.Equal(a, key) })
}

// Take counts a write or a removal of a key, and reports whether earlier ones are wanted. Of keys that date nothing the value may
// be left out.
func (h *Recent) Take(revision int64, key, value []byte) (more bool) {
	if !h.last.IsZero() && bytes.HasPrefix(key, h.prefix) {
		h.waiting = append(h.waiting, string(key))
	}
	if !h.Dates(key) {
		return true
	}
	t := Reservation(value)
	return !t.IsZero() && h.reserved(t, revision, string(key))
}

// reserved takes a reservation, and reports whether earlier ones are wanted. A clock that went back ends history.
func (h *Recent) reserved(t time.Time, at int64, key string) bool {
	if h.last.IsZero() {
		h.last, h.lastAt, h.waiting = t, at, []string{key}
		return true
	}
	if t.After(h.last) || !h.first.IsZero() && t.After(h.first) || h.last.Sub(t) > RecentSpan {
		return false
	}
	h.first, h.until = t, at
	for _, k := range h.waiting[:len(h.waiting)-1] { // this one is of before
		h.count.count(k)
	}
	h.waiting = append(h.waiting[:0], key)
	return true
}

// Activity is what was counted; nil where there are fewer than two reservations.
func (h *Recent) Activity() *model.EtcdActivity {
	if h.first.IsZero() {
		return nil
	}
	a := &model.EtcdActivity{Over: h.last.Sub(h.first), Revisions: h.lastAt - h.until}
	a.Writes, a.Hot, a.More = h.count.sum(recentKeys)
	return a
}

// recentChanges bounds what RecentOf holds: of more the oldest are left out.
const recentChanges = 1 << 20

// RecentOf counts what was written last up to a revision of a Past. Changes are read from another one on, which is to be at least
// RecentSpan before.
func RecentOf(ctx context.Context, past Past, h Header, from, to int64) (*model.EtcdActivity, error) {
	type change struct {
		revision int64
		key      string
		value    []byte
	}
	count := NewRecent(h.Root)
	var list []change
	names := make(map[string]string)
	err := past.Changes(ctx, h, from, to, func(revision int64, events []Event) error {
		for i := range events {
			name, known := names[string(events[i].Key)]
			if !known {
				name = string(events[i].Key)
				names[name] = name
			}
			c := change{revision: revision, key: name}
			if count.Dates(events[i].Key) {
				c.value = bytes.Clone(events[i].Value)
			}
			list = append(list, c)
		}
		if len(list) > recentChanges {
			list = append(list[:0], list[len(list)/2:]...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(list) {
		if !count.Take(c.revision, []byte(c.key), c.value) {
			break
		}
	}
	return count.Activity(), nil
}
