// Package diff compares two clusters, or two states of one. What enters are two
// model.Cluster, what leaves is a list of changes in a stable order, and a summary for
// each collection.
//
//  1. Objects of each kind are matched by identity: ids, names of channels.
//  2. Segments that a compaction replaced are matched through CompactedFrom, over
//     several generations, so that a compaction is one change and not many.
//  3. What is left is added or removed; what matched is compared field by field.
//
// Clusters of successive refreshes share unchanged objects; those cost one comparison
// of pointers.
package diff

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Kind says what happened to an object.
type Kind string

// The kinds of changes.
const (
	Added    Kind = "added"
	Removed  Kind = "removed"
	Changed  Kind = "changed"
	Replaced Kind = "replaced" // segments only: compacted into others
)

// Change is one difference. Of Added and Removed, To or From describe the object; of
// Changed, Field names what differs and From and To are its values.
type Change struct {
	Kind   Kind
	Object model.Ref
	// Collection is what the object belongs to, or is; the zero Ref if nothing.
	Collection model.Ref
	// Field is the name of a column of the object's resource, "" unless Kind is Changed.
	Field    string
	From, To string
	// FromNames and ToNames are the same with names in place of ids of nodes.
	FromNames, ToNames string
	// By are the segments that took the object's place, the same ones for each of several
	// that were merged or split together; empty unless Kind is Replaced.
	By []model.Ref

	rank int // of the resource
}

// Summary adds up what happened to one collection.
type Summary struct {
	Collection model.Ref
	// Counts of segments.
	Added, Removed, Replaced, Changed int
	// Rows and numbers of healthy segments on both sides.
	RowsBefore, RowsAfter         int64
	SegmentsBefore, SegmentsAfter int
}

// Options say what is compared.
type Options struct {
	// Moving includes what moves by itself in a healthy cluster: checkpoints, revisions,
	// segments that garbage collection has removed after they were dropped.
	Moving bool
}

// Diff is everything that differs.
type Diff struct {
	From, To model.Origin
	// Changes are sorted: what belongs to no collection first, then by collection, in
	// it by resource and object.
	Changes []Change
	// Collections are those with changes, by name.
	Collections []Summary
	// NotCompared are resources and "resource.field"s that one side has not read.
	NotCompared []string
}

// Empty reports whether nothing differs.
func (d *Diff) Empty() bool { return len(d.Changes) == 0 }

// Compare finds what changed from a to b.
func Compare(a, b *model.Cluster, options Options) *Diff {
	d := &Diff{From: a.Origin, To: b.Origin}
	p := &pair{a: a, b: b, options: options, diff: d}
	for i := range kinds {
		p.rank = i
		kinds[i].compare(p)
	}
	p.rank = len(kinds)
	p.segments()
	slices.SortStableFunc(d.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(x.Collection.Name, y.Collection.Name), words.CompareNatural(x.Collection.ID, y.Collection.ID),
			cmp.Compare(x.rank, y.rank), words.CompareNatural(x.Object.ID, y.Object.ID))
	})
	p.summarize()
	return d
}

// pair is a comparison at work.
type pair struct {
	a, b    *model.Cluster
	options Options
	diff    *Diff
	rank    int
}

// reads reports whether both sides have read a part; otherwise it notes what could
// not be compared for it.
func (p *pair) reads(what string, needs model.Part) bool {
	if p.a.Loaded.Has(needs) && p.b.Loaded.Has(needs) {
		return true
	}
	p.diff.NotCompared = append(p.diff.NotCompared, what)
	return false
}

func (p *pair) add(c Change) {
	c.rank = p.rank
	c.FromNames, c.ToNames = cmp.Or(c.FromNames, c.From), cmp.Or(c.ToNames, c.To)
	p.diff.Changes = append(p.diff.Changes, c)
}

// collectionRef names a collection by the newer side, where it exists.
func (p *pair) collectionRef(id model.CollectionID) model.Ref {
	if id == 0 {
		return model.Ref{}
	}
	name := p.b.CollectionName(id)
	if name == "" {
		name = p.a.CollectionName(id)
	}
	if name == "" {
		name = id.String()
	}
	return model.Ref{Resource: "collections", ID: id.String(), Name: name}
}

// summarize adds up changes by collection. Changes are sorted, so each collection's
// stand together.
func (p *pair) summarize() {
	var last *Summary
	for i := range p.diff.Changes {
		c := &p.diff.Changes[i]
		if c.Collection.ID == "" {
			continue
		}
		if last == nil || last.Collection != c.Collection {
			p.diff.Collections = append(p.diff.Collections, p.newSummary(c.Collection))
			last = &p.diff.Collections[len(p.diff.Collections)-1]
		}
		again := i > 0 && p.diff.Changes[i-1].Object == c.Object // another field of the same one
		if c.Object.Resource == "segments" && !again {
			last.count(c.Kind)
		}
	}
}

func (s *Summary) count(k Kind) {
	switch k {
	case Added:
		s.Added++
	case Removed:
		s.Removed++
	case Replaced:
		s.Replaced++
	case Changed:
		s.Changed++
	}
}
