package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kitescope/engine/dist"
	"kitescope/replay"
)

// Index types, by their Milvus names.
const (
	typeHNSW    = "HNSW"
	typeFlat    = "FLAT"
	typeIVF     = "IVF_FLAT"
	typeBinFlat = "BIN_FLAT"
	typeBinIVF  = "BIN_IVF_FLAT"
)

// rowByRow reports whether a search over an index of this type compares the query with all rows.
func rowByRow(indexType string) bool { return indexType == typeFlat || indexType == typeBinFlat }

// isIVF reports whether an index of this type partitions its rows into lists.
func isIVF(indexType string) bool {
	return strings.HasPrefix(indexType, "IVF") || indexType == typeBinIVF
}

// minIndexedRows is the minimum number of rows of a segment for Milvus to build an index. Smaller segments are
// always searched row by row (indexCoord.segment.minSegmentNumRowsToEnableIndex of configs/milvus.yaml, 2.1 to
// 2.6).
const minIndexedRows = 1024

// Index parameters that are assumed if an index is to be built and the metadata has none. They are the parameters
// of Milvus's AUTOINDEX (autoIndex.params.build in pkg/util/paramtable/autoindex_param.go, 2.3 to 2.6; for binary
// vectors autoIndex.params.binary.build, since 2.4.5) and the default nlist of knowhere.
const (
	assumedM              = 18
	assumedEFConstruction = 240
	assumedNList          = 128
	autoBinaryNList       = 1024
)

// maxSegments limits the segments of a changed layout, to about ten times the segments of the largest clusters.
// maxPlacements limits segments times replicas.
const (
	maxSegments   = 1_000_000
	maxPlacements = 4 * maxSegments
)

// assumedCores is the number of cores of a node that does not report them.
const assumedCores = 8

func coresOf(n *replay.Node) float64 { return cmp.Or(max(0, n.Cores), assumedCores) }

// variant is a changed layout.
type variant struct {
	*replay.Layout
	notes []string
	// assigned is true once segments were reassigned evenly to nodes.
	assigned bool
}

func (v *variant) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// apply returns the layout that results from a change; it does not modify l. The notes list assumptions and parts
// of the change that cannot be made. Rows are conserved unless Scale changes them. The parts of a change are
// applied in the order of Words, regardless of how the user wrote them. apply returns an error if the change is
// impossible, or if one of its words has no effect, because its prediction would equal the prediction for the
// present cluster.
//
// Sealed segments are placed as Milvus would load them: the largest first, each on the node of its replica with
// the fewest rows, including growing rows (RowCountBasedBalancer.AssignSegment, rowcount_based_balancer.go of
// 2.3).
func apply(l *replay.Layout, c Change) (*variant, error) {
	v := &variant{Layout: clone(l)}
	for _, x := range []struct {
		word string
		set  bool
		do   func() error
	}{
		{"index", c.Index || c.Type != "" || c.M != 0 || c.EFConstruction != 0, func() error { return v.index(c) }},
		{
			"scale", c.Scale > 0 || c.SegmentRows > 0,
			func() error { return v.resize(c.SegmentRows, cmp.Or(c.Scale, 1)) },
		},
		{"nodes", c.Nodes > 0, func() error { v.addNodes(c.Nodes); return nil }},
		{"replicas", c.Replicas > 0, func() error { return v.replicas(c.Replicas) }},
		{"balance", c.Balanced, func() error { v.balance(); return nil }},
		{"cores", c.Cores > 0, func() error { v.setCores(c.Cores); return nil }},
	} {
		if !x.set {
			continue
		}
		before := clone(v.Layout)
		if err := x.do(); err != nil {
			return nil, err
		}
		if same(before, v.Layout) && !(x.word == "balance" && v.assigned) {
			return nil, fmt.Errorf("%s has no effect on this cluster%s", x.word, reasonText(v.notes))
		}
	}
	if c.Nodes > 0 {
		idle := v.countIdle(c.Nodes)
		text := fmt.Sprintf("%d of %d added nodes have nothing to search: with auto-balance off, nothing moves to "+
			"them; "+
			"add balance", idle, c.Nodes)
		if idle == c.Nodes {
			return nil, fmt.Errorf("nodes has no effect on this cluster: %s", text)
		}
		if idle > 0 {
			v.note("%s", text)
		}
	}
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	return v, nil
}

func reasonText(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ": " + notes[len(notes)-1]
}

// clone copies everything that a change can modify.
func clone(l *replay.Layout) *replay.Layout {
	c := *l
	c.Nodes = slices.Clone(l.Nodes)
	c.Replicas = slices.Clone(l.Replicas)
	for i := range c.Replicas {
		c.Replicas[i].Nodes = slices.Clone(c.Replicas[i].Nodes)
		c.Replicas[i].Leaders = maps.Clone(c.Replicas[i].Leaders)
	}
	c.Segments = slices.Clone(l.Segments)
	for i := range c.Segments {
		// Allocate one place for each replica, even if the layout has fewer.
		on := make([]int64, max(len(c.Segments[i].On), len(c.Replicas)))
		copy(on, c.Segments[i].On)
		c.Segments[i].On = on
	}
	return &c
}

