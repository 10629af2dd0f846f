package engine

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

// SearchParams holds the parameters of a search other than k. Milvus calls them search params. Each applies to some
// kinds of indexes (SearchParam.Trait) and is ignored by the others. An unset parameter has the default of the library
// or of the index file.
type SearchParams struct {
	// EF is the size of the candidate list of a graph search. NProbe is the number of lists that an IVF search
	// reads.
	EF, NProbe int
	SparseParams
}

// MaxRefineFactor is the maximum of SparseParams.RefineFactor.
const MaxRefineFactor = 1000

// SparseParams holds the parameters for sparse vectors, documented in package engine/sparse. A value of 0 is the
// library's default.
type SparseParams struct {
	DropRatio, MaxScoreRatio, AvgDL float32
	RefineFactor                    int
}

// Trait is a property of an index. A search parameter applies to the indexes that have its trait.
type Trait uint8

// The traits of indexes. HasDocuments means that scores depend on the mean document length.
const (
	HasGraph Trait = iota
	HasLists
	HasSparse
	HasDocuments
)

func (t Trait) String() string {
	return [...]string{
		"an HNSW index", "an IVF index", "an index of sparse vectors",
		"an index of documents",
	}[t]
}

// SearchParam describes one field of SearchParams.
type SearchParam struct {
	Key   string // Milvus's name (knowhere v2.6.9, index_param.h and sparse_inverted_index_config.h)
	Flag  string // name of the command-line flag; empty for none
	Trait Trait
	// Help is the help text. IndexHelp is appended to it by commands that search indexes, and ReplayHelp by commands
	// that replay logs. Both describe the default. In a replay, a parameter without ReplayHelp can come only from the
	// log.
	Help, IndexHelp, ReplayHelp string
	Range                       string // accepted values in words: lower to upper and, if free is set, 0 for unset

	lower, upper float64
	free         bool
	// intField and floatField return the field in SearchParams; 0 means unset. Exactly one is set.
	intField   func(*SearchParams) *int
	floatField func(*SearchParams) *float32
}

// searchParams holds all parameters in display order.
var searchParams = [...]SearchParam{
	{
		Key: "ef", Flag: "ef", Trait: HasGraph, Range: "1 to 2147483647", lower: 1, upper: math.MaxInt32, free: true,
		Help: "candidates of an HNSW search", IndexHelp: "; default: the file's, or the library's",
		ReplayHelp: "; 0 is 64",
		intField:   func(p *SearchParams) *int { return &p.EF },
	},
	{
		Key: "nprobe", Flag: "nprobe", Trait: HasLists, Range: "1 to 2147483647", lower: 1, upper: math.MaxInt32,
		free: true,
		Help: "lists of an IVF search", IndexHelp: "; default: the file's", ReplayHelp: "; 0 for the library's default",
		intField: func(p *SearchParams) *int { return &p.NProbe },
	},
	{
		Key: "drop_ratio_search", Flag: "drop-ratio", Trait: HasSparse, Range: "0 to less than 1",
		upper:      1 - 1.0/(1<<53),
		Help:       "sparse vectors: share of the query's values to leave out, the smallest (drop_ratio_search)",
		floatField: func(p *SearchParams) *float32 { return &p.DropRatio },
	},
	{
		// server only: no skipping here
		Key: "dim_max_score_ratio", Trait: HasSparse, lower: 0.5, upper: 1.3, free: true,
		floatField: func(p *SearchParams) *float32 { return &p.MaxScoreRatio },
	},
	{
		Key: "bm25_avgdl", Trait: HasDocuments,
		floatField: func(p *SearchParams) *float32 { return &p.AvgDL },
	},
	{
		Key: "refine_factor", Flag: "refine-factor", Trait: HasSparse, Range: "1 to 1000", lower: 1,
		upper: MaxRefineFactor, free: true,
		Help:      "sparse vectors: with --drop-ratio, compare so many times k again with the whole query",
		IndexHelp: "; default: the library's",
		intField:  func(p *SearchParams) *int { return &p.RefineFactor },
	},
}

// EachSearchParam returns an iterator over all parameters in display order.
func EachSearchParam() iter.Seq[*SearchParam] {
	return func(yield func(*SearchParam) bool) {
		for i := range searchParams {
			if !yield(&searchParams[i]) {
				return
			}
		}
	}
}

// SearchParamOf returns the parameter with the given key, or nil if there is none.
func SearchParamOf(key string) *SearchParam {
	for f := range EachSearchParam() {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// IsInt reports whether the parameter is an integer.
func (f *SearchParam) IsInt() bool { return f.floatField == nil }

// Accepts reports whether libraries accept the value (see Range). Logs may hold other values, because they also record
// rejected requests.
func (f *SearchParam) Accepts(x float64) bool {
	return x >= f.lower && x <= f.upper || f.free && x == 0
}

// Get returns the value of the parameter in p, and whether it is set.
func (f *SearchParam) Get(p *SearchParams) (x float64, set bool) {
	if f.floatField != nil {
		x = float64(*f.floatField(p))
	} else {
		x = float64(*f.intField(p))
	}
	return x, x != 0
}

// Set sets the parameter in p to x, which must be at least 0. It truncates x to an integer or rounds it to a
// float32.
func (f *SearchParam) Set(p *SearchParams, x float64) {
	if f.floatField != nil {
		*f.floatField(p) = float32(x)
	} else {
		*f.intField(p) = int(x)
	}
}

// Append appends x as JSON. A float32 has the fewest digits that identify it.
func (f *SearchParam) Append(b []byte, x float64) []byte {
	if f.IsInt() {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 32)
}

// Number returns x as an int or a float32, depending on the parameter.
func (f *SearchParam) Number(x float64) any {
	if f.IsInt() {
		return int(x)
	}
	return float32(x)
}

// Given returns an iterator over the parameters that are set, with their values.
func (p *SearchParams) Given() iter.Seq2[*SearchParam, float64] {
	return func(yield func(*SearchParam, float64) bool) {
		for f := range EachSearchParam() {
			if x, set := f.Get(p); set && !yield(f, x) {
				return
			}
		}
	}
}

// Or returns p with its unset parameters taken from q.
func (p SearchParams) Or(q SearchParams) SearchParams {
	for f, x := range q.Given() {
		if _, set := f.Get(&p); !set {
			f.Set(&p, x)
		}
	}
	return p
}

// Words formats the parameters that are set for display, e.g. "ef 64, nprobe 8".
func (p *SearchParams) Words() string {
	var list []string
	for f, x := range p.Given() {
		list = append(list, f.Key+" "+string(f.Append(nil, x)))
	}
	return strings.Join(list, ", ")
}
