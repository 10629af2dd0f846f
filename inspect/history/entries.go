package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// news is something that happened once.
type news struct {
	kind                  kindID
	object                model.Ref
	collection            model.CollectionID
	before, after, detail string
	at                    int64 // the revision; 0: the one that is read
}

// entry is an event as it is kept. Object has no name: the newest one is in the History.
type entry struct {
	news
	last  int64
	count int
	via   string // what was in between, of a group
}

// entries collects events. It puts together what repeats: the same that happens to the same object again, with nothing else happening to
// it in between.
type entries struct {
	list   []entry
	newest map[model.Ref]int // the last entry of an object
	names  map[model.Ref]string
}

func newEntries() entries {
	return entries{newest: map[model.Ref]int{}, names: map[model.Ref]string{}}
}

// upTo copies the entries so far, to be read while others are added.
func (l *entries) upTo() entries {
	return entries{list: slices.Clone(l.list), names: maps.Clone(l.names)}
}

// groupGap is how long the same thing may be away and still be the same story.
const groupGap = time.Minute

// viaMost is how many events of a group are told one by one.
const viaMost = 4

// keep makes an entry of news.
func (l *entries) keep(n *news) entry {
	if n.object.Name != "" {
		l.name(n.object)
		n.object.Name = ""
	}
	return entry{news: *n, last: n.at, count: 1}
}

// add takes an event in; timeOf is the clock so far, in Unix nanoseconds.
func (l *entries) add(n news, timeOf func(revision int64) int64) {
	e := l.keep(&n)
	if at, known := l.newest[e.object]; known && kinds[e.kind].repeats {
		old := &l.list[at]
		if old.kind == e.kind && timeOf(e.at)-timeOf(old.last) <= int64(groupGap) {
			old.merge(&e)
			return
		}
	}
	l.newest[e.object] = len(l.list)
	l.list = append(l.list, e)
}

// merge makes an event one more of a group.
func (e *entry) merge(next *entry) {
	switch {
	case e.count < viaMost:
		e.via += e.after + arrow
	case e.count == viaMost:
		e.via += "…" + arrow
	}
	e.last, e.after, e.detail = next.last, next.after, next.detail
	e.count++
}

const arrow = " → "

// sort puts entries in the order of their first revisions: some are known only later, as that a checkpoint had stopped.
func (l *entries) sort() {
	slices.SortStableFunc(l.list, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
}

// name remembers the newest name of an object.
func (l *entries) name(ref model.Ref) {
	name := ref.Name
	ref.Name = ""
	l.names[ref] = name
}

// named returns an object with its newest name.
func (l *entries) named(ref model.Ref) model.Ref {
	ref.Name = l.names[ref]
	return ref
}

// collection returns a collection with its newest name; the zero Ref of 0.
func (l *entries) collection(id model.CollectionID) model.Ref {
	if id == 0 {
		return model.Ref{}
	}
	return l.named(model.Ref{Resource: collections, ID: id.String()})
}
