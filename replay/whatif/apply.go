package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kitescope/engine/dist"
	"kitescope/replay"
)

// Index types as Milvus names them.
const (
	typeHNSW    = "HNSW"
	typeFlat    = "FLAT"
	typeIVF     = "IVF_FLAT"
	typeBinFlat = "BIN_FLAT"
	typeBinIVF  = "BIN_IVF_FLAT"
)

// rowByRow reports whether searches over an index of the type compare with all rows.
func rowByRow(indexType string) bool { return indexType == typeFlat || indexType == typeBinFlat }

// wholeLists reports whether an index of the type has whole vectors in lists.
func wholeLists(indexType string) bool { return indexType == typeIVF || indexType == typeBinIVF }

// leastIndexed is how many rows a segment must have for Milvus to build an index of it: smaller ones are searched row by
// row for good (indexCoord.segment.minSegmentNumRowsToEnableIndex of configs/milvus.yaml, 2.1 to 2.6).
const leastIndexed = 1024

// Parameters that are assumed where an index is to be built and the metadata has none, or does not say: those of Milvus's
// AUTOINDEX (autoIndex.params.build: pkg/util/paramtable/autoindex_param.go, 2.3 to 2.6; of bits autoIndex.params.binary.build, from 2.4.5 on), and
// the nlist of knowhere.
const (
	assumedM              = 18
	assumedEFConstruction = 240
	assumedNList          = 128
	autoBinaryNList       = 1024
)

// mostSegments bounds what a change makes: about ten times what the largest clusters have.
const mostSegments = 1_000_000

// span is a part of the rows of a segment of the present cluster.
type span struct{ segment, first, rows int64 }

// variant is a changed layout, with where the rows of its segments come from. A segment that is not in from has the rows of the present segment of
// its id; copies have rows that other segments have too.
type variant struct {
	*replay.Layout
	from   map[int64][]span
	copies map[int64]bool
	notes  []string
	void   []string // words of the change that had no effect, each with why
	// spreadOut tells that segments were given to nodes anew, evenly.
	spreadOut bool
}

// apply makes the layout that a change leads to; l is not touched. Notes say what the change does not do alone, what
// was assumed, and what had no effect. Rows are conserved, but for Scale. The order is that of Words, whatever order the
// change was written in: what grows is sealed and indexed, rows are multiplied, segments are cut of the rows that there are then, nodes are
// added, replicas made, segments placed and balanced, and nodes given their settings.
//
// Sealed segments go where Milvus would load them: to the node of their replica with the fewest rows, growing ones included, the
// largest first (RowCountBasedBalancer.AssignSegment, internal/querycoordv2/balance/rowcount_based_balancer.go of 2.3).
func apply(l *replay.Layout, c Change) *variant {
	v := &variant{Layout: clone(l), from: map[int64][]span{}, copies: map[int64]bool{}}
	if c.Index || c.Type != "" || c.M != 0 || c.EFConstruction != 0 {
		v.idleWord(c.indexWords(), v.index(c))
	}
	switch {
	case c.SegmentRows > 0:
		v.idleWord("segment-rows", v.resize(c.SegmentRows, cmp.Or(c.Scale, 1)))
	case c.Scale == 1:
		v.idleWord("scale", "the collection already has that many rows")
	case c.Scale > 0:
		v.idleWord("scale", v.resize(0, c.Scale))
	}
	if c.Nodes > 0 {
		v.addNodes(c.Nodes)
	}
	if c.Replicas > 0 {
		v.idleWord("replicas", v.replicas(c.Replicas))
	}
	if c.Place != nil {
		v.idleWord("balance", v.place(c.Place))
	}
	if c.Balanced {
		v.idleWord("balance", v.balance())
	}
	if c.Nodes > 0 {
		v.idleWord("nodes", v.idle(c.Nodes))
	}
	if c.Cores > 0 {
		v.idleWord("cores", v.setCores(c.Cores))
	}
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	return v
}

func (v *variant) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// idleWord keeps why a word had no effect; "" if it had one.
func (v *variant) idleWord(word, why string) {
	if why != "" {
		v.void = append(v.void, word+" has no effect: "+why)
	}
}

// setCores gives every node so many cores. It returns why that changes nothing.
func (v *variant) setCores(cores float64) (why string) {
	changed, unknown := false, 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Cores <= 0 {
			unknown++
		}
		changed = changed || coresOf(n) != cores
		n.Cores = cores
	}
	switch {
	case changed:
		return ""
	case unknown > 0:
		return fmt.Sprintf("%d of %d nodes do not report theirs, and %d are already assumed for them", unknown, len(v.Nodes), assumedCores)
	}
	return "every node has that many already"
}

