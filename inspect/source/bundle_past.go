package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"sort"
	"time"

	"kitescope/internal/hints"
)

var _ Past = (*Bundle)(nil)

// bundleEdge is the end of the history of a bundle.
type bundleEdge struct {
	revision int64
	at       time.Time
	// complete reports whether the chunk has all its initial keys.
	complete bool
	// times holds the write times of changes members, with the last revision of each.
	times []recordedTime
}

type recordedTime struct {
	revision int64
	at       time.Time
}

// edge returns the last revision and the time of the last member. For a chunk of a recording, it reads the
// whole chunk once.
func (b *Bundle) edge(ctx context.Context) (bundleEdge, error) {
	if !b.isRecording() {
		return bundleEdge{revision: b.manifest.Revision, at: b.manifest.Taken, complete: true}, nil
	}
	b.mu.Lock()
	known := b.last
	b.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	return b.readAll(ctx, nil)
}

// Oldest returns the first revision of the history.
func (b *Bundle) Oldest(context.Context, Header) (int64, error) {
	if b.manifest.History == nil {
		_, err := PastOf(b)
		return 0, err
	}
	return b.manifest.History.Oldest, nil
}

func (b *Bundle) checkRevisions(ctx context.Context, wanted ...int64) (bundleEdge, error) {
	oldest, err := b.Oldest(ctx, Header{})
	if err != nil {
		return bundleEdge{}, err
	}
	e, err := b.edge(ctx)
	if err != nil {
		return e, err
	}
	if !e.complete {
		return e,
			hints.Errorf("look at another chunk of the recording", "read %s: it ends within its first keys",
				b.in.location)
	}
	return e, CheckRevisions(b.in.location, oldest, e.revision, wanted...)
}

// PinAt returns the bundle at a revision.
func (b *Bundle) PinAt(ctx context.Context, _ Header, revision int64) (Snapshot, error) {
	e, err := b.checkRevisions(ctx, revision)
	if err != nil {
		return nil, err
	}
	h := b.header()
	if revision == e.revision {
		h.Taken = e.at
	} else {
		h.Taken, h.FileDate, h.ByClock = time.Time{}, false, false
	}
	h.Revision = revision
	return &bundleSnapshot{bundle: b, header: h}, nil
}

