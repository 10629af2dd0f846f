package replay

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay/log"
)

// FromVectors returns a collection with a single segment that is searched row by row, from vectors with their keys,
// for sources that are not clusters.
func FromVectors(source, name string, v *engine.Vectors, keys []int64, m dist.Metric) *Loaded {
	rows := int64(v.Rows)
	layout := &Layout{
		Source:     source,
		Collection: Collection{Name: name, Dim: v.Dim, Element: v.Element, Metric: m},
		Segments:   []Segment{{ID: 1, State: Unindexed, Rows: rows}},
	}
	part := &Part{Info: &layout.Segments[0], State: Unindexed, Data: &segment.Segment{
		ID: 1, Rows: v.Rows, Vectors: v, Int64s: keys, Deleted: engine.NewBitset(v.Rows), Metric: m,
	}}
	cover := Coverage{
		Segments: 1, Loaded: 1, Rows: rows, Covered: rows, Bytes: int64(v.Bytes()), Memory: int64(v.Bytes()),
	}
	return &Loaded{Layout: layout, Parts: []*Part{part}, Coverage: cover}
}

// Sources returns the vectors that queries can be drawn from.
func (l *Loaded) Sources() []log.Source {
	var sources []log.Source
	for _, p := range l.Parts {
		if p.Data.Rows > 0 {
			sources = append(sources, log.Source{Vectors: p.Data.Vectors, Deleted: p.Data.Deleted})
		}
	}
	return sources
}
