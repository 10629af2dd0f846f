package replay

import (
	"sync"

	"kitescope/engine"
	"kitescope/engine/expr"
	"kitescope/engine/segment"
)

// Loaded is the segments of a Layout in memory, as far as they could be read. It is immutable, and targets share it.
type Loaded struct {
	Layout   *Layout
	Parts    []*Part // in the order of Layout.Segments, without those that are missing
	Coverage Coverage

	plans map[string]*expr.Plan // of the filter expressions of the log that is replayed; nil if it has none
	limit int64                 // LoadOptions.MemoryLimit, which what is read or made later keeps to; 0 none
}

// room is how many bytes more may be taken, negative if any number may.
func (l *Loaded) room() int64 {
	if l.limit <= 0 {
		return -1
	}
	return max(0, l.limit-l.Coverage.Memory)
}

// Part is one segment that was loaded.
type Part struct {
	// Info is the layout's; State is how it is searched here, which is not Info.State where its index could not be had.
	Info  *Segment
	State State
	Data  *segment.Segment

	once    sync.Once
	lookup  *segment.Lookup
	scalars *expr.Columns // that the filters of the log need; nil as long as they were not read
}

// Lookup finds rows by key; it is built when it is first needed.
func (p *Part) Lookup() *segment.Lookup {
	p.once.Do(func() { p.lookup = segment.NewLookup(p.Data) })
	return p.lookup
}

// As is the part as a segment of another layout.
func (p *Part) As(info *Segment) *Part {
	return &Part{Info: info, State: p.State, Data: p.Data, scalars: p.scalars}
}

// Release gives back the memory at once; nothing may use the segments afterwards.
func (l *Loaded) Release() {
	for _, p := range l.Parts {
		p.Data.Release()
	}
	l.Parts = nil
}

// With is the same collection with other segments: what a change of the cluster makes of them, or built of these. The
// parts remain those of whoever made them: Release of one Loaded does not know another.
func (l *Loaded) With(layout *Layout, parts []*Part) *Loaded {
	c := l.Coverage
	c.Loaded, c.Covered, c.Deleted = len(parts), 0, 0
	for _, p := range parts {
		c.Covered += int64(p.Data.Rows)
		c.Deleted += int64(p.Data.Deleted.Count())
	}
	return &Loaded{Layout: layout, Parts: parts, Coverage: c, plans: l.plans, limit: l.limit}
}

// unseen is the share of the rows that were not loaded, -1 unknown.
func (c *Coverage) unseen() float64 {
	switch {
	case c.RowsUnknown > 0:
		return -1
	case c.Covered >= c.Rows:
		return 0
	}
	return 1 - float64(c.Covered)/float64(c.Rows)
}

// Presence is what is known of a key.
type Presence uint8

// What can be known of a key.
const (
	Absent  Presence = iota // in no segment that was loaded
	Deleted                 // in some, and deleted in all of them
	Present
)

// Find reports whether a key is there, and the part that has it; of several that have it one where it is not deleted.
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

// indexName is the type of the index by which a part is searched; "" row by row.
func (p *Part) indexName() string {
	if p.State != Indexed || p.Data.Index == nil {
		return ""
	}
	if p.Info.Index.Type != "" {
		return p.Info.Index.Type
	}
	return p.Data.Index.Kind()
}

// memory is what a part takes: vectors, graph, keys, timestamps.
func (p *Part) memory() int64 {
	g := p.Data
	n := int64(g.Vectors.Bytes()) + int64(len(g.Int64s))*8 + int64(len(g.Timestamps))*8 + int64(g.Rows)/8
	for _, s := range g.Strings {
		n += int64(len(s)) + 16
	}
	if g.Shadow != nil {
		n += int64(g.Shadow.Bytes())
	}
	if g.Index == nil {
		return n
	}
	if vectors, memory := g.Index.Own(); vectors != nil {
		n += int64(memory)
		if vectors != g.Vectors {
			n += int64(vectors.Bytes())
		}
		return n
	}
	return n + int64(g.Index.Bytes)
}

// LoadProgress is how far Load is.
type LoadProgress struct {
	Done, Missing, Of int // segments; Missing are part of Done
	Rows, Bytes       int64
}