// Changes yields the changes in (from, to].
func (b *Bundle) Changes(
	ctx context.Context, _ Header, from, to int64, yield func(revision int64, events []Event) error,
) error {
	if _, err := b.checkRevisions(ctx, from, to); err != nil || from == to {
		return err
	}
	prefix := []byte(b.manifest.Root + "/")
	reached := b.manifest.History.Oldest
	return b.History(ctx, func(m HistoryMember) error {
		if g, ok := m.gap(); ok {
			b.gaps.put(g)
		}
		c, ok, err := b.next(m, &reached)
		if err != nil || !ok || c.to <= from {
			return err
		}
		var events []Event
		if err := c.each(func(e Event) error {
			if e.ModRevision > from && e.ModRevision <= to && bytes.HasPrefix(e.Key, prefix) {
				events = append(events, e)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := byRevision(events, yield); err != nil {
			return err
		}
		if c.to >= to {
			return errStop
		}
		return nil
	})
}

// next parses a changes member that continues at reached; ok is false for other members.
func (b *Bundle) next(m HistoryMember, reached *int64) (c changesMember, ok bool, err error) {
	if m.Kind != HistoryChanges {
		return c, false, nil
	}
	c, err = parseChanges(m.Content)
	switch {
	case err == nil && c.from == *reached:
		*reached = c.to
		return c, true, nil
	case b.isRecording():
		return c, false, errStop
	case err == nil:
		err = errBadRecord
	}
	return c, false, b.explain(err)
}

// changedKeys maps keys that differ from the keys of the bundle to their state at a revision.
type changedKeys map[string]*changedKey

// changedKey is the state of a key. kv is nil if the key did not exist. final reports that the state is from
// a change up to the revision.
type changedKey struct {
	kv    *KV
	final bool
}

// gap returns the gap of a member that describes an unrecorded period or dropped keys; ok is false for other
// members.
func (m *HistoryMember) gap() (g Gap, ok bool) {
	switch m.Kind {
	case HistoryGaps:
		return Gap{Where: "recorded at " + recordedText(m.At), Reason: string(m.Content), Unrecorded: true}, true
	case historyDropped:
		n, _ := binary.Uvarint(m.Content)
		return droppedGap(int64(n)), true
	}
	return Gap{}, false
}

// droppedGap returns the gap for n keys that were not written.
func droppedGap(n int64) Gap {
	return Gap{
		Where: "keys with a secret in their names", Reason: "left out when the file was written", Count: n,
		Unrecorded: true,
	}
}

// changedAt computes the keys that differ at a revision from the keys of the bundle, or nil if there are none. It
// adds the periods that were not recorded between the revision and the next change to gaps.
func (b *Bundle) changedAt(ctx context.Context, revision int64, gaps *gapList) (changedKeys, error) {
	if revision == b.manifest.Revision && !b.isRecording() {
		return nil, nil
	}
	found, recorded, reached := changedKeys{}, b.isRecording(), b.manifest.History.Oldest
	err := b.History(ctx, func(m HistoryMember) error {
		if m.Kind == historyBefore {
			return eachRecord(m.Content, func(kv KV) error {
				if k := found[string(kv.Key)]; k != nil && !k.final {
					k.kv = cloneKV(kv)
				}
				return nil
			})
		}
		if g, ok := m.gap(); ok && (m.Kind == historyDropped || reached >= revision) {
			gaps.put(g)
		}
		c, ok, err := b.next(m, &reached)
		if err != nil || !ok {
			return err
		}
		if recorded && c.from >= revision {
			return errStop
		}
		return c.each(func(e Event) error { found.add(e, revision, recorded); return nil })
	})
	return found, err
}

// add adds a change. A change after the revision shows only that the key was different before; it is ignored
// in a chunk of a recording, which has the earlier keys.
func (c changedKeys) add(e Event, revision int64, recorded bool) {
	later := e.ModRevision > revision
	if later && recorded {
		return
	}
	k := c[string(e.Key)]
	if k == nil {
		k = &changedKey{}
		c[string(e.Key)] = k
	}
	switch {
	case later:
	case e.Deleted:
		k.kv, k.final = nil, true
	default:
		k.kv, k.final = cloneKV(e.KV), true
	}
}

func cloneKV(kv KV) *KV {
	kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
	return &kv
}

// keyPast is the history of a key in a bundle, in revision order.
type keyPast []Event

// maxKeyPasts bounds the cache of GetAt, in keys. A search for a revision reads one key at many revisions.
const maxKeyPasts = 16

// GetAt returns one key at a revision. It reads the bundle once for each key.
func (b *Bundle) GetAt(ctx context.Context, _ Header, revision int64, key string) (*KV, error) {
	if _, err := b.checkRevisions(ctx, revision); err != nil {
		return nil, err
	}
	b.mu.Lock()
	past, ok := b.pasts[key]
	b.mu.Unlock()
	if !ok {
		clock := AllocatorKeys(b.manifest.Root)
		all, err := b.keyPasts(ctx, append(clock[:], key)...)
		if err != nil {
			return nil, err
		}
		past = all[key]
		b.mu.Lock()
		if b.pasts == nil || len(b.pasts) > maxKeyPasts {
			b.pasts = map[string]keyPast{}
		}
		maps.Copy(b.pasts, all)
		b.mu.Unlock()
	}
	i := sort.Search(len(past), func(i int) bool { return past[i].ModRevision > revision })
	if i == 0 || past[i-1].Deleted {
		return nil, nil //nolint:nilnil // the key was not there
	}
	return cloneKV(past[i-1].KV), nil
}

// keyPasts reads the histories of some keys.
func (b *Bundle) keyPasts(ctx context.Context, keys ...string) (map[string]keyPast, error) {
	all := map[string]keyPast{}
	for _, key := range keys {
		all[key] = nil
	}
	base, before, reached := map[string]*KV{}, map[string]*KV{}, b.manifest.History.Oldest
	into := func(m map[string]*KV) func(KV) error {
		return func(kv KV) error {
			if _, wanted := all[string(kv.Key)]; wanted {
				m[string(kv.Key)] = cloneKV(kv)
			}
			return nil
		}
	}
	err := b.each(ctx, into(base), func(m HistoryMember) error {
		if m.Kind == historyBefore {
			return eachRecord(m.Content, into(before))
		}
		c, ok, err := b.next(m, &reached)
		if err != nil || !ok {
			return err
		}
		return c.each(func(e Event) error {
			if past, wanted := all[string(e.Key)]; wanted {
				all[string(e.Key)] = append(past, Event{KV: *cloneKV(e.KV), Deleted: e.Deleted})
			}
			return nil
		})
	})
	for key, past := range all {
		first := base[key]
		if len(past) > 0 && !b.isRecording() {
			first = before[key]
		}
		if first != nil {
			all[key] = append(keyPast{{KV: *first}}, past...)
		}
	}
	return all, err
}

// AddPast adds the history of a written snapshot: the changes since the oldest revision of its source, and the
// state of the changed keys at that revision. transform must be the one used for the keys. It is used by
// snapshot save.
func (b *BundleWriter) AddPast(
	ctx context.Context, past Past, h Header, oldest int64, transform func(KV) (KV, bool),
) error {
	stats := &b.past
	about, last := map[string]bool{}, oldest
	changes := b.Changes(oldest)
	err := past.Changes(ctx, h, oldest, h.Revision, func(revision int64, events []Event) error {
		kept := b.TransformEvents(events, transform)
		for _, e := range kept {
			about[string(e.Key)] = true
		}
		if revision > last {
			last = revision
			stats.Revisions++
		}
		stats.Changes += int64(len(kept))
		return changes.Add(h.Taken, revision, kept)
	})
	if err == nil {
		err = changes.Add(h.Taken, h.Revision, nil)
	}
	if err == nil {
		err = changes.Flush(h.Taken)
	}
	if err != nil {
		return err
	}
	return b.addBefore(ctx, past, h, oldest, about, transform)
}

// PastStats holds the totals of a written history.
type PastStats struct{ Revisions, Changes int64 }

// addBefore writes the state of some keys at the oldest revision.
func (b *BundleWriter) addBefore(
	ctx context.Context, past Past, h Header, oldest int64, keys map[string]bool, transform func(KV) (KV, bool),
) error {
	first, err := past.PinAt(ctx, h, oldest)
	if err != nil {
		return err
	}
	defer first.Close()
	var block []byte
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		err := b.AddHistory(historyBefore, h.Taken, block)
		block = block[:0]
		return err
	}
	err = first.Scan(ctx, []Range{Prefix(h.Root + "/")}, func(kv KV) error {
		if !keys[string(kv.Key)] {
			return nil
		}
		kv, keep := b.transform(kv, transform)
		if !keep {
			return nil
		}
		if block = appendRecord(block, kv); len(block) >= chunkTarget {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return err
}

// baseKeys returns the number of initial keys of a chunk, from its base member.
func baseKeys(content []byte) (int64, bool) {
	n, used := binary.Uvarint(content)
	return int64(n), used > 0
}
