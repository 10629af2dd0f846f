package balance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Weights determine the cost of a search, in rows compared times dimensions.
//
// An index is weighed by the number of rows that a search compares in an indexed segment:
//
//   - a graph (HNSW, DISKANN, CAGRA): GraphRows x M x EF, regardless of the size. That is faiss's count
//     for HNSW with M 16 on a million SIFT vectors: 478 rows a query at ef 16, 1 in 1.42 being
//     new, hence 1.3 x M x ef (facebookresearch/faiss issue 3819).
//   - inverted lists (IVF_*, SCANN): nlist centres and Probes/nlist of its rows. knowhere probes 8 lists
//     unless the search sets nprobe (knowhere, ivf_config.h: nprobe). A quantized row counts as a whole one.
//   - a sparse index: SparseShare of its rows. Sparse vectors count as SparseDim dimensions.
//
// An index never counts more than all rows. Only a replay can measure the parameters of actual searches (ef,
// nprobe, filters). The interim index of a large growing segment is ignored.
type Weights struct {
	// Brute is the cost of a brute-force comparison, per row and dimension; 1.
	Brute float64 `doc:"brute_force"`
	// GraphRows is the number of rows that a graph search compares, per M x EF. EF is the assumed ef.
	GraphRows, EF float64
	// Probes is the assumed nprobe.
	Probes float64 `doc:"nprobe"`
	// SparseShare is the fraction of its rows that a sparse index compares. SparseDim is the assumed number of
	// dimensions of a sparse vector.
	SparseShare float64
	SparseDim   float64 `doc:"sparse_dimensions"`
	// From describes the origin of the weights, for display.
	From string
}

// DefaultWeights returns estimates from published measurements.
func DefaultWeights() Weights {
	return Weights{
		Brute: 1, GraphRows: 1.3, EF: 64, Probes: 8, SparseShare: 0.1, SparseDim: 100,
		From: "estimated, not measured by replay",
	}
}

// String formats the weights in one line, e.g. "brute force 1 per row and dimension; ...".
func (w *Weights) String() string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	return fmt.Sprintf("brute force %s per row and dimension; graph indexes %s x M x ef rows per segment, ef %s; IVF "+
		"nlist + rows x nprobe/nlist, nprobe %s; sparse %s of the rows; %s",
		f(w.Brute), f(w.GraphRows), f(w.EF), f(w.Probes), f(w.SparseShare), w.From)
}

// shape is the search method of an index.
type shape uint8

const (
	// flat compares every row.
	flat shape = iota
	graph
	lists
	sparse
)

// indexing holds the index parameters that determine the cost of a segment.
type indexing struct {
	shape    shape
	m, nlist float64
}

// Defaults of knowhere for missing parameters (hnsw_config.h: M 30; ivf_config.h: nlist 128), and of Milvus for
// AUTOINDEX (autoindex_param.go: M 18). DISKANN's graph has up to 56 neighbours, as many as HNSW with M 28.
// CAGRA's has 64 unless configured.
const (
	defaultM     = 30
	autoM        = 18
	diskM        = 28
	defaultNlist = 128
)

// indexingOf decodes an index definition.
func indexingOf(x *model.Index) indexing {
	param := func(name string, otherwise float64) float64 {
		for _, list := range [][]model.Pair{x.Params, x.UserParams} {
			for _, p := range list {
				if v, err := strconv.ParseFloat(p.Value, 64); p.Key == name && err == nil && v > 0 {
					return v
				}
			}
		}
		return otherwise
	}
	t := strings.TrimPrefix(strings.ToUpper(x.Type), "GPU_")
	switch {
	case t == "" || t == "FLAT" || t == "BIN_FLAT" || t == "BRUTE_FORCE":
		return indexing{}
	case t == "AUTOINDEX":
		return indexing{shape: graph, m: param("M", autoM)}
	case strings.Contains(t, "HNSW"):
		return indexing{shape: graph, m: param("M", defaultM)}
	case t == "DISKANN", t == "NSG", t == "RNSG":
		return indexing{shape: graph, m: diskM}
	case t == "CAGRA":
		return indexing{shape: graph, m: param("graph_degree", 2*diskM) / 2}
	case strings.Contains(t, "IVF"), t == "SCANN":
		return indexing{shape: lists, nlist: param("nlist", defaultNlist)}
	case strings.HasPrefix(t, "SPARSE"):
		return indexing{shape: sparse}
	}
	return indexing{shape: graph, m: defaultM} // a newer index, certainly better than brute force
}