// same reports whether the same nodes serve the same segments in both layouts.
func same(a, b *replay.Layout) bool {
	return len(a.Replicas) == len(b.Replicas) &&
		slices.EqualFunc(a.Nodes, b.Nodes, func(x, y replay.Node) bool {
			return x.ID == y.ID && coresOf(&x) == coresOf(&y)
		}) &&
		slices.EqualFunc(a.Segments, b.Segments, func(x, y replay.Segment) bool {
			return x.ID == y.ID && x.State == y.State && x.Index == y.Index && x.Rows == y.Rows &&
				slices.Equal(x.On, y.On)
		})
}

// setCores sets the cores of every node.
func (v *variant) setCores(cores float64) {
	for i := range v.Nodes {
		v.Nodes[i].Cores = cores
	}
}

// targetIndex returns the index to build on segments, and adds notes on assumed parameters.
func (v *variant) targetIndex(c Change) replay.Index {
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
	x.M, x.EFConstruction = cmp.Or(c.M, x.M), cmp.Or(c.EFConstruction, x.EFConstruction)
	if x.Type == typeHNSW && (x.M == 0 || x.EFConstruction == 0) {
		x.M, x.EFConstruction = cmp.Or(x.M, assumedM), cmp.Or(x.EFConstruction, assumedEFConstruction)
		v.note("HNSW parameters incomplete: assuming M=%d and efConstruction=%d", x.M, x.EFConstruction)
	}
	if isIVF(x.Type) && x.NList == 0 {
		x.NList = assumedNList
		v.note("nlist unknown: assuming %d", x.NList)
	}
	return x
}

// index gives sealed segments an index. If c.Index is set, it also seals growing segments and assigns them to
// query nodes.
func (v *variant) index(c Change) error {
	x := v.targetIndex(c)
	if x.Type != typeHNSW && (c.M != 0 || c.EFConstruction != 0) {
		return fmt.Errorf("m and efconstruction apply to HNSW, and the collection's index is %s", x.Type)
	}
	if bits := v.Collection.Element == dist.Bit; bits && x.Type == typeIVF || !bits && x.Type == typeBinIVF {
		return fmt.Errorf("%s cannot index %s vectors", x.Type, v.Collection.Element)
	}
	v.Collection.Index = x
	var sealed []int
	small := 0
	for i := range v.Segments {
		s := &v.Segments[i]
		switch {
		case s.State == replay.Growing && !c.Index:
			continue
		case s.State == replay.Growing:
			sealed = append(sealed, i)
		case s.State == replay.Indexed && matches(s.Index, c):
			continue
		}
		s.State, s.Index = indexed(x, s.Rows)
		if s.State != replay.Indexed && !rowByRow(x.Type) {
			small++
		}
	}
	if small > 0 {
		v.note("%d sealed segments have fewer than %d rows: Milvus does not index them", small, minIndexedRows)
	}
	for r := range v.Replicas {
		v.assign(r, sealed)
	}
	return nil
}

// matches reports whether an index already matches a change.
func matches(x replay.Index, c Change) bool {
	return (c.Type == "" || c.Type == x.Type) && (c.M == 0 || c.M == x.M) &&
		(c.EFConstruction == 0 || c.EFConstruction == x.EFConstruction)
}

// indexed returns the state and the index of a sealed segment with the given number of rows if the collection's
// index is x.
func indexed(x replay.Index, rows int64) (replay.State, replay.Index) {
	if rowByRow(x.Type) || x.Type == "" || rows >= 0 && rows < minIndexedRows {
		return replay.Unindexed, replay.Index{}
	}
	return replay.Indexed, x
}

