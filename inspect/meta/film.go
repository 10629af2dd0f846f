package meta

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Film is a store as it was at each revision between two, moved to any of them, forth and back. What lies between is read once: from then
// on a step costs what it changes, and Clusters share what did not change from one to the next. It is safe for concurrent use;
// the Clusters that it hands out stay as they are.
type Film struct {
	mu    sync.Mutex
	reel  *reel
	scene *scene
	clock *Clock
	most  int64
	cut   bool
	key   []byte // scratch
	// recent is what was written before the tick of a revision; at another one with the same tick it is the same.
	recent *model.EtcdActivity
	ticked int64
}

// FilmOptions bound a Film.
type FilmOptions struct {
	// From is the revision that it begins with, 0: the oldest that there is.
	From int64
	// To is the revision that it ends with, 0: the newest.
	To int64
	// Grow is that changes will be added behind its end, for which all keys of the beginning are kept.
	Grow bool
	// Most is how many bytes of changes it holds, 0: FilmBytes. Where there are more the oldest are left out, and Cut says so.
	Most int64
}

// FilmBytes are what a Film holds where nobody says how much.
const FilmBytes = 256 << 20

// ReadFilm reads what a Past has up to a revision, that of newest. Of Want, Collection is no use here: which objects a name means changes.
func ReadFilm(ctx context.Context, past source.Past, newest source.Header, want Want, o FilmOptions) (*Film, error) {
	if o.Most <= 0 {
		o.Most = FilmBytes
	}
	want.Collection = ""
	f := &Film{most: o.Most}
	if o.To <= 0 || o.To > newest.Revision {
		o.To = newest.Revision
	}
	if err := f.readChanges(ctx, past, newest, o.From, o.To); err != nil {
		return nil, err
	}
	if o.Grow {
		rest, err := newRest(nil)
		if err != nil {
			return nil, err
		}
		f.reel.rest = rest
	}
	if err := f.open(ctx, past, newest, want); err != nil {
		return nil, err
	}
	if o.Grow {
		f.reel.rest.finish()
	}
	return f, nil
}

// readAttempts are how often a Film begins anew where etcd was compacted while it was read.
const readAttempts = 3

// readChanges comes before the state that they begin with is read: which keys change is to be known then.
func (f *Film) readChanges(ctx context.Context, past source.Past, newest source.Header, from, to int64) error {
	for attempt := 1; ; attempt++ {
		oldest, err := past.Oldest(ctx, newest)
		if err != nil {
			return err
		}
		f.reel = newReel(min(max(from, oldest), to))
		if f.clock, err = NewClock(ctx, past, newest, f.reel.from); err == nil {
			err = past.Changes(ctx, newest, f.reel.from, to, f.take)
		}
		if err == nil && to < newest.Revision {
			err = f.clock.lookBehind(ctx, past, newest, to)
		}
		if err == nil {
			err = f.clock.FillAll(ctx, past)
		}
		if attempt < readAttempts && errors.Is(err, source.ErrCompacted) {
			continue
		}
		f.reel.to = max(f.reel.to, to)
		return err
	}
}

// take takes changes in, and leaves the oldest out where they become too many.
func (f *Film) take(_ int64, events []source.Event) error {
	for i := range events {
		f.clock.Put(events[i].KV)
		f.reel.add(&events[i])
	}
	if f.reel.bytes > f.most {
		f.forget()
	}
	return nil
}

// forget leaves the oldest writes out, a quarter of them at least. The newest revision stays: of one alone no bound takes anything away.
func (f *Film) forget() {
	n := len(f.reel.writes)
	last := f.reel.writes[n/4].revision
	if last == f.reel.writes[n-1].revision {
		return
	}
	f.cut = true
	if f.scene != nil && f.scene.head.revision < last {
		f.move(last)
	}
	f.reel = f.reel.since(last)
}

// open loads the state that the changes begin with.
func (f *Film) open(ctx context.Context, past source.Past, newest source.Header, want Want) error {
	for attempt := 1; ; attempt++ {
		first, err := past.PinAt(ctx, newest, f.reel.from)
		if err == nil {
			f.scene, err = openScene(ctx, &firstOf{first, HeaderAt(first.Header(), newest, Moment{}), f.reel}, want)
			if closing := first.Close(); err == nil {
				err = closing
			}
		}
		if attempt == readAttempts || !errors.Is(err, source.ErrCompacted) {
			return err
		}
		oldest, err := past.Oldest(ctx, newest)
		if err != nil {
			return err
		}
		if oldest <= f.reel.from || oldest > f.reel.to {
			return fmt.Errorf("read %s: %w", newest.Origin.Location, source.ErrCompacted)
		}
		f.reel = f.reel.since(oldest)
		if f.reel.rest != nil {
			if f.reel.rest, err = newRest(nil); err != nil {
				return err
			}
		}
	}
}

