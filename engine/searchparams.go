package engine

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

// SearchParams are what a search may ask for beside how many hits it wants: what Milvus calls search params. Each means something to some
// indexes, and nothing to others (SearchParam.Of). What is not set is the library's own, or that of the index's file.
type SearchParams struct {
	// EF is how many candidates a search of a graph keeps, NProbe how many lists one of lists reads.
	EF, NProbe int
	SparseParams
}

// MaxRefineFactor bounds SparseParams.RefineFactor.
const MaxRefineFactor = 1000

// SparseParams are those of sparse vectors; 0 is the library's default. Package engine/sparse says what they do.
type SparseParams struct {
	DropRatio, MaxScoreRatio, AvgDL float32
	RefineFactor                    int
}

// Trait is what an index has, or is, to which a search parameter means something.
type Trait uint8

// The traits. HasDocuments is that of scores that depend on the mean length of documents.
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

// SearchParam is one of SearchParams.
type SearchParam struct {
	Key  string // in logs and documents: Milvus's (knowhere v2.6.9, index_param.h and sparse_inverted_index_config.h)
	Flag string // of commands; empty if none has it
	Of   Trait
	// Means is what it is, for help; Own and Log stand behind it where indexes are searched and where logs are replayed, and say what is asked
	// without it. What has no Log only logs say.
	Means, Own, Log string
	Must            string // which values are taken: least to most and, where free, 0, which is none

	least, most float64
	free        bool
	// One of these is where it lies: 0 is not set.
	whole func(*SearchParams) *int
	part  func(*SearchParams) *float32
}

// searchParams are all of them, in the order in which they are told.
var searchParams = [...]SearchParam{
	{
		Key: "ef", Flag: "ef", Of: HasGraph, Must: "1 to 2147483647", least: 1, most: math.MaxInt32, free: true,
		Means: "candidates of an HNSW search", Own: "; default: the file's, or the library's", Log: "; 0 is 64",
		whole: func(p *SearchParams) *int { return &p.EF },
	},
	{
		Key: "nprobe", Flag: "nprobe", Of: HasLists, Must: "1 to 2147483647", least: 1, most: math.MaxInt32, free: true,
		Means: "lists of an IVF search", Own: "; default: the file's", Log: "; 0 for the library's default",
		whole: func(p *SearchParams) *int { return &p.NProbe },
	},
	{
		Key: "drop_ratio_search", Flag: "drop-ratio", Of: HasSparse, Must: "0 to less than 1", most: 1 - 1.0/(1<<53),
		Means: "sparse vectors: share of the query's values to leave out, the smallest (drop_ratio_search)",
		part:  func(p *SearchParams) *float32 { return &p.DropRatio },
	},
	{
		Key: "dim_max_score_ratio", Of: HasSparse, least: 0.5, most: 1.3, free: true, // of servers: nothing is skipped here
		part: func(p *SearchParams) *float32 { return &p.MaxScoreRatio },
	},
	{
		Key: "bm25_avgdl", Of: HasDocuments,
		part: func(p *SearchParams) *float32 { return &p.AvgDL },
	},
	{
		Key: "refine_factor", Flag: "refine-factor", Of: HasSparse, Must: "1 to 1000", least: 1, most: MaxRefineFactor, free: true,
		Means: "sparse vectors: with --drop-ratio, compare so many times k again with the whole query", Own: "; default: the library's",
		whole: func(p *SearchParams) *int { return &p.RefineFactor },
	},
}

// EachSearchParam are all parameters, in the order in which they are told.
func EachSearchParam() iter.Seq[*SearchParam] {
	return func(yield func(*SearchParam) bool) {
		for i := range searchParams {
			if !yield(&searchParams[i]) {
				return
			}
		}
	}
}

// SearchParamOf is the parameter with a key; nil if none has it.
func SearchParamOf(key string) *SearchParam {
	for f := range EachSearchParam() {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// Whole reports whether it is a whole number.
func (f *SearchParam) Whole() bool { return f.part == nil }

// Takes reports whether libraries take a value (Must). Logs may have others, as they have what was refused.
func (f *SearchParam) Takes(x float64) bool { return x >= f.least && x <= f.most || f.free && x == 0 }

// Get is its value, and whether it is set.
func (f *SearchParam) Get(p *SearchParams) (x float64, set bool) {
	if f.part != nil {
		x = float64(*f.part(p))
	} else {
		x = float64(*f.whole(p))
	}
	return x, x != 0
}

// Set sets it to a value that is 0 or more, cut to what it is: a whole number, or a float32.
func (f *SearchParam) Set(p *SearchParams, x float64) {
	if f.part != nil {
		*f.part(p) = float32(x)
	} else {
		*f.whole(p) = int(x)
	}
}

// Append appends a value as JSON has it: of a float32 as few digits as tell it from its neighbours.
func (f *SearchParam) Append(b []byte, x float64) []byte {
	if f.Whole() {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 32)
}

// Number is a value as what it is: an int, or a float32.
func (f *SearchParam) Number(x float64) any {
	if f.Whole() {
		return int(x)
	}
	return float32(x)
}

// Given are the parameters that are set, with their values.
func (p *SearchParams) Given() iter.Seq2[*SearchParam, float64] {
	return func(yield func(*SearchParam, float64) bool) {
		for f := range EachSearchParam() {
			if x, set := f.Get(p); set && !yield(f, x) {
				return
			}
		}
	}
}

// Or is what p asks for, and of q what p does not.
func (p SearchParams) Or(q SearchParams) SearchParams {
	for f, x := range q.Given() {
		if _, set := f.Get(&p); !set {
			f.Set(&p, x)
		}
	}
	return p
}

// Words are the parameters that are set, for people: "ef 64, nprobe 8".
func (p *SearchParams) Words() string {
	var list []string
	for f, x := range p.Given() {
		list = append(list, f.Key+" "+string(f.Append(nil, x)))
	}
	return strings.Join(list, ", ")
}
