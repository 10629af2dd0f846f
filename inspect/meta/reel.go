package meta

import (
	"bytes"
	"slices"
	"sort"

	"kitescope/inspect/source"
)

// reel keeps the writes of a store between two revisions, each with the one before it of the same key: what a key was at a revision
// is found without reading what lies between, in either direction.
type reel struct {
	keys   []string
	keyOf  map[string]int32
	newest []int32 // the last write of each key
	// bases are what each key was at from.
	bases  []write
	writes []write
	values arena
	// from is the revision before the first write, to the last that is known of.
	from, to int64
	bytes    int64
	// rest are the keys at the beginning, of a reel that may grow; else nil.
	rest *rest

	// Of one move: the first and the last write of each key that it goes over, by key; 0 is none, as they count from 1.
	first, last []int32
	touched     []int32
}

// write is a put or a removal of a key. One of revision 0 is none: the key was not there.
type write struct {
	revision, created, version, lease int64
	value                             place
	key                               int32
	// before is the write of the same key before it, noWrite where that is its base.
	before  int32
	deleted bool
}

const (
	noWrite = -1
	// What a write and a key take beside their bytes.
	writeSize, keySize = 64, 160
)

// there reports whether the key exists after it.
func (w *write) there() bool { return w.revision > 0 && !w.deleted }

func newReel(from int64) *reel { return &reel{keyOf: make(map[string]int32), from: from, to: from} }

// add takes a change in, the newest so far.
func (r *reel) add(e *source.Event) {
	r.to = max(r.to, e.ModRevision)
	key, known := r.keyOf[string(e.Key)]
	if !known {
		key = int32(len(r.keys))
		name := string(e.Key)
		r.keys, r.keyOf[name] = append(r.keys, name), key
		r.newest, r.bases = append(r.newest, noWrite), append(r.bases, write{})
		r.first, r.last = append(r.first, 0), append(r.last, 0)
		r.bytes += int64(len(name)) + keySize
		if r.rest != nil && (e.Deleted || e.Version != 1) { // else it is new
			if kv := r.rest.find(name); kv != nil {
				r.base(kv)
			}
		}
	}
	w := write{
		revision: e.ModRevision, created: e.CreateRevision, version: e.Version, lease: e.Lease, key: key, before: r.newest[key], deleted: e.Deleted,
	}
	if !w.deleted {
		w.value = r.keep(e.Value, w.before)
	}
	r.newest[key] = int32(len(r.writes))
	r.writes = append(r.writes, w)
	r.bytes += writeSize
}

// keep keeps a value; one that is written again as it was stands there once.
func (r *reel) keep(value []byte, before int32) place {
	if before != noWrite && !r.writes[before].deleted && bytes.Equal(r.values.at(r.writes[before].value), value) {
		return r.writes[before].value
	}
	r.bytes += int64(len(value))
	return r.values.keep(value)
}

// base says what a key was at from; of keys that are never written nobody asks.
func (r *reel) base(kv *source.KV) {
	if key, ok := r.keyOf[string(kv.Key)]; ok {
		r.bases[key] = write{
			revision: kv.ModRevision, created: kv.CreateRevision, version: kv.Version, lease: kv.Lease, key: key, before: noWrite, value: r.values.keep(kv.Value),
		}
		r.bytes += int64(len(kv.Value))
	}
}

// prior is what a key was before a write of it.
func (r *reel) prior(w *write) *write {
	if w.before == noWrite {
		return &r.bases[w.key]
	}
	return &r.writes[w.before]
}

// event is a change that has the key as it is after a write. Its key is in buf.
func (r *reel) event(w *write, buf []byte) source.Event {
	e := source.Event{KV: source.KV{Key: append(buf[:0], r.keys[w.key]...), ModRevision: w.revision}, Deleted: w.deleted}
	if !w.deleted {
		e.Value, e.CreateRevision, e.Version, e.Lease = r.values.at(w.value), w.created, w.version, w.lease
	}
	return e
}

// behind is the position of the first write after a revision.
func (r *reel) behind(revision int64) int {
	return sort.Search(len(r.writes), func(i int) bool { return r.writes[i].revision > revision })
}

// between calls visit once for each key that is written between two revisions, with what it is at the one and at the other, whichever
// comes first.
func (r *reel) between(one, other int64, visit func(key int32, from, to *write)) {
	low, high := r.behind(min(one, other)), r.behind(max(one, other))
	for i := low; i < high; i++ {
		key := r.writes[i].key
		if r.first[key] == 0 {
			r.first[key] = int32(i) + 1
			r.touched = append(r.touched, key)
		}
		r.last[key] = int32(i) + 1
	}
	for _, key := range r.touched {
		from, to := r.prior(&r.writes[r.first[key]-1]), &r.writes[r.last[key]-1]
		if one > other {
			from, to = to, from
		}
		visit(key, from, to)
		r.first[key], r.last[key] = 0, 0
	}
	r.touched = r.touched[:0]
}

// since is the part of a reel behind a revision.
func (r *reel) since(revision int64) *reel {
	next := newReel(revision)
	start := r.behind(revision)
	for i := start; i < len(r.writes); i++ {
		w := &r.writes[i]
		e := r.event(w, nil)
		next.add(&e)
		if int(w.before) >= start {
			continue
		}
		if before := r.prior(w); before.there() {
			e := r.event(before, nil)
			next.base(&e.KV)
		}
	}
	next.to, next.rest = max(r.to, revision), r.rest
	if r.rest != nil {
		r.pass(next)
	}
	return next
}

// pass tells the rest what the keys are that the next reel does not know.
func (r *reel) pass(next *reel) {
	for key, name := range r.keys {
		if _, known := next.keyOf[name]; known {
			continue
		}
		w := &r.bases[key]
		if r.newest[key] != noWrite {
			w = &r.writes[r.newest[key]]
		}
		r.rest.later[name] = nil
		if w.there() {
			w := *w
			w.key = int32(key)
			e := r.event(&w, nil)
			e.Value = bytes.Clone(e.Value)
			r.rest.later[name] = &e.KV
		}
	}
}

// arena keeps bytes, which nobody takes out again.
type arena struct{ chunks [][]byte }

// place is where in an arena a value stands.
type place struct{ chunk, from, size int32 }

const arenaChunk = 1 << 20

func (a *arena) keep(value []byte) place {
	if len(value) == 0 {
		return place{}
	}
	n := len(a.chunks) - 1
	if n < 0 || len(a.chunks[n])+len(value) > cap(a.chunks[n]) {
		a.chunks = append(a.chunks, make([]byte, 0, max(arenaChunk, len(value))))
		n++
	}
	p := place{int32(n), int32(len(a.chunks[n])), int32(len(value))}
	a.chunks[n] = append(a.chunks[n], value...)
	return p
}

func (a *arena) at(p place) []byte {
	if p.size == 0 {
		return nil
	}
	return slices.Clip(a.chunks[p.chunk][p.from : p.from+p.size])
}
