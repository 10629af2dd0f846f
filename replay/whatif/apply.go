package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"kitescope/replay"
)

// Index types as Milvus names them.
const (
	typeHNSW = "HNSW"
	typeFlat = "FLAT"
	typeIVF  = "IVF_FLAT"
)

// leastIndexed is how many rows a segment must have for Milvus to build an index of it: smaller ones are searched row by
// row for good (indexCoord.segment.minSegmentNumRowsToEnableIndex of configs/milvus.yaml, 2.1 to 2.6).
const leastIndexed = 1024

// Parameters that are assumed where an index is to be built and the metadata has none, or does not say: those of Milvus's
// AUTOINDEX (autoIndex.params.build: pkg/util/paramtable/autoindex_param.go, 2.3 to 2.6), and the nlist of knowhere.
const (
	assumedM              = 18
	assumedEFConstruction = 240
	assumedNList          = 128
)

// mostSegments bounds what a change makes: about ten times what the largest clusters have.
const mostSegments = 1_000_000

// span is a part of a base segment's rows. A copy is of rows that are in another segment already: a larger collection
// has more of the same.
type span struct {
	segment     int64
	first, rows int64
	copy        bool
}

// variant is a changed layout, with where the rows of its segments come from. A segment that is not in from has the
// rows of the base segment of its id.
type variant struct {
	*replay.Layout
	from  map[int64][]span
	notes []string
}

// Apply makes the layout that a change leads to; l is not touched. Notes say what the change does not do alone, what
// was assumed, and what could not be done. Rows are conserved, but for Scale. The order is: what grows is sealed and
// indexed, segments are cut anew, multiplied, nodes are added, replicas made, segments placed and balanced, and nodes
// given their settings.
//
// Sealed segments go where Milvus would load them: to the node of their replica with the fewest rows, growing ones included, the
// largest first (RowCountBasedBalancer.AssignSegment, internal/querycoordv2/balance/rowcount_based_balancer.go of 2.3).
func Apply(l *replay.Layout, c Change) (*replay.Layout, []string) {
	v := apply(l, c)
	return v.Layout, v.notes
}

func apply(l *replay.Layout, c Change) *variant {
	v := &variant{Layout: clone(l), from: map[int64][]span{}}
	if c.Index || c.Type != "" || c.M != 0 || c.EFConstruction != 0 {
		v.index(c)
	}
	if c.SegmentRows > 0 {
		v.cut(c.SegmentRows)
	}
	if c.Scale > 0 && c.Scale != 1 {
		v.scale(c.Scale)
	}
	if c.Nodes > 0 {
		v.addNodes(c.Nodes)
	}
	if c.Replicas > 0 && c.Replicas != len(v.Replicas) {
		v.replicas(c.Replicas)
	}
	if c.Place != nil {
		v.place(c.Place)
	}
	if c.Balanced {
		v.balance()
	}
	if c.Nodes > 0 {
		v.idle(c.Nodes)
	}
	v.knobs(c)
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	return v
}

func (v *variant) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

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
		v.note("the metadata names no type of index: HNSW is taken, as AUTOINDEX does")
		x.Type = typeHNSW
	}
	if c.M != 0 {
		x.M = c.M
	}
	if c.EFConstruction != 0 {
		x.EFConstruction = c.EFConstruction
	}
	if x.Type == typeHNSW && (x.M == 0 || x.EFConstruction == 0) {
		x.M, x.EFConstruction = cmp.Or(x.M, assumedM), cmp.Or(x.EFConstruction, assumedEFConstruction)
		v.note("not all of HNSW's parameters are known: M=%d and efConstruction=%d are taken", x.M, x.EFConstruction)
	}
	if x.Type == typeIVF && x.NList == 0 {
		x.NList = assumedNList
		v.note("nlist is not known: %d is taken", x.NList)
	}
	return x
}

// index gives sealed segments an index, and with Index seals what grows and gives it to workers.
func (v *variant) index(c Change) {
	x := v.wanted(c)
	v.Collection.Index = x
	var sealed []int
	small := 0
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
		s.State, s.Index = indexed(x, s.Rows)
		if s.State != replay.Indexed && x.Type != typeFlat {
			small++
		}
	}
	if small > 0 {
		v.note("%d sealed segments have fewer than %d rows: Milvus builds no index of them", small, leastIndexed)
	}
	for r := range v.Replicas {
		v.assign(r, sealed)
	}
}

// keeps tells whether an index is as a change wants it.
func keeps(x replay.Index, c Change) bool {
	return (c.Type == "" || c.Type == x.Type) && (c.M == 0 || c.M == x.M) && (c.EFConstruction == 0 || c.EFConstruction == x.EFConstruction)
}

// indexed is the state of a sealed segment of so many rows where the collection has that index.
func indexed(x replay.Index, rows int64) (replay.State, replay.Index) {
	if x.Type == typeFlat || x.Type == "" || rows >= 0 && rows < leastIndexed {
		return replay.Unindexed, replay.Index{}
	}
	return replay.Indexed, x
}

