package replay

import (
	"sync"

	"kitescope/engine"
	"kitescope/engine/expr"
	"kitescope/engine/segment"
)

// Loaded holds the segments of a Layout in memory, as far as they could be read. It is immutable and shared by
// targets.
type Loaded struct {
	Layout   *Layout
	Parts    []*Part // in the order of Layout.Segments, without missing ones
	Coverage Coverage

	plans map[string]*expr.Plan // by filter expression of the log; nil if it has none
	limit int64                 // LoadOptions.MemoryLimit, which also limits later allocations; 0 for none
}

// memoryLeft returns the number of bytes left below the memory limit, or a negative number if there is no limit.
func (l *Loaded) memoryLeft() int64 {
	if l.limit <= 0 {
		return -1
	}
	return max(0, l.limit-l.Coverage.Memory)
}

// Part is one loaded segment.
type Part struct {
	// Info is the layout's segment. State is how the segment is searched here; it differs from Info.State if the
	// index is missing or refused.
	Info  *Segment
	State State
	Data  *segment.Segment

	once    sync.Once
	lookup  *segment.Lookup
	scalars *expr.Columns // columns for the filters of the log; nil until read
}

// Lookup returns the lookup of rows by key. It is built on first use.
func (p *Part) Lookup() *segment.Lookup {
	p.once.Do(func() { p.lookup = segment.NewLookup(p.Data) })
	return p.lookup
}

// WithInfo returns the part as a segment of another layout.
func (p *Part) WithInfo(info *Segment) *Part {
	return &Part{Info: info, State: p.State, Data: p.Data, scalars: p.scalars}
}

// Release frees the memory immediately. The segments must not be used afterwards.
func (l *Loaded) Release() {
	for _, p := range l.Parts {
		p.Data.Release()
	}
	l.Parts = nil
}

// With returns the same collection with other segments, e.g. the segments after a change of the cluster, or
// segments built from the loaded ones. The parts still belong to their creator: Release of one Loaded does not
// affect the other.
func (l *Loaded) With(layout *Layout, parts []*Part) *Loaded {
	c := l.Coverage
	c.Loaded, c.Covered, c.Deleted = len(parts), 0, 0
	for _, p := range parts {
		c.Covered += int64(p.Data.Rows)
		c.Deleted += int64(p.Data.Deleted.Count())
	}
	return &Loaded{Layout: layout, Parts: parts, Coverage: c, plans: l.plans, limit: l.limit}
}

// missingShare returns the share of rows that were not loaded, -1 if unknown.
func (c *Coverage) missingShare() float64 {
	switch {
	case c.RowsUnknown > 0:
		return -1
	case c.Covered >= c.Rows:
		return 0
	}
	return 1 - float64(c.Covered)/float64(c.Rows)
}

// Presence is the result of looking up a key.
type Presence uint8

// The results of a lookup.
const (
	Absent  Presence = iota // in no segment that was loaded
	Deleted                 // in at least one segment, and deleted wherever it is
	Present
)

// Find looks up a key and returns a part that has it, preferably one where it is not deleted.
func (l *Loaded) Find(k engine.Key) (Presence, *Part) {
	found, where := Absent, (*Part)(nil)
	var few [4]int
	for _, p := range l.Parts {
		for _, row := range p.Lookup().Rows(k, few[:0]) {
			if !p.Data.Deleted.Has(row) {
				return Present, p
			}
			found, where = Deleted, p
		}
	}
	return found, where
}

// indexName returns the type of the index by which a part is searched; "" for row by row.
func (p *Part) indexName() string {
	if p.State != Indexed || p.Data.Index == nil {
		return ""
	}
	if p.Info.Index.Type != "" {
		return p.Info.Index.Type
	}
	return p.Data.Index.Kind()
}

// memory returns the memory of a part in bytes: vectors, graph, keys, timestamps.
func (p *Part) memory() int64 {
	g := p.Data
	n := int64(g.Vectors.Bytes()) + int64(len(g.Int64s))*8 + int64(len(g.Timestamps))*8 + int64(g.Rows)/8
	for _, s := range g.Strings {
		n += int64(len(s)) + 16
	}
	if g.Codes != nil {
		n += int64(g.Codes.Bytes())
	}
	if g.Index == nil {
		return n
	}
	if vectors, memory := g.Index.OwnMemory(); vectors != nil {
		n += int64(memory)
		if vectors != g.Vectors {
			n += int64(vectors.Bytes())
		}
		return n
	}
	return n + int64(g.Index.Bytes)
}

// LoadProgress is the progress of Load.
type LoadProgress struct {
	Done, Missing, Total int // in segments; Done includes Missing
	Rows, Bytes          int64
}
