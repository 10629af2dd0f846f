package target

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/sparse"
)

// Outcome is the result of a check.
type Outcome uint8

// The outcomes.
const (
	Passed Outcome = iota
	Failed
	Skipped // does not apply to this index
)

func (o Outcome) String() string { return [...]string{"passed", "failed", "skipped"}[o] }

// Check is one verified property.
type Check struct {
	Name    string
	Outcome Outcome
	Detail  string
}

// Verification is the result of checking an index for consistency and against its expected vectors.
type Verification struct {
	Target *Target
	Checks []Check
	Plan   VerifyPlan
}

// OK reports whether no check failed.
func (r *Verification) OK() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Outcome == Failed })
}

// VerifyPlan holds the expected ids of an index and the tolerance of Verify.
type VerifyPlan struct {
	// MaxUnreachable is the maximum share of nodes that no search reaches, 0 to 1. Graphs of real indexes have
	// some.
	MaxUnreachable float64
	// IDs holds the expected id of each row; nil if ids are row numbers.
	IDs []int64
}

// Verify compares an index with vectors. Row i is expected under id i, or IDs[i]. It returns an error if the plan
// is invalid or ctx is done. Defects of the index are in the Verification.
func (t *Target) Verify(ctx context.Context, v *engine.Vectors, p VerifyPlan) (*Verification, error) {
	rowOf, err := p.numbering(v.Rows)
	if err != nil {
		return nil, err
	}
	r := &Verification{Target: t, Plan: p}
	same := t.File.Dim == v.Dim
	if v.Element == dist.Sparse && t.File.Element() == dist.Sparse {
		dim := sparse.Dim(v)
		same = dim <= t.File.Dim
		r.add("dimension", same, "%d, the vectors have %d", t.File.Dim, dim)
	} else {
		r.add("dimension", same, "%d, the vectors have %d", t.File.Dim, v.Dim)
	}
	r.add("element type", t.File.Element() == v.Element, "%s, the vectors are %s", t.File.Element(), v.Element)
	r.add("rows", t.File.Rows == v.Rows, "%d, there are %d vectors", t.File.Rows, v.Rows)
	if err := r.links(ctx); err != nil {
		return nil, err
	}
	if !same || t.File.Element() != v.Element {
		r.skip("stored vectors", "dimension or element type differs")
		return r, nil
	}
	return r, r.stored(ctx, v, rowOf)
}

func (r *Verification) add(name string, ok bool, format string, args ...any) {
	c := Check{Name: name, Detail: fmt.Sprintf(format, args...)}
	if !ok {
		c.Outcome = Failed
	}
	r.Checks = append(r.Checks, c)
}