// firstOf is the snapshot that a reel begins with, which is told what its keys were.
type firstOf struct {
	source.Snapshot
	header source.Header
	reel   *reel
}

// Header implements source.Snapshot.
func (s *firstOf) Header() source.Header { return s.header }

// Scan implements source.Snapshot.
func (s *firstOf) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return s.Snapshot.Scan(ctx, ranges, func(kv source.KV) error {
		s.reel.base(&kv)
		if s.reel.rest != nil {
			s.reel.rest.add(&kv)
		}
		return yield(kv)
	})
}

// From and To are the revisions between which it can be moved.
func (f *Film) From() int64 { f.mu.Lock(); defer f.mu.Unlock(); return f.reel.from }

// To is the newest revision.
func (f *Film) To() int64 { f.mu.Lock(); defer f.mu.Unlock(); return f.reel.to }

// Cut reports whether there was more of the past than it holds.
func (f *Film) Cut() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.cut }

// Moment is when a revision was written; known is false where nothing dates it.
func (f *Film) Moment(revision int64) (m Moment, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock.At(revision)
}

// Next is the first revision behind another that changed something, ok false where there is none.
func (f *Film) Next(revision int64) (next int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.reel.behind(revision)
	if i == len(f.reel.writes) {
		return 0, false
	}
	return f.reel.writes[i].revision, true
}

// Before is the last revision before another that changed something, or From; ok is false where there is none.
func (f *Film) Before(revision int64) (before int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.reel.behind(revision - 1); i > 0 {
		return f.reel.writes[i-1].revision, true
	}
	return f.reel.from, revision > f.reel.from
}

// Add takes in what was written behind the end of a Film that grows, as Watch and Changes bring it; seen is when that was by a clock, zero
// if nobody looked.
func (f *Film) Add(revision int64, seen time.Time, events []source.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.reel.rest == nil:
		return errors.New("film: it was not read to grow")
	case revision < f.reel.to:
		return fmt.Errorf("film: revision %d comes behind %d", revision, f.reel.to)
	}
	f.clock.newest, f.clock.seen = revision, seen
	err := f.take(revision, events)
	f.reel.to = max(f.reel.to, revision)
	return err
}

// At is the store as it was at a revision. One outside of From and To is a *source.RevisionError.
func (f *Film) At(revision int64) (*model.Cluster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if revision < f.reel.from || revision > f.reel.to {
		return nil, &source.RevisionError{Where: f.scene.state.header.Origin.Location, Wanted: revision, Oldest: f.reel.from, Newest: f.reel.to}
	}
	f.move(revision)
	head := &f.scene.head
	head.taken = time.Time{}
	if m, known := f.clock.At(revision); known {
		head.taken = m.Time
	}
	head.recent = f.recentAt(revision)
	return f.scene.build(), nil
}

// move has the keys as they were at a revision.
func (f *Film) move(revision int64) {
	head := &f.scene.head
	f.reel.between(head.revision, revision, func(key int32, from, to *write) {
		was, is := from.there(), to.there()
		switch {
		case !was && !is, was && is && from.revision == to.revision:
			return
		case !is:
			to = &write{key: key, revision: revision, deleted: true}
		}
		e := f.reel.event(to, f.key)
		f.key = e.Key
		f.scene.take(&e, !was)
	})
	head.revision = revision
}

// recentAt counts what was written before the newest tick of a revision, as a file of etcd's does for its end.
func (f *Film) recentAt(revision int64) *model.EtcdActivity {
	before, _ := f.clock.around(revision)
	if before == nil {
		return nil
	}
	if before.revision == f.ticked {
		return f.recent
	}
	count := source.NewRecent(f.scene.state.header.Root)
	for i := f.reel.behind(before.revision) - 1; i >= 0; i-- {
		w := &f.reel.writes[i]
		f.key = append(f.key[:0], f.reel.keys[w.key]...)
		if !count.Take(w.revision, f.key, f.reel.values.at(w.value)) {
			break
		}
	}
	f.ticked, f.recent = before.revision, Writes(count.Activity())
	return f.recent
}

// Ticks are the revisions behind From at which Milvus reserved timestamps: those whose time is known best.
func (f *Film) Ticks() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []int64
	for _, t := range f.clock.ticks {
		if t.revision > f.reel.from && t.revision <= f.reel.to {
			list = append(list, t.revision)
		}
	}
	return list
}

// Revisions are those behind from, and up to to, that changed something.
func (f *Film) Revisions(from, to int64) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []int64
	for i := f.reel.behind(from); i < len(f.reel.writes) && f.reel.writes[i].revision <= to; i++ {
		if r := f.reel.writes[i].revision; len(list) == 0 || list[len(list)-1] != r {
			list = append(list, r)
		}
	}
	return list
}
