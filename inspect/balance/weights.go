package balance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Weights say what a search costs, in rows compared times dimensions.
//
// An index is weighed by the rows that a search compares in a segment of it:
//
//   - a graph (HNSW, DISKANN, CAGRA): GraphRows x M x EF, whatever its size. That is what faiss counts
//     for HNSW with M 16 on a million SIFT vectors: 478 rows a query at ef 16, of which 1 in 1.42 was
//     new, hence 1.3 x M x ef (facebookresearch/faiss issue 3819).
//   - inverted lists (IVF_*, SCANN): nlist centres and Probes/nlist of its rows. knowhere probes 8 lists
//     unless the search says otherwise (knowhere, ivf_config.h: nprobe). A quantised row counts as a whole one.
//   - a sparse index: SparseShare of its rows. Sparse vectors count as SparseDim dimensions.
//
// None of them more than all rows. What searches really ask for (ef, nprobe, filters) only
// a replay can tell. The interim index that a growing segment gets when it is large is left out.
type Weights struct {
	// Brute is the cost of a row and dimension that is compared one by one; 1.
	Brute float64 `doc:"brute_force"`
	// GraphRows is how many rows a graph search compares for each of M x EF; EF is the assumed ef.
	GraphRows, EF float64
	// Probes is the assumed nprobe.
	Probes float64 `doc:"nprobe"`
	// SparseShare is the part of its rows that a sparse index compares, SparseDim what a sparse vector has.
	SparseShare float64
	SparseDim   float64 `doc:"sparse_dimensions"`
	// From says where the weights come from, for people.
	From string
}

// DefaultWeights are estimates from what others have published.
func DefaultWeights() Weights {
	return Weights{Brute: 1, GraphRows: 1.3, EF: 64, Probes: 8, SparseShare: 0.1, SparseDim: 100, From: "estimates until replay measures them"}
}

// String is the weights in one line: "brute force 1 a row and dimension; ...".
func (w *Weights) String() string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	return fmt.Sprintf("brute force %s a row and dimension; graph indexes %s x M x ef rows a segment, ef %s; IVF nlist + rows x nprobe/nlist, nprobe %s; sparse %s of the rows; %s",
		f(w.Brute), f(w.GraphRows), f(w.EF), f(w.Probes), f(w.SparseShare), w.From)
}

// shape is how an index is searched.
type shape uint8

const (
	// flat: every row is compared.
	flat shape = iota
	graph
	lists
	sparse
)

// indexing is what the cost of a segment behind an index depends on.
type indexing struct {
	shape    shape
	m, nlist float64
}

// Defaults of knowhere where an index names none (hnsw_config.h: M 30; ivf_config.h: nlist 128), and of
// Milvus for AUTOINDEX (autoindex_param.go: M 18). DISKANN's graph has up to 56 neighbours, as many as
// HNSW with M 28; CAGRA's 64 unless told otherwise.
const (
	defaultM     = 30
	autoM        = 18
	diskM        = 28
	defaultNlist = 128
)

// indexingOf reads an index definition.
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
	return indexing{shape: graph, m: defaultM} // an index that came later: surely better than brute force
}

// indexingFor reads an index definition of a field: what AUTOINDEX is depends on its type (autoindex_param.go: a graph, an inverted
// index for sparse vectors, BIN_IVF_FLAT with 1,024 lists for binary ones; the latter two since 2.4.5).
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

// compared is how many rows a search compares in a segment of some rows.
func (w *Weights) compared(x indexing, rows float64) float64 {
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

// dimensions is what comparing a row of a field costs, in dimensions of a float vector. A
// binary vector compares 32 bits at the price of one.
func (w *Weights) dimensions(f *model.Field) float64 {
	switch f.Type {
	case "SparseFloatVector":
		return w.SparseDim
	case "BinaryVector":
		return float64(f.Dim) / 32
	}
	return float64(f.Dim)
}

// costing is what segments of one collection cost, worked out once.
type costing struct {
	weights *Weights
	fields  []vectorField
	// all is the cost of a row that is compared in every vector field.
	all float64
	// defined stands for a segment that has every index its collection defines.
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
		x.all += v.dimensions * w.Brute
	}
	return x
}

// indexOf is how the index that a node has loaded for a field is searched; flat if there is none.
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

// sealed is what a sealed segment costs. indexed says that every vector field is behind an index.
func (x *costing) sealed(rows int64, loaded []model.ServedIndex) (cost, brute float64, indexed bool) {
	indexed = len(x.fields) > 0
	for i := range x.fields {
		f := &x.fields[i]
		how := f.indexOf(loaded)
		part := x.weights.compared(how, float64(rows)) * f.dimensions * x.weights.Brute
		cost += part
		if how.shape == flat {
			brute += part
			indexed = false
		}
	}
	return cost, brute, indexed
}

// Walks reports whether a collection has a graph: a search of it goes from row to row, wherever in memory each lies.
func (s *Survey) Walks(id model.CollectionID) bool {
	x := s.costs[id]
	if x == nil && s.cluster != nil {
		x = s.Weights.costingOf(s.cluster, id)
	}
	return x != nil && slices.ContainsFunc(x.fields, func(f vectorField) bool {
		return f.indexOf(x.defined).shape == graph
	})
}

// growing is what growing rows cost: all are compared.
func (x *costing) growing(rows int64) float64 { return float64(rows) * x.all }

// SegmentCost is what a search of a sealed segment of a collection costs that has so many rows, and every index that is defined; 0 if
// nothing is known of the collection.
func (s *Survey) SegmentCost(id model.CollectionID, rows int64) float64 {
	x := s.costs[id]
	if x == nil && s.cluster != nil {
		x = s.Weights.costingOf(s.cluster, id)
	}
	if x == nil {
		return 0
	}
	cost, _, _ := x.sealed(rows, x.defined)
	return cost
}