// links checks the graph, if there is one.
func (r *Verification) links(ctx context.Context) error {
	x := index.As[hnsw.Index](r.Target.File)
	if x == nil || len(x.Levels) == 0 {
		r.skip("links", "no graph")
		return nil
	}
	s := x.Describe()
	links := []string{fmt.Sprintf("%d on level 0", s.Links)}
	for _, x := range []struct {
		n    int
		what string
	}{
		{s.Dangling, "to no node"},
		{s.SelfLinks, "to itself"},
		{s.WrongLevel, "above a node's level"},
		{s.Duplicates, "twice"},
	} {
		if x.n > 0 {
			links = append(links, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	r.add("links", s.SelfLinks+s.Dangling+s.WrongLevel == 0, "%s", strings.Join(links, "; "))
	detail := fmt.Sprintf("%d, entered at node %d", x.MaxLevel+1, x.Entry)
	if s.EntryFault != "" {
		detail = s.EntryFault
	}
	r.add("levels", s.EntryFault == "", "%s", detail)
	if s.Links > 0 {
		r.add("links both ways", true, "%.1f%% of them", 100*float64(s.Symmetric)/float64(s.Links))
	}
	share := float64(s.Unreachable) / float64(len(x.Levels))
	r.add("connected", share <= r.Plan.MaxUnreachable, "%d of %d nodes unreachable; allowed: %g%%", s.Unreachable,
		len(x.Levels), 100*r.Plan.MaxUnreachable)
	return ctx.Err()
}

func (r *Verification) skip(name, why string) {
	r.Checks = append(r.Checks, Check{Name: name, Outcome: Skipped, Detail: why})
}

// storedRow is a row of the index and its id.
type storedRow struct {
	id        int64
	row       []byte
	encodesTo func(row []float32) bool // for a code, instead of row: reports whether a vector encodes to it

	metric engine.Metric
}

// matches reports whether the row is the stored form of row i of v.
func (s *storedRow) matches(v *engine.Vectors, i int) bool {
	if s.encodesTo != nil {
		return s.encodesTo(v.Float32(i))
	}
	if v.Element == dist.Sparse {
		return sparse.Same(s.row, v.Row(i), s.metric)
	}
	return bytes.Equal(s.row, v.Row(i))
}

// coded reports whether the index has codes instead of vectors.
func (t *Target) coded() (index.Coded, bool) {
	c, ok := t.File.Searchable.(index.Coded)
	return c, ok && c.Codes()
}

// eachStored calls f for every row of the index.
func (t *Target) eachStored(f func(storedRow)) {
	if c, ok := t.coded(); ok {
		c.EachCode(func(id int64, gives func(row []float32) bool) { f(storedRow{id: id, encodesTo: gives}) })
		return
	}
	for v, labels := range t.File.Vectors() {
		for i := range v.Rows {
			id := int64(i)
			if labels != nil {
				id = labels[i]
			}
			f(storedRow{id: id, row: v.Row(i), metric: t.File.Metric})
		}
	}
}

// normalised reports whether hnswlib's Python module stored unit vectors instead of the inserted ones.
func (t *Target) normalised() bool {
	return t.File.Format == index.HNSWLib && t.Set == nil && t.File.Metric == dist.Cosine
}

// numbering returns a function that maps an id to its row of the vectors.
func (p *VerifyPlan) numbering(rows int) (func(id int64) (int, bool), error) {
	if p.IDs == nil {
		return func(id int64) (int, bool) { return int(id), id >= 0 && id < int64(rows) }, nil
	}
	if len(p.IDs) != rows {
		return nil, fmt.Errorf("%d ids for %d vectors", len(p.IDs), rows)
	}
	at := make(map[int64]int, len(p.IDs))
	for i, id := range p.IDs {
		if first, twice := at[id]; twice {
			return nil, fmt.Errorf("id %d is duplicated, rows %d and %d", id, first, i)
		}
		at[id] = i
	}
	return func(id int64) (int, bool) {
		row, ok := at[id]
		return row, ok
	}, nil
}

// stored compares the rows of the index with the vectors, byte for byte. Codes are compared with the codes of the
// vectors. Unit vectors of hnswlib, whose rounding depends on the compiler, are compared with a tolerance of 1e-6.
func (r *Verification) stored(ctx context.Context, v *engine.Vectors, rowOf func(id int64) (int, bool)) error {
	t := r.Target
	unit := t.normalised()
	foreign, twice, seen := 0, 0, engine.NewBitset(v.Rows)
	differ, first, directions := 0, 0, 0 // first is the lowest row number
	t.eachStored(func(s storedRow) {
		if ctx.Err() != nil {
			return
		}
		row, ok := rowOf(s.id)
		switch {
		case !ok:
			foreign++
			return
		case seen.Has(row):
			twice++
			return
		}
		seen.Set(row)
		same := s.matches(v, row)
		if !same && s.encodesTo == nil && v.Element == dist.Float32 &&
			sameDirection(dist.Floats(s.row), v.Float32(row)) {
			directions++
			same = unit
		}
		if !same {
			if differ == 0 || row < first {
				first = row
			}
			differ++
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if missing := v.Rows - seen.Count(); foreign+twice+missing > 0 {
		r.add("ids", false, "%d ids without a vector, %d duplicate ids, %d vectors without a row", foreign, twice,
			missing)
	} else {
		r.add("ids", true, "each vector has a row")
	}
	_, coded := t.coded()
	switch {
	case seen.Count() == 0:
		r.skip("stored vectors", "no row has the id of a vector")
	case coded && differ == 0:
		r.add("stored vectors", true, "%d have the codes of the vectors", seen.Count())
	case differ > 0 && directions == differ:
		r.add("stored vectors", false, "%d of %d are normalized but otherwise equal: hnswlib stores them so for cosine",
			differ, seen.Count())
	case differ > 0:
		r.add("stored vectors", false, "%d of %d differ, the first is row %d", differ, seen.Count(), first)
	case unit:
		r.add("stored vectors", true, "%d equal after normalizing", seen.Count())
	default:
		r.add("stored vectors", true, "%d bit-identical", seen.Count())
	}
	return nil
}

// sameDirection reports whether unit is v divided by its length.
func sameDirection(unit, v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	length = cmp.Or(length, 1)
	for i, x := range v {
		if math.Abs(float64(x)/length-float64(unit[i])) > 1e-6 {
			return false
		}
	}
	return true
}
