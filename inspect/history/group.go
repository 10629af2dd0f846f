package history

import (
	"cmp"
	"slices"
)

// groups puts together what repeats: the same that happens to the same object again, with nothing else happening to it in between.
type groups struct {
	entries []entry
	pool    *pool
	// newest is the last entry of an object, from 1 on; 0: it has none.
	newest []int32
}

// groupGap is how long the same thing may be away and still be the same story.
const groupGap = int64(60e9)

// viaMost is how many events of a group are told one by one.
const viaMost = 4

// add takes an event in; timeOf is the clock so far.
func (g *groups) add(e *entry, timeOf func(revision int64) int64) {
	for int(e.object) >= len(g.newest) {
		g.newest = append(g.newest, 0)
	}
	newest := &g.newest[e.object]
	if *newest > 0 && kinds[e.kind].repeats {
		old := &g.entries[*newest-1]
		if old.kind == e.kind && timeOf(e.first)-timeOf(old.last) <= groupGap {
			g.merge(old, e)
			return
		}
	}
	if len(g.entries) == cap(g.entries) { // large slices grow by a quarter otherwise, and are copied as often
		g.entries = slices.Grow(g.entries, len(g.entries)+1)
	}
	g.entries = append(g.entries, *e)
	*newest = int32(len(g.entries))
}

// merge has an event be one more of a group.
func (g *groups) merge(old, e *entry) {
	switch {
	case old.count < viaMost:
		old.via = g.pool.text(g.pool.texts[old.via] + g.pool.texts[old.after] + arrow)
	case old.count == viaMost:
		old.via = g.pool.text(g.pool.texts[old.via] + "…" + arrow)
	}
	old.last, old.after, old.form, old.detail = e.last, e.after, e.form, e.detail
	old.count += e.count
}

const arrow = " → "

// sort puts entries in the order of their first revisions: some are known only later, as that a checkpoint had stopped.
func (g *groups) sort() {
	byFirst := func(a, b entry) int { return cmp.Compare(a.first, b.first) }
	if !slices.IsSortedFunc(g.entries, byFirst) {
		slices.SortStableFunc(g.entries, byFirst)
	}
}
