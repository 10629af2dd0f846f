package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// Limits bound what a prediction may cost. The zero values are the defaults.
type Limits struct {
	// BuildRows is how many rows graphs are built of in all, for one prediction: 200,000; less than 0 builds none. What is beyond is
	// computed from the model.
	// Which segments are built depends on their order alone, so that a prediction can be repeated.
	BuildRows int64
	// CopyBytes is how many bytes of vectors are copied where segments are cut anew: 1 GiB.
	CopyBytes int64
	// Queries are taken of the log to measure costs and recall, evenly spaced: 64. Rounds is how often each is asked: 3.
	Queries, Rounds int
}

func (l Limits) withDefaults() Limits {
	l.BuildRows, l.CopyBytes = cmp.Or(l.BuildRows, 200_000), cmp.Or(l.CopyBytes, 1<<30)
	l.Queries, l.Rounds = cmp.Or(max(0, l.Queries), 64), cmp.Or(max(0, l.Rounds), 3)
	return l
}

// artifacts are the real vectors, and what was built of them. Segments that were made are released with it.
type artifacts struct {
	base    map[int64]*segment.Segment
	layout  map[int64]*replay.Segment // of the base
	options segment.Options
	limits  Limits
	step    func(string)
	// collection is its name, for errors.
	collection string

	made   map[string]*segment.Segment // by signature; nil where it cannot be made
	rowsOf map[string][]span           // of what is there, of rows that are loaded
	why    map[string]string           // why it cannot
	rows   int64                       // that graphs were built of
	copied int64                       // bytes
}

func newArtifacts(l *replay.Layout, base map[int64]*segment.Segment, o segment.Options, limits Limits, step func(string)) *artifacts {
	h := &artifacts{
		base: base, layout: map[int64]*replay.Segment{}, options: o, limits: limits, step: step, collection: l.Collection.Name,
		made: map[string]*segment.Segment{}, rowsOf: map[string][]span{}, why: map[string]string{"copy": "are more of the same"},
	}
	for i := range l.Segments {
		h.layout[l.Segments[i].ID] = &l.Segments[i]
	}
	return h
}

// piece is a segment of a variant with its vectors.
type piece struct {
	*replay.Segment
	signature string // equal ones cost the same
	spans     []span
	real      *segment.Segment // nil if it is not here
	why       string           // then
	own       bool             // as the cluster has it: its index file, if any
	covered   float64          // share of its rows that is here
}

// pieces finds the vectors of a variant's segments, and builds their graphs, as far as the limits let it.
func (h *artifacts) pieces(ctx context.Context, v *variant) ([]*piece, error) {
	list := make([]*piece, len(v.Segments))
	wanted, first := map[string]*piece{}, []*piece{}
	for i := range v.Segments {
		p := h.piece(v, &v.Segments[i])
		list[i] = p
		if wanted[p.signature] == nil {
			wanted[p.signature] = p
			first = append(first, p)
		}
	}
	if err := h.make(ctx, first); err != nil {
		return nil, err
	}
	for _, p := range list {
		p.real, p.why = h.made[p.signature], h.why[p.signature]
		p.covered = h.cover(p)
	}
	return list, nil
}

// piece names what a segment consists of.
func (h *artifacts) piece(v *variant, s *replay.Segment) *piece {
	p := &piece{Segment: s, spans: v.from[s.ID]}
	if v.copies[s.ID] {
		p.signature = "copy"
		return p
	}
	if p.spans == nil {
		p.spans = []span{{s.ID, 0, s.Rows}}
		base := h.layout[s.ID]
		p.own = base != nil && base.State == s.State && base.Index == s.Index
	}
	p.signature = signature(p)
	return p
}

// signature is equal for segments that cost the same.
func signature(p *piece) string {
	var b strings.Builder
	switch {
	case p.State != replay.Indexed:
		b.WriteString("rows") // growing and unindexed ones are searched alike
	case p.own:
		b.WriteString("own")
	default:
		fmt.Fprintf(&b, "%s/%d/%d/%d", p.Index.Type, p.Index.M, p.Index.EFConstruction, p.Index.NList)
	}
	for _, s := range p.spans {
		b.WriteByte(' ')
		b.WriteString(strconv.FormatInt(s.segment, 10))
		if s.rows >= 0 {
			fmt.Fprintf(&b, ":%d+%d", s.first, s.rows)
		}
	}
	return b.String()
}

// cover is the share of a piece's rows that was loaded.
func (h *artifacts) cover(p *piece) float64 {
	if p.real == nil {
		return 0
	}
	if p.Rows <= 0 {
		return 1
	}
	return min(1, float64(p.real.Rows)/float64(p.Rows))
}

// make puts together what is not there yet, and builds graphs with one thread each, so that they come out the same every time.
func (h *artifacts) make(ctx context.Context, list []*piece) error {
	for _, p := range list {
		if _, done := h.made[p.signature]; done || h.why[p.signature] != "" {
			continue
		}
		s, why := h.gather(p)
		if s != nil && !p.own && p.State == replay.Indexed {
			if why = h.buildable(p, s); why == "" {
				h.rows += int64(s.Rows)
				h.step(fmt.Sprintf("build graph of segment %d, %d rows", p.ID, s.Rows))
				var err error
				if s, err = buildGraph(ctx, s, p.Index, h.options); ctx.Err() != nil {
					return ctx.Err()
				} else if err != nil {
					why = err.Error()
				}
			}
		}
		if why != "" {
			h.why[p.signature] = why
			continue
		}
		h.made[p.signature] = s
	}
	return ctx.Err()
}

