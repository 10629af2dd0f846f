package source

import (
	"bytes"
	"context"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// RecentSpan is the length of the window that a Recent counts.
const RecentSpan = time.Minute

// recentKeys is the maximum number of busiest keys in the result. A loop writes a key for each channel.
const recentKeys = 100

// Recent counts the writes before the last timestamp that Milvus reserved, over at most RecentSpan. The
// reservations date some revisions, every few seconds. So the writes between two reservations can be counted as
// a rate, as Etcd.Activity does live. Recent takes changes from the newest to the oldest.
type Recent struct {
	prefix     []byte
	allocators [][]byte
	count      *writeCount
	// pending holds the keys written since the last reservation, until the one before it arrives.
	pending []string
	// last is the newest reservation, first the oldest so far. lastAt and until are their revisions.
	last, first   time.Time
	lastAt, until int64
}

// NewRecent returns a Recent that counts writes below root.
func NewRecent(root string) *Recent {
	h := &Recent{prefix: []byte(root + "/"), count: newWriteCount()}
	for _, key := range AllocatorKeys(root) {
		h.allocators = append(h.allocators, []byte(key))
	}
	return h
}

// IsReservation reports whether key is a timestamp reservation. Add needs the value of such keys.
func (h *Recent) IsReservation(key []byte) bool {
	return slices.ContainsFunc(h.allocators, func(a []byte) bool { return bytes.Equal(a, key) })
}

// Add counts a write or a deletion of a key and reports whether earlier changes are needed. The value may be
// omitted unless IsReservation reports true for the key.
func (h *Recent) Add(revision int64, key, value []byte) (more bool) {
	if !h.last.IsZero() && bytes.HasPrefix(key, h.prefix) {
		h.pending = append(h.pending, string(key))
	}
	if !h.IsReservation(key) {
		return true
	}
	t := Reservation(value)
	return !t.IsZero() && h.addReservation(t, revision, string(key))
}

// addReservation adds a reservation and reports whether earlier changes are needed. It stops where the clock went
// backward.
func (h *Recent) addReservation(t time.Time, at int64, key string) bool {
	if h.last.IsZero() {
		h.last, h.lastAt, h.pending = t, at, []string{key}
		return true
	}
	if t.After(h.last) || !h.first.IsZero() && t.After(h.first) || h.last.Sub(t) > RecentSpan {
		return false
	}
	h.first, h.until = t, at
	for _, k := range h.pending[:len(h.pending)-1] { // the last one belongs to the earlier window
		h.count.count(k)
	}
	h.pending = append(h.pending[:0], key)
	return true
}

// Activity returns the counted writes, or nil if there are fewer than two reservations.
func (h *Recent) Activity() *model.EtcdActivity {
	if h.first.IsZero() {
		return nil
	}
	a := &model.EtcdActivity{Over: h.last.Sub(h.first), Revisions: h.lastAt - h.until}
	a.Writes, a.Hot, a.More = h.count.sum(recentKeys)
	return a
}

// recentChanges bounds the changes that RecentOf holds. It drops the oldest beyond this number.
const recentChanges = 1 << 20

// RecentOf counts the most recent writes up to revision to of a Past. It reads changes after revision from,
// which should be at least RecentSpan earlier.
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
			if count.IsReservation(events[i].Key) {
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
		if !count.Add(c.revision, []byte(c.key), c.value) {
			break
		}
	}
	return count.Activity(), nil
}