// assumedCores are those of a node that does not report any.
const assumedCores = 8

func coresOf(n *replay.Node) float64 { return cmp.Or(max(0, n.Cores), assumedCores) }

// clone copies all that a change touches.
func clone(l *replay.Layout) *replay.Layout {
	c := *l
	c.Nodes = slices.Clone(l.Nodes)
	c.Notes = slices.Clone(l.Notes)
	c.Replicas = slices.Clone(l.Replicas)
	for i := range c.Replicas {
		c.Replicas[i].Nodes = slices.Clone(c.Replicas[i].Nodes)
		c.Replicas[i].Leaders = maps.Clone(c.Replicas[i].Leaders)
	}
	c.Segments = slices.Clone(l.Segments)
	for i := range c.Segments {
		// One place for each replica, whatever the layout says.
		on := make([]int64, max(len(c.Segments[i].On), len(c.Replicas)))
		copy(on, c.Segments[i].On)
		c.Segments[i].On = on
	}
	return &c
}

// wanted is the index that segments get, and what of it is assumed.
func (v *variant) wanted(c Change) replay.Index {
	x := v.Collection.Index
	if c.Type != "" && c.Type != x.Type {
		x = replay.Index{Type: c.Type}
	}
	if x.Type == "" || x.Type == "AUTOINDEX" {
		x.Type = typeHNSW
		if v.Collection.Element == dist.Bit {
			x.Type, x.NList = typeBinIVF, cmp.Or(x.NList, autoBinaryNList)
		}
		v.note("no index type in the metadata: assuming %s, as AUTOINDEX uses", x.Type)
	}
	if c.M != 0 {
		x.M = c.M
	}
	if c.EFConstruction != 0 {
		x.EFConstruction = c.EFConstruction
	}
	if x.Type == typeHNSW && (x.M == 0 || x.EFConstruction == 0) {
		x.M, x.EFConstruction = cmp.Or(x.M, assumedM), cmp.Or(x.EFConstruction, assumedEFConstruction)
		v.note("HNSW parameters incomplete: assuming M=%d and efConstruction=%d", x.M, x.EFConstruction)
	}
	if wholeLists(x.Type) && x.NList == 0 {
		x.NList = assumedNList
		v.note("nlist unknown: assuming %d", x.NList)
	}
	return x
}

// index gives sealed segments an index, and with Index seals what grows and gives it to workers. It returns why that changes nothing; "" if
// it does.
func (v *variant) index(c Change) (why string) {
	x := v.wanted(c)
	if x.Type != typeHNSW && (c.M != 0 || c.EFConstruction != 0) {
		return "it applies to HNSW, and the collection's index is " + x.Type
	}
	if bits := v.Collection.Element == dist.Bit; bits && x.Type == typeIVF || !bits && x.Type == typeBinIVF {
		return x.Type + " cannot index " + v.Collection.Element.String() + " vectors"
	}
	v.Collection.Index = x
	var sealed []int
	small, changed := 0, 0
	for i := range v.Segments {
		s := &v.Segments[i]
		if s.State == replay.Growing {
			if !c.Index {
				continue
			}
			sealed = append(sealed, i)
		} else if s.State == replay.Indexed && keeps(s.Index, c) {
			continue
		}
		was, had := s.State, s.Index
		if s.State, s.Index = indexed(x, s.Rows); s.State != was || s.Index != had {
			changed++
		}
		if s.State != replay.Indexed && !rowByRow(x.Type) {
			small++
		}
	}
	few := fmt.Sprintf("%d sealed segments have fewer than %d rows: Milvus does not index them", small, leastIndexed)
	switch {
	case changed == 0 && small > 0:
		return few
	case changed == 0 && c.Index:
		return "no growing segments, and every sealed segment has its index"
	case changed == 0:
		return "every sealed segment has such an index"
	case small > 0:
		v.note("%s", few)
	}
	for r := range v.Replicas {
		v.assign(r, sealed)
	}
	return ""
}

// keeps reports whether an index is as a change wants it.
func keeps(x replay.Index, c Change) bool {
	return (c.Type == "" || c.Type == x.Type) && (c.M == 0 || c.M == x.M) && (c.EFConstruction == 0 || c.EFConstruction == x.EFConstruction)
}

// indexed is the state of a sealed segment of so many rows where the collection has that index.
func indexed(x replay.Index, rows int64) (replay.State, replay.Index) {
	if rowByRow(x.Type) || x.Type == "" || rows >= 0 && rows < leastIndexed {
		return replay.Unindexed, replay.Index{}
	}
	return replay.Indexed, x
}