// buildable says why no graph is built of a segment; "" if one is.
func (h *artifacts) buildable(p *piece, s *segment.Segment) string {
	switch {
	case p.Index.Type != typeHNSW:
		return p.Index.Type + " is not built here"
	case !floats(s):
		return "only float32 vectors get graphs"
	case s.Rows == 0:
		return "no rows"
	case h.limits.BuildRows < 0:
		return "building graphs is turned off"
	case h.rows+int64(s.Rows) > h.limits.BuildRows:
		return fmt.Sprintf("more than %d rows to build", h.limits.BuildRows)
	}
	return ""
}

// buildGraph returns the segment with a graph of its rows, as knowhere lays it.
func buildGraph(ctx context.Context, s *segment.Segment, x replay.Index, o segment.Options) (*segment.Segment, error) {
	g, err := hnsw.Build(ctx, s.Vectors, hnsw.BuildOptions{
		M: x.M, EFConstruction: x.EFConstruction, Metric: s.Metric, Threads: 1, Library: o.Library,
	})
	if err != nil {
		return nil, fmt.Errorf("build a graph of segment %d: %w", s.ID, err)
	}
	c := *s
	c.Index = &index.File{
		Name: "built", Metric: s.Metric, MetricKnown: true, Dim: s.Vectors.Dim, Rows: s.Rows, Searchable: index.FromGraph(g),
	}
	return &c, nil
}

// gather puts the rows of a piece together. Nothing is copied where they lie together.
func (h *artifacts) gather(p *piece) (s *segment.Segment, why string) {
	rows, bytes := 0, int64(0)
	var parts []span
	for _, part := range p.spans {
		from := h.base[part.segment]
		if from == nil {
			return nil, fmt.Sprintf("segment %d is not loaded", part.segment)
		}
		last := int64(from.Rows)
		if part.rows >= 0 {
			last = min(last, part.first+part.rows)
		}
		if last <= part.first {
			continue
		}
		parts = append(parts, span{segment: part.segment, first: part.first, rows: last - part.first})
		rows += int(last - part.first)
		bytes += (last - part.first) * int64(from.Vectors.Stride)
	}
	if len(parts) == 0 {
		return nil, "its rows are not loaded"
	}
	h.rowsOf[p.signature] = parts
	first := h.base[parts[0].segment]
	if len(parts) == 1 && rows == first.Rows {
		c := *first
		switch {
		case !p.own || p.State != replay.Indexed:
			c.Index = nil
		case c.Index == nil && c.Refused != nil:
			return nil, "its index cannot be searched here: " + c.Refused.Error()
		case c.Index == nil:
			return nil, "its index was not loaded"
		}
		return &c, ""
	}
	if h.copied+bytes > h.limits.CopyBytes {
		return nil, fmt.Sprintf("more than %d MiB of vectors to copy", h.limits.CopyBytes>>20)
	}
	h.copied += bytes
	return h.join(p.ID, parts, rows)
}

// join copies rows of one or several segments into a new one.
func (h *artifacts) join(id int64, parts []span, rows int) (*segment.Segment, string) {
	like := h.base[parts[0].segment]
	vectors, err := engine.NewVectors(like.Vectors.Element, like.Vectors.Dim, rows)
	if err != nil {
		return nil, err.Error()
	}
	s := &segment.Segment{ID: id, Rows: rows, Vectors: vectors, Deleted: engine.NewBitset(rows), Metric: like.Metric}
	at := 0
	for _, p := range parts {
		from, first, last := h.base[p.segment], int(p.first), int(p.first+p.rows)
		if from.Vectors.Dim != vectors.Dim || from.Vectors.Element != vectors.Element {
			return nil, fmt.Sprintf("segments %d and %d have different vectors", like.ID, from.ID)
		}
		for row := first; row < last; row++ {
			copy(vectors.Row(at), from.Vectors.Row(row))
			if from.Deleted.Has(row) {
				s.Deleted.Set(at)
			}
			at++
		}
		if from.Strings != nil {
			s.Strings = append(s.Strings, from.Strings[first:last]...)
		} else {
			s.Int64s = append(s.Int64s, from.Int64s[first:last]...)
		}
		if len(from.Timestamps) == from.Rows {
			s.Timestamps = append(s.Timestamps, from.Timestamps[first:last]...)
		}
	}
	return s, ""
}

// subject is a piece that is here.
func (h *artifacts) subject(p *piece) *subject {
	return &subject{real: p.real, spans: h.rowsOf[p.signature], rowsOnly: p.State != replay.Indexed}
}

// wholeOf searches all rows of a segment.
func wholeOf(s *segment.Segment, rowsOnly bool) *subject {
	return &subject{real: s, spans: []span{{segment: s.ID, rows: int64(s.Rows)}}, rowsOnly: rowsOnly}
}

// firstOf is the first rows of a segment, without copying them and without an index.
func firstOf(s *segment.Segment, rows int) (*segment.Segment, error) {
	rows = min(rows, s.Rows)
	v, err := s.Vectors.Slice(0, rows)
	if err != nil {
		return nil, err
	}
	c := &segment.Segment{ID: s.ID, Rows: rows, Vectors: v, Deleted: engine.NewBitset(rows), Metric: s.Metric}
	if s.Strings != nil {
		c.Strings = s.Strings[:rows]
	} else {
		c.Int64s = s.Int64s[:rows]
	}
	return c, nil
}

// largest are the loaded segments with the most rows, at most n.
func (h *artifacts) largest(n int) []*segment.Segment {
	ids := slices.Sorted(maps.Keys(h.base))
	list := make([]*segment.Segment, 0, len(ids))
	for _, id := range ids {
		if h.base[id].Rows > 0 {
			list = append(list, h.base[id])
		}
	}
	slices.SortStableFunc(list, func(a, b *segment.Segment) int { return b.Rows - a.Rows })
	return list[:min(n, len(list))]
}