// cut makes segments of so many rows of all sealed ones of a channel and partition, in the order of their ids.
func (v *variant) cut(rows int64) {
	many := 0.0
	for i := range v.Segments {
		many += float64(max(0, v.Segments[i].Rows)) / float64(rows)
	}
	if many > mostSegments {
		v.note("segments of %d rows would be %.0f of them: left as they are, more than %d are not simulated", rows, many, mostSegments)
		return
	}
	type key struct {
		channel   string
		partition int64
	}
	groups, order, left := map[key][]replay.Segment{}, []key{}, []replay.Segment{}
	growing, unknown := 0, 0
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	for _, s := range v.Segments {
		switch k := (key{s.Channel, s.Partition}); {
		case s.State == replay.Growing:
			growing++
			left = append(left, s)
		case s.Rows < 0:
			unknown++
			left = append(left, s)
		default:
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], s)
		}
	}
	if growing > 0 {
		v.note("%d growing segments stay as they are: only sealed ones are cut anew; say index as well", growing)
	}
	if unknown > 0 {
		v.note("%d segments stay as they are: nobody tells how many rows they have", unknown)
	}
	id := v.nextSegment()
	v.Segments = left
	var made []int
	for _, k := range order {
		for _, s := range v.recut(groups[k], rows, &id) {
			made = append(made, len(v.Segments))
			v.Segments = append(v.Segments, s)
		}
	}
	for r := range v.Replicas {
		v.assign(r, made)
	}
}

// recut cuts the rows of segments, one after the other, into new ones. A last one of less than half the rows goes to the one before.
func (v *variant) recut(group []replay.Segment, rows int64, id *int64) (list []replay.Segment) {
	var all []span
	total := int64(0)
	var x replay.Index
	for _, s := range group {
		all = append(all, v.spans(s)...)
		total += s.Rows
		if s.State == replay.Indexed && x.Type == "" {
			x = s.Index
		}
	}
	count := max(1, (total+rows/2)/rows)
	for i := range count {
		size := rows
		if i == count-1 {
			size = total - rows*(count-1)
		}
		s := group[0]
		s.ID, s.Rows, s.Files, s.On = *id, size, nil, make([]int64, len(v.Replicas))
		s.State, s.Index = indexed(x, size)
		*id++
		v.from[s.ID], all = take(all, size)
		list = append(list, s)
	}
	return list
}

// take splits the first rows off; it changes the span that it cuts.
func take(all []span, rows int64) (head, rest []span) {
	for len(all) > 0 && rows > 0 {
		s := all[0]
		if s.rows > rows {
			head = append(head, span{s.segment, s.first, rows, s.copy})
			all[0] = span{s.segment, s.first + rows, s.rows - rows, s.copy}
			return head, all
		}
		head, all, rows = append(head, s), all[1:], rows-s.rows
	}
	return head, all
}

// spans are where a segment's rows come from.
func (v *variant) spans(s replay.Segment) []span {
	if from := v.from[s.ID]; from != nil {
		return from
	}
	return []span{{s.ID, 0, s.Rows, false}}
}

// scale multiplies segments: whole copies, and one of what is left. Copies are where the first one is.
func (v *variant) scale(by float64) {
	if n := float64(len(v.Segments)) * by; n > mostSegments {
		v.note("%g times as large would be %.0f segments: left as it is, more than %d are not simulated; larger segments are fewer", by, n, mostSegments)
		return
	}
	id := v.nextSegment()
	var list []replay.Segment
	growing, unknown, shift := 0, 0, v.rowsOf(v.Segments)
	for _, s := range v.Segments {
		if s.State == replay.Growing {
			growing++
		}
		from, rows := v.spans(s), max(s.Rows, 0)
		whole := int(by)
		if s.Rows < 0 {
			unknown++
			whole = max(1, whole)
		}
		for i := range whole {
			c := s
			if i > 0 {
				c.ID, c.Files, c.On = id, nil, slices.Clone(s.On)
				v.from[id] = copies(from)
				id++
			}
			list = append(list, c)
		}
		part := int64(math.Round((by - float64(whole)) * float64(rows)))
		if part <= 0 {
			continue
		}
		c := s
		c.ID, c.Rows, c.Files, c.On = id, part, nil, slices.Clone(s.On)
		v.from[id], _ = take(slices.Clone(from), part)
		if whole > 0 {
			v.from[id] = copies(v.from[id])
		}
		if c.State == replay.Indexed {
			c.State, c.Index = indexed(c.Index, part)
		}
		id++
		list = append(list, c)
	}
	v.Segments = list
	v.note("%d rows become %d: segments are multiplied where they are, each as large as it was", shift, v.rowsOf(list))
	if unknown > 0 {
		v.note("%d segments are multiplied as a whole or not at all: nobody tells how many rows they have", unknown)
	}
	if growing > 0 {
		v.note("what grows is multiplied as well, %d segments: how much grows at once follows from inserts, not from the collection's size", growing)
	}
}

func copies(list []span) []span {
	list = slices.Clone(list)
	for i := range list {
		list[i].copy = true
	}
	return list
}

func (v *variant) rowsOf(list []replay.Segment) (n int64) {
	for i := range list {
		n += max(0, list[i].Rows)
	}
	return n
}

func (v *variant) nextSegment() int64 {
	id := int64(0)
	for i := range v.Segments {
		id = max(id, v.Segments[i].ID)
	}
	return id + 1
}
