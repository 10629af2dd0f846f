// Package diff compares two clusters, or two states of the same cluster. It returns a list of changes in a
// stable order and a summary for each collection.
//
//  1. Objects of each kind are matched by identity, e.g. an id or the name of a channel.
//  2. Segments that a compaction replaced are matched through CompactedFrom, over several generations.
//     A compaction is therefore one change and not many.
//  3. Matched objects are compared field by field. Unmatched objects are added or removed.
//
// Clusters of successive refreshes share unchanged segments. Comparing a shared segment costs one comparison
// of pointers.
package diff

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Kind is the kind of a change to an object.
type Kind string

// The kinds of changes.
const (
	Added    Kind = "added"
	Removed  Kind = "removed"
	Changed  Kind = "changed"
	Replaced Kind = "replaced" // segments only: compacted into others
)

// Change is one difference. If Kind is Added, To describes the object; if Kind is Removed, From does.
// If Kind is Changed, Field names the column and From and To hold its values. If Kind is Replaced, From
// describes the old segment and To describes its replacements.
type Change struct {
	Kind   Kind
	Object model.Ref
	// Collection is the collection that the object is or belongs to, or the zero Ref if it belongs to none.
	Collection model.Ref
	// Field is the name of a column of the object's resource, "" unless Kind is Changed.
	Field    string
	From, To string
	// FromNames and ToNames are From and To with the names of nodes instead of their ids.
	FromNames, ToNames string
	// By holds the segments that replaced the object; it is empty unless Kind is Replaced. Segments
	// that were merged or split together have the same By.
	By []model.Ref

	rank int // position of the resource in the output
}

// Summary counts the changes of a collection.
type Summary struct {
	Collection model.Ref
	// Numbers of segments with each kind of change.
	Added, Removed, Replaced, Changed int
	// Rows (without L0 segments) and numbers of healthy segments on both sides.
	RowsBefore, RowsAfter         int64
	SegmentsBefore, SegmentsAfter int
}

// Options selects the fields and objects to compare.
type Options struct {
	// Volatile includes values and objects that change in a healthy cluster without an operation, e.g.
	// checkpoints, revisions, and dropped segments that garbage collection removed.
	Volatile bool
}

// Diff holds all differences between two clusters.
type Diff struct {
	From, To model.Origin
	// Changes is sorted by collection, resource and object. Changes without a collection come first.
	Changes []Change
	// Collections holds the summaries of the collections with changes, by name.
	Collections []Summary
	// NotCompared holds the names of resources and fields ("resource.field") that one side did not read.
	NotCompared []string
}

// Empty reports whether d has no changes.
func (d *Diff) Empty() bool { return len(d.Changes) == 0 }

// Compare returns the changes from a to b.
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
		return cmp.Or(cmp.Compare(x.Collection.Name, y.Collection.Name),
			words.CompareNatural(x.Collection.ID, y.Collection.ID),
			cmp.Compare(x.rank, y.rank), words.CompareNatural(x.Object.ID, y.Object.ID))
	})
	p.summarize()
	return d
}

// pair holds the state of a comparison.
type pair struct {
	a, b    *model.Cluster
	options Options
	diff    *Diff
	rank    int
}

// bothRead reports whether both sides have read a part. If not, it adds name to NotCompared.
func (p *pair) bothRead(name string, needs model.Part) bool {
	if p.a.Loaded.Has(needs) && p.b.Loaded.Has(needs) {
		return true
	}
	p.diff.NotCompared = append(p.diff.NotCompared, name)
	return false
}

func (p *pair) add(c Change) {
	c.rank = p.rank
	c.FromNames, c.ToNames = cmp.Or(c.FromNames, c.From), cmp.Or(c.ToNames, c.To)
	p.diff.Changes = append(p.diff.Changes, c)
}

// collectionRef returns the Ref of a collection, with the name from the newer side if that has one. A
// collection without a name on either side is named by its id.
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

// summarize counts the changes of each collection. It requires sorted changes, in which the changes of a
// collection are adjacent.
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
		again := i > 0 && p.diff.Changes[i-1].Object == c.Object // another field of the same object
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
