package index

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/prefilter"
)

// HNSW is the kind of an HNSW graph.
const HNSW = "HNSW"

// FromGraph returns a graph as a Searchable.
func FromGraph(x *hnsw.Index) Searchable { return graphIndex{x: x} }

type graphIndex struct {
	x *hnsw.Index
}

func (g graphIndex) Kind() string          { return HNSW }
func (g graphIndex) Effort() Effort        { return ByEF }
func (g graphIndex) Element() dist.Element { return g.x.Element() }
func (g graphIndex) FiltersIDs() bool      { return false }
func (g graphIndex) concrete() any         { return g.x }

func (g graphIndex) relabel(labels []int64) *FormatError {
	g.x.Labels = labels
	return nil
}

func (g graphIndex) OwnMemory() (*engine.Vectors, int) {
	x := g.x
	return x.Vectors, 4*(len(x.Base)+len(x.Upper)+len(x.UpperAt)+len(x.Norms)) + len(x.Levels)
}

func (g graphIndex) Quantize(threads int) error { return g.x.Quantize(threads) }

func (g graphIndex) ReleaseCodes() { releaseCodes(&g.x.Codes) }

func (g graphIndex) CodesPay(searches int) bool {
	v := g.x.Vectors
	return prefilter.Fits(v, g.x.Metric) == nil && v.Rows >= minCodeRows && v.Dim >= graphDim &&
		searches >= graphSearches
}

func (g graphIndex) CodeBytes() (bytes int, have bool) {
	return codeBytes(g.x.Codes, g.x.Vectors, g.x.Metric, prefilter.RowsBytes)
}

func (g graphIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) { yield(g.x.Vectors, g.x.Labels) }
}

func (g graphIndex) Exact(p Params) (Searchable, Params) {
	x := g.x
	return FromRows(&flat.Index{
		Vectors: x.Vectors, Metric: x.Metric, Norms: x.Norms, Labels: x.Labels, Deleted: x.Deleted,
	}), p
}

func (g graphIndex) NewSearcher(o Options) (Searcher, error) {
	s, err := g.x.NewSearcher(hnsw.Options{Library: o.Library})
	return &graphSearcher{s, g, o}, err
}

type graphSearcher struct {
	*hnsw.Searcher
	graph   graphIndex
	options Options
}

func (s *graphSearcher) Clone() (Searcher, error) { return s.graph.NewSearcher(s.options) }

func (s *graphSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	dst, stats, err := s.Searcher.Search(q, hnsw.Params{K: p.K, EF: p.EF, Filter: p.Filter}, dst)
	return dst, Cost{Distances: stats.Distances, Hops: stats.Hops + stats.UpperHops, BruteForce: stats.BruteForce}, err
}

func (g graphIndex) Describe(d *Description) {
	x := g.x
	s := x.Graph.Describe()
	d.Count("M", "m", x.M)
	d.Count("efConstruction", "ef_construction", x.EFConstruction)
	if x.EFSearch > 0 {
		d.Count("efSearch", "ef_search", x.EFSearch)
	}
	if x.MaxElements > 0 {
		d.Count("capacity", "max_elements", x.MaxElements)
	}
	d.Count("deleted", "deleted", x.Deleted.Count())
	if x.Labels != nil {
		d.Text("ids", "stored labels")
	} else {
		d.Text("ids", "row numbers")
	}
	d.codes(g)
	if len(x.Levels) == 0 {
		return
	}
	d.Count("entry node", "entry", int(x.Entry))
	share := 1.0
	if s.Links > 0 {
		share = float64(s.Symmetric) / float64(s.Links)
	}
	d.Facts = append(d.Facts, Fact{
		Name: "links both ways", Text: fmt.Sprintf("%.1f%% of %d", 100*share, s.Links), Key: "symmetric", Number: share,
	})
	d.faults(s, len(x.Levels))
	for i, l := range s.Levels {
		d.Levels = append(d.Levels, Level{i, l.Nodes, l.Min, l.Median, l.Max, l.Mean})
	}
}

// faults adds the faults of a graph, and the number of nodes that no search reaches.
func (d *Description) faults(s *hnsw.Shape, nodes int) {
	text := strconv.Itoa(s.Unreachable)
	if s.Unreachable > 0 {
		text += fmt.Sprintf(" of %d nodes: %v", nodes, s.Examples)
		if s.Unreachable > len(s.Examples) {
			text = strings.TrimSuffix(text, "]") + " ...]"
		}
	}
	d.fault("unreachable", "unreachable", s.Unreachable, text)
	for _, y := range []struct {
		name, key string
		n         int
	}{
		{"links to themselves", "self_links", s.SelfLinks},
		{"links twice in a list", "doubled_links", s.Duplicates},
		{"links to no node", "outside_links", s.Dangling},
		{"links above a node's level", "low_links", s.WrongLevel},
	} {
		if y.n > 0 {
			d.fault(y.name, y.key, y.n, strconv.Itoa(y.n))
		}
	}
	if s.EntryFault != "" {
		d.Facts = append(d.Facts, Fact{Name: "entry", Text: s.EntryFault, IsFault: true})
	}
}
