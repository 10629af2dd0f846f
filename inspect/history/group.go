package history

import (
	"cmp"
	"maps"
	"slices"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
)

// entry is an Event as it is kept. There may be hundreds of thousands: it has no pointer, and texts are in the pool.
type entry struct {
	first, last   int64
	count         int32
	kind          kindID
	object        int32
	collection    model.CollectionID
	before, after text
	// via is what was in between, of a group.
	via    text
	detail text
}

// text is a position in the texts of a pool; 0 is "".
type text int32

// pool keeps each text and each object once.
type pool struct {
	texts    []string
	textOf   map[string]text
	objects  []model.Ref
	objectOf map[model.Ref]int32
	names    map[model.CollectionID]string
}

func newPool() *pool {
	return &pool{
		texts: []string{""}, textOf: map[string]text{"": 0}, objectOf: map[model.Ref]int32{},
		names: map[model.CollectionID]string{},
	}
}

func (p *pool) text(s string) text {
	t, ok := p.textOf[s]
	if !ok {
		t = text(len(p.texts))
		p.texts = append(p.texts, s)
		p.textOf[s] = t
	}
	return t
}

// object numbers a Ref by resource and id; the newest name counts.
func (p *pool) object(ref model.Ref) int32 {
	name := ref.Name
	ref.Name = ""
	i, ok := p.objectOf[ref]
	if !ok {
		i = int32(len(p.objects))
		p.objects = append(p.objects, ref)
		p.objectOf[ref] = i
	}
	if name != "" {
		p.objects[i].Name = name
	}
	return i
}

// upTo is the pool as it is, to be read while it grows: texts are only added, objects are renamed.
func (p *pool) upTo() *pool {
	return &pool{texts: slices.Clip(p.texts), objects: slices.Clone(p.objects), names: maps.Clone(p.names)}
}

// brief is an event without its message.
func (p *pool) brief(e *entry, clock *meta.Clock) Event {
	out := Event{
		Revision: e.first, Last: e.last, Count: int(e.count), Kind: kinds[e.kind].name, Object: p.objects[e.object],
		Before: p.texts[e.before], After: p.texts[e.after],
	}
	out.Time, out.Error = dated(clock, e.first)
	out.LastTime, _ = dated(clock, e.last)
	if e.collection != 0 {
		out.Collection = model.Ref{Resource: "collections", ID: e.collection.String(), Name: p.names[e.collection]}
	}
	return out
}

func (p *pool) event(e *entry, clock *meta.Clock) Event {
	out := p.brief(e, clock)
	out.Message = message(&out, kinds[e.kind].words, p.texts[e.via], p.texts[e.detail])
	return out
}

// groups puts together what repeats: the same that happens to the same object again, with nothing else happening to it in between.
type groups struct {
	entries []entry
	pool    *pool
	// newest is the last entry of an object.
	newest map[int32]int
}

// groupGap is how long the same thing may be away and still be the same story.
const groupGap = int64(60e9)

// viaMost is how many events of a group are told one by one.
const viaMost = 4

// add takes an event in; timeOf is the clock so far.
func (g *groups) add(e entry, timeOf func(revision int64) int64) {
	if i, ok := g.newest[e.object]; ok {
		old := &g.entries[i]
		if old.kind == e.kind && kinds[e.kind].repeats && timeOf(e.first)-timeOf(old.last) <= groupGap {
			switch {
			case old.count < viaMost:
				old.via = g.pool.text(g.pool.texts[old.via] + g.pool.texts[old.after] + arrow)
			case old.count == viaMost:
				old.via = g.pool.text(g.pool.texts[old.via] + "…" + arrow)
			}
			old.last, old.after, old.detail = e.last, e.after, e.detail
			old.count += e.count
			return
		}
	}
	g.newest[e.object] = len(g.entries)
	g.entries = append(g.entries, e)
}

const arrow = " → "

// sort puts entries in the order of their first revisions: some are known only later, as that a checkpoint had stopped.
func (g *groups) sort() {
	slices.SortStableFunc(g.entries, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
}