// indexingFor decodes the index definition of a field. AUTOINDEX depends on the field's type (autoindex_param.go:
// a graph, an inverted index for sparse vectors, BIN_IVF_FLAT with 1,024 lists for binary ones; the latter two
// since 2.4.5).
func indexingFor(x *model.Index, f *model.Field) indexing {
	if strings.EqualFold(x.Type, "AUTOINDEX") {
		const binaryLists = 1024
		switch f.Type {
		case "SparseFloatVector":
			return indexing{shape: sparse}
		case "BinaryVector":
			return indexing{shape: lists, nlist: binaryLists}
		}
	}
	return indexingOf(x)
}

// comparedRows returns the number of rows that a search compares in a segment.
func (w *Weights) comparedRows(x indexing, rows float64) float64 {
	switch x.shape {
	case graph:
		return min(rows, w.GraphRows*x.m*w.EF)
	case lists:
		return min(rows, x.nlist+rows*min(1, w.Probes/x.nlist))
	case sparse:
		return rows * w.SparseShare
	case flat:
	}
	return rows
}

// dimensions returns the cost of comparing a row of a field, in dimensions of a float vector. Comparing 32
// bits of a binary vector costs as much as one dimension.
func (w *Weights) dimensions(f *model.Field) float64 {
	switch f.Type {
	case "SparseFloatVector":
		return w.SparseDim
	case "BinaryVector":
		return float64(f.Dim) / 32
	}
	return float64(f.Dim)
}

// costing caches the costs of the segments of a collection.
type costing struct {
	weights *Weights
	fields  []vectorField
	// rowCost is the cost of a row that is compared in every vector field.
	rowCost float64
	// defined represents a segment with every index that its collection defines.
	defined []model.ServedIndex
}

type vectorField struct {
	id         model.FieldID
	dimensions float64
	indexes    []fieldIndex
}

type fieldIndex struct {
	id model.IndexID
	indexing
}

func (w *Weights) costingOf(c *model.Cluster, id model.CollectionID) *costing {
	x := &costing{weights: w}
	collection := c.Collection(id)
	if collection == nil {
		return x
	}
	for _, f := range collection.Fields {
		if !f.Vector() {
			continue
		}
		v := vectorField{id: f.ID, dimensions: w.dimensions(f)}
		for _, i := range c.IndexesOf(id) {
			if i.Field == f.ID {
				v.indexes = append(v.indexes, fieldIndex{i.ID, indexingFor(i, f)})
				if !i.Deleted {
					x.defined = append(x.defined, model.ServedIndex{Field: f.ID, Index: i.ID})
				}
			}
		}
		x.fields = append(x.fields, v)
		x.rowCost += v.dimensions * w.Brute
	}
	return x
}

// indexOf returns the search method of the index that a node has loaded for a field, or flat without an
// index.
func (f *vectorField) indexOf(loaded []model.ServedIndex) indexing {
	for i := range loaded {
		if loaded[i].Field != f.id {
			continue
		}
		for j := range f.indexes {
			if f.indexes[j].id == loaded[i].Index {
				return f.indexes[j].indexing
			}
		}
	}
	return indexing{}
}

// sealedCost returns the cost of a sealed segment and its brute-force part. indexed reports whether every vector field
// is behind an index.
func (x *costing) sealedCost(rows int64, loaded []model.ServedIndex) (cost, brute float64, indexed bool) {
	indexed = len(x.fields) > 0
	for i := range x.fields {
		f := &x.fields[i]
		how := f.indexOf(loaded)
		part := x.weights.comparedRows(how, float64(rows)) * f.dimensions * x.weights.Brute
		cost += part
		if how.shape == flat {
			brute += part
			indexed = false
		}
	}
	return cost, brute, indexed
}

// HasGraphIndex reports whether a collection has a graph index. A search then accesses rows at random positions in
// memory.
func (s *Survey) HasGraphIndex(id model.CollectionID) bool {
	x := s.costs[id]
	if x == nil && s.cluster != nil {
		x = s.Weights.costingOf(s.cluster, id)
	}
	return x != nil && slices.ContainsFunc(x.fields, func(f vectorField) bool {
		return f.indexOf(x.defined).shape == graph
	})
}

// growingCost returns the cost of growing rows, which are all compared.
func (x *costing) growingCost(rows int64) float64 { return float64(rows) * x.rowCost }

// SegmentCost returns the search cost of a sealed segment with a number of rows and every defined index. It
// returns 0 if the collection is unknown.
func (s *Survey) SegmentCost(id model.CollectionID, rows int64) float64 {
	x := s.costs[id]
	if x == nil && s.cluster != nil {
		x = s.Weights.costingOf(s.cluster, id)
	}
	if x == nil {
		return 0
	}
	cost, _, _ := x.sealedCost(rows, x.defined)
	return cost
}