// resize multiplies the rows of the collection by a factor and cuts its sealed segments into segments with the
// given number of rows; rows = 0 leaves their size. New segments cost as much as measured segments of their size.
func (v *variant) resize(rows int64, by float64) error {
	count := 0.0
	for i := range v.Segments {
		if s := &v.Segments[i]; rows == 0 || s.State == replay.Growing || s.Rows < 0 {
			count += max(1, by)
		} else {
			count += by * float64(s.Rows) / float64(rows)
		}
	}
	if count > maxSegments {
		return fmt.Errorf("%.0f segments; more than %d are not simulated: segment-rows=N makes fewer", count,
			maxSegments)
	}
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	before := segmentsOf(v.Layout)
	next := v.Segments[len(v.Segments)-1].ID
	newID := func() int64 { next++; return next }
	groups := map[string][]replay.Segment{}
	var list []replay.Segment
	for _, s := range v.Segments {
		if rows == 0 || s.State == replay.Growing || s.Rows < 0 {
			list = append(list, copies(s, by, newID)...)
		} else {
			groups[s.Channel] = append(groups[s.Channel], s)
		}
	}
	var made []int
	for _, channel := range slices.Sorted(maps.Keys(groups)) {
		group := groups[channel]
		if by == 1 && !slices.ContainsFunc(group, func(s replay.Segment) bool { return s.Rows != rows }) {
			list = append(list, group...)
			continue
		}
		for _, s := range cut(group, rows, by, newID) {
			made = append(made, len(list))
			list = append(list, s)
		}
	}
	v.Segments = list
	for r := range v.Replicas {
		v.assign(r, made)
	}
	if by != 1 {
		v.note("%d rows become %d: costs of new rows are those of the present ones; caches and memory bandwidth "+
			"are not modelled", before.Rows, segmentsOf(v.Layout).Rows)
	}
	if rows > 0 && before.Growing > 0 {
		v.note("%d growing segments not re-cut, only sealed ones are; add index", before.Growing)
	}
	return nil
}

// copies multiplies a segment: it returns the segment, whole copies, and a copy with the remaining fraction of its
// rows.
func copies(s replay.Segment, by float64, newID func() int64) []replay.Segment {
	whole := int(by)
	if s.Rows < 0 {
		whole = max(1, whole)
	}
	var list []replay.Segment
	another := func(rows int64) {
		c := s
		c.ID, c.Rows, c.Files, c.On = newID(), rows, nil, slices.Clone(s.On)
		if c.State == replay.Indexed {
			c.State, c.Index = indexed(c.Index, rows)
		}
		list = append(list, c)
	}
	if whole > 0 {
		list = append(list, s)
	}
	for range whole - 1 {
		another(s.Rows)
	}
	if rest := int64(math.Round((by - float64(whole)) * float64(s.Rows))); s.Rows > 0 && rest > 0 {
		another(rest)
	}
	return list
}

// cut multiplies the rows of a group of segments and divides them into segments with the given number of rows. A
// remainder of less than half a segment is added to the last one.
func cut(group []replay.Segment, rows int64, by float64, newID func() int64) []replay.Segment {
	total := int64(0)
	var x replay.Index
	for _, s := range group {
		total += s.Rows
		if s.State == replay.Indexed {
			x = s.Index
		}
	}
	total = int64(math.Round(float64(total) * by))
	count := max(1, (total+rows/2)/rows)
	list := make([]replay.Segment, count)
	for i := range list {
		s := group[0]
		s.ID, s.Rows, s.Files, s.On = newID(), rows, nil, make([]int64, len(s.On))
		if int64(i) == count-1 {
			s.Rows = total - rows*(count-1)
		}
		s.State, s.Index = indexed(x, s.Rows)
		list[i] = s
	}
	return list
}

// addNodes adds copies of the first node, each to the replica with the fewest nodes.
func (v *variant) addNodes(n int) {
	like := replay.Node{}
	if len(v.Nodes) > 0 {
		like = v.Nodes[0]
	}
	id := int64(0)
	for i := range v.Nodes {
		id = max(id, v.Nodes[i].ID)
	}
	for range n {
		id++
		like.ID, like.Name = id, fmt.Sprintf("querynode-%d", id)
		v.Nodes = append(v.Nodes, like)
		if len(v.Replicas) > 0 {
			r := &v.Replicas[0]
			for i := range v.Replicas {
				if len(v.Replicas[i].Nodes) < len(r.Nodes) {
					r = &v.Replicas[i]
				}
			}
			r.Nodes = append(r.Nodes, id)
		}
	}
}

// countIdle returns the number of nodes that have nothing to search, among the nodes added last.
func (v *variant) countIdle(added int) (n int) {
	busy := map[int64]bool{}
	for i := range v.Segments {
		for _, node := range v.Segments[i].On {
			busy[node] = true
		}
	}
	for _, node := range v.Nodes[len(v.Nodes)-added:] {
		if !busy[node.ID] {
			n++
		}
	}
	return n
}

