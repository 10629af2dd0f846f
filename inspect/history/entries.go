package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// occurrence is a single occurrence of an event.
type occurrence struct {
	kind                  kindID
	object                model.Ref
	collection            model.CollectionID
	before, after, detail string
	at                    int64 // the revision; 0 means the current one
}

// entry is a stored event. Object has no name, because the newest name is in the History.
type entry struct {
	occurrence
	last  int64
	count int
	via   string // the states in between, for a group
}

// entries collects events. It groups repetitions: the same kind of event of the same object, without any other
// event of the object in between.
type entries struct {
	list   []entry
	newest map[model.Ref]int // the last entry of an object
	names  map[model.Ref]string
}

func newEntries() entries {
	return entries{newest: map[model.Ref]int{}, names: map[model.Ref]string{}}
}

// clone returns a copy of the current entries, which can be read while others are added.
func (l *entries) clone() entries {
	return entries{list: slices.Clone(l.list), names: maps.Clone(l.names)}
}

// groupGap is the longest gap between two events of a group.
const groupGap = time.Minute

// maxVia is the number of events of a group that are listed individually.
const maxVia = 4

// newEntry makes an entry from an occurrence, and records the object's name.
func (l *entries) newEntry(n *occurrence) entry {
	if n.object.Name != "" {
		l.name(n.object)
		n.object.Name = ""
	}
	return entry{occurrence: *n, last: n.at, count: 1}
}

// add adds an event. timeOf returns the time of a revision by the clock so far, in Unix nanoseconds.
func (l *entries) add(n occurrence, timeOf func(revision int64) int64) {
	e := l.newEntry(&n)
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

// merge adds an event to a group.
func (e *entry) merge(next *entry) {
	switch {
	case e.count < maxVia:
		e.via += e.after + arrow
	case e.count == maxVia:
		e.via += "…" + arrow
	}
	e.last, e.after, e.detail = next.last, next.after, next.detail
	e.count++
}

const arrow = " → "

// sort sorts entries by first revision. Some are added late, e.g. the stop of a checkpoint.
func (l *entries) sort() {
	slices.SortStableFunc(l.list, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
}

// name records the newest name of an object.
func (l *entries) name(ref model.Ref) {
	name := ref.Name
	ref.Name = ""
	l.names[ref] = name
}

// withName returns an object with its newest name.
func (l *entries) withName(ref model.Ref) model.Ref {
	ref.Name = l.names[ref]
	return ref
}

// collection returns a collection with its newest name, the zero Ref for 0.
func (l *entries) collection(id model.CollectionID) model.Ref {
	if id == 0 {
		return model.Ref{}
	}
	return l.withName(model.Ref{Resource: collections, ID: id.String()})
}