// replicas creates n replicas from the nodes that serve the collection now, because a node is in only one replica
// of a collection (ReplicaManager, internal/querycoordv2/meta/replica_manager.go). Each replica has all segments,
// spread evenly.
func (v *variant) replicas(n int) error {
	var nodes []int64
	led := map[string]bool{}
	for _, r := range v.Replicas {
		nodes = append(nodes, r.Nodes...)
		for channel := range r.Leaders {
			led[channel] = true
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	switch places := len(v.Segments) * n; {
	case n == len(v.Replicas):
		return nil
	case len(nodes) < n:
		return fmt.Errorf("%d replicas need as many query nodes, the collection has %d; add nodes=+%d", n, len(nodes),
			n-len(nodes))
	case places > maxPlacements:
		return fmt.Errorf("%d segments in %d replicas exceed the simulation limit of %d", len(v.Segments), n,
			maxPlacements)
	}
	for i := range v.Segments { // a layout may lack leaders
		led[v.Segments[i].Channel] = true
	}
	v.Replicas = make([]replay.Replica, n)
	for i := range v.Replicas {
		v.Replicas[i] = replay.Replica{ID: int64(i + 1), Leaders: map[string]int64{}}
	}
	for i, node := range nodes {
		v.Replicas[i%n].Nodes = append(v.Replicas[i%n].Nodes, node)
	}
	for j, channel := range slices.Sorted(maps.Keys(led)) {
		for i := range v.Replicas {
			r := &v.Replicas[i]
			r.Leaders[channel] = r.Nodes[j%len(r.Nodes)]
		}
	}
	sealed := v.sealed()
	for i := range v.Segments {
		s := &v.Segments[i]
		s.On = make([]int64, n)
		for r := range v.Replicas {
			s.On[r] = v.Replicas[r].Leaders[s.Channel]
		}
	}
	for r := range v.Replicas {
		v.assign(r, sealed)
	}
	v.note("%d replicas share the %d nodes: shard leaders assigned in turn, segments spread evenly", n, len(nodes))
	return nil
}

func (v *variant) sealed() (list []int) {
	for i := range v.Segments {
		if v.Segments[i].State != replay.Growing {
			list = append(list, i)
		}
	}
	return list
}

// balance reassigns the sealed segments of each replica. It keeps the old assignment unless the new one is more
// even, or a segment was on no node.
func (v *variant) balance() {
	sealed := v.sealed()
	for r := range v.Replicas {
		uneven, assigned := v.spread(r), v.assigned
		old := make([]int64, len(sealed))
		for j, i := range sealed {
			old[j] = v.Segments[i].On[r]
		}
		v.assign(r, sealed)
		v.assigned = assigned
		if v.spread(r) < uneven || slices.Contains(old, 0) {
			continue
		}
		for j, i := range sealed {
			v.Segments[i].On[r] = old[j]
		}
	}
}

// spread returns the difference between the largest and the smallest number of rows on the nodes of a replica.
func (v *variant) spread(replica int) int64 {
	rows := slices.Sorted(maps.Values(v.rowsOn(replica, nil)))
	if len(rows) == 0 {
		return 0
	}
	return rows[len(rows)-1] - rows[0]
}

// typicalRows returns the assumed number of rows of a segment with an unknown number: the mean of the known
// numbers, at least 1.
func (v *variant) typicalRows() int64 {
	s := segmentsOf(v.Layout)
	return max(1, s.Rows/int64(max(1, s.Segments-s.RowsUnknown)))
}

// rowsOn counts the rows on each node of a replica, without the given segments.
func (v *variant) rowsOn(replica int, without []int) map[int64]int64 {
	on, typical := map[int64]int64{}, v.typicalRows()
	for _, n := range v.Replicas[replica].Nodes {
		on[n] = 0
	}
	for i := range v.Segments {
		if _, out := slices.BinarySearch(without, i); !out && v.Segments[i].On[replica] != 0 {
			on[v.Segments[i].On[replica]] += rowsOf(&v.Segments[i], typical)
		}
	}
	return on
}

func rowsOf(s *replay.Segment, typical int64) int64 {
	if s.Rows < 0 {
		return typical
	}
	return s.Rows
}

// assign assigns segments to the nodes of a replica: the largest first, each to the node with the fewest rows.
// list holds indexes into v.Segments in ascending order.
func (v *variant) assign(replica int, list []int) {
	nodes := slices.Sorted(slices.Values(v.Replicas[replica].Nodes))
	if len(list) == 0 || len(nodes) == 0 {
		return
	}
	v.assigned = v.assigned || len(nodes) > 1
	on, typical := v.rowsOn(replica, list), v.typicalRows()
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Compare(rowsOf(&v.Segments[b], typical), rowsOf(&v.Segments[a], typical))
	})
	type load struct{ rows, node int64 }
	heap := make([]load, 0, len(nodes))
	for _, n := range nodes {
		heap = append(heap, load{on[n], n})
	}
	fewer := func(a, b load) bool { return a.rows < b.rows || a.rows == b.rows && a.node < b.node }
	slices.SortFunc(heap, func(a, b load) int {
		return cmp.Or(cmp.Compare(a.rows, b.rows), cmp.Compare(a.node, b.node))
	})
	for _, i := range list {
		v.Segments[i].On[replica] = heap[0].node
		heap[0].rows += rowsOf(&v.Segments[i], typical)
		siftDown(heap, fewer)
	}
}
