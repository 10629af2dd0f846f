package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kitescope/replay"
)

// typicalRows stands for the rows of a segment that nobody tells of: the mean of the others, 1 if there are none.
func (v *variant) typicalRows() int64 {
	sum, n := int64(0), int64(0)
	for i := range v.Segments {
		if v.Segments[i].Rows >= 0 {
			sum, n = sum+v.Segments[i].Rows, n+1
		}
	}
	if n == 0 {
		return 1
	}
	return max(1, sum/n)
}

// rowsOn are the rows of each node of a replica, apart from the segments that are left out.
func (v *variant) rowsOn(replica int, without map[int]bool) map[int64]int64 {
	on, typical := map[int64]int64{}, v.typicalRows()
	for _, n := range v.Replicas[replica].Nodes {
		on[n] = 0
	}
	for i := range v.Segments {
		s := &v.Segments[i]
		if without[i] || replica >= len(s.On) || s.On[replica] == 0 {
			continue
		}
		rows := s.Rows
		if rows < 0 {
			rows = typical
		}
		on[s.On[replica]] += rows
	}
	return on
}

// assign gives segments to the nodes of a replica: the largest to the node with the fewest rows.
func (v *variant) assign(replica int, list []int) {
	nodes := slices.Sorted(slices.Values(v.Replicas[replica].Nodes))
	if len(list) == 0 || len(nodes) == 0 {
		return
	}
	v.spreadOut = v.spreadOut || len(nodes) > 1
	without := map[int]bool{}
	for _, i := range list {
		without[i] = true
	}
	on, typical := v.rowsOn(replica, without), v.typicalRows()
	rowsOf := func(i int) int64 {
		if r := v.Segments[i].Rows; r >= 0 {
			return r
		}
		return typical
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(rowsOf(b), rowsOf(a)), cmp.Compare(v.Segments[a].ID, v.Segments[b].ID))
	})
	type load struct{ rows, node int64 }
	heap := make([]load, 0, len(nodes))
	fewer := func(a, b load) bool { return a.rows < b.rows || a.rows == b.rows && a.node < b.node }
	for _, n := range nodes {
		heap = append(heap, load{on[n], n})
	}
	slices.SortFunc(heap, func(a, b load) int { return cmp.Or(cmp.Compare(a.rows, b.rows), cmp.Compare(a.node, b.node)) })
	for _, i := range list {
		v.Segments[i].On[replica] = heap[0].node
		heap[0].rows += rowsOf(i)
		sink(heap, fewer)
	}
}

// addNodes adds nodes like the first one, each to the replica with the fewest.
func (v *variant) addNodes(n int) {
	like := replay.Node{Name: "querynode"}
	id := int64(0)
	for i := range v.Nodes {
		id = max(id, v.Nodes[i].ID)
	}
	if len(v.Nodes) > 0 {
		like = v.Nodes[0]
	}
	for range n {
		id++
		like.ID, like.Name = id, fmt.Sprintf("querynode-%d", id)
		v.Nodes = append(v.Nodes, like)
		if len(v.Replicas) > 0 {
			r := v.smallest()
			r.Nodes = append(r.Nodes, id)
		}
	}
}

// idle says how many of the nodes that were added have nothing to search. It returns why they change nothing: that it is all of them.
func (v *variant) idle(added int) (why string) {
	busy := map[int64]bool{}
	for i := range v.Segments {
		for _, n := range v.Segments[i].On {
			busy[n] = true
		}
	}
	n := 0
	for _, node := range v.Nodes[len(v.Nodes)-added:] {
		if !busy[node.ID] {
			n++
		}
	}
	text := fmt.Sprintf("%d of %d added nodes have nothing to search: with auto-balance off, nothing moves to them; add balance", n, added)
	switch n {
	case 0:
	case added:
		return text
	default:
		v.note("%s", text)
	}
	return ""
}

// smallest is the replica with the fewest nodes.
func (v *variant) smallest() *replay.Replica {
	least := &v.Replicas[0]
	for i := range v.Replicas {
		if len(v.Replicas[i].Nodes) < len(least.Nodes) {
			least = &v.Replicas[i]
		}
	}
	return least
}

// mostPlaces bounds segments times replicas.
const mostPlaces = 4 * mostSegments

// replicas makes so many of the nodes that serve the collection now: a node is in one replica of a collection only
// (ReplicaManager, internal/querycoordv2/meta/replica_manager.go). Each has all segments, spread evenly. It returns why that changes nothing.
func (v *variant) replicas(n int) (why string) {
	if n == len(v.Replicas) {
		return "there are that many already"
	}
	var nodes []int64
	for _, r := range v.Replicas {
		nodes = append(nodes, r.Nodes...)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(v.Replicas) == 0 || len(nodes) < n {
		return fmt.Sprintf("%d replicas need as many query nodes, the collection has %d; add nodes=+%d", n, len(nodes), n-len(nodes))
	}
	if places := len(v.Segments) * n; places > mostPlaces {
		return fmt.Sprintf("%d segments in %d replicas exceed the simulation limit of %d", len(v.Segments), n, mostPlaces)
	}
	led := map[string]bool{}
	for channel := range v.Replicas[0].Leaders {
		led[channel] = true
	}
	for i := range v.Segments { // a layout need not tell every leader
		led[v.Segments[i].Channel] = true
	}
	channels := slices.Sorted(maps.Keys(led))
	v.Replicas = make([]replay.Replica, n)
	for i := range v.Replicas {
		v.Replicas[i] = replay.Replica{ID: int64(i + 1), Leaders: map[string]int64{}}
	}
	for i, node := range nodes {
		r := &v.Replicas[i%n]
		r.Nodes = append(r.Nodes, node)
	}
	for i := range v.Replicas {
		r := &v.Replicas[i]
		for j, channel := range channels {
			r.Leaders[channel] = r.Nodes[j%len(r.Nodes)]
		}
	}
	var sealed []int
	for i := range v.Segments {
		s := &v.Segments[i]
		s.On = make([]int64, n)
		if s.State != replay.Growing {
			sealed = append(sealed, i)
			continue
		}
		for r := range v.Replicas {
			s.On[r] = v.Replicas[r].Leaders[s.Channel]
		}
	}
	for r := range v.Replicas {
		v.assign(r, sealed)
	}
	v.note("%d replicas share the %d nodes: shard leaders assigned in turn, segments spread evenly", n, len(nodes))
	return ""
}

// place moves segments to the nodes that a plan names, each in the replica that the node belongs to. It returns why that changes nothing.
func (v *variant) place(to map[int64]int64) (why string) {
	of := map[int64]int{}
	for r := range v.Replicas {
		for _, n := range v.Replicas[r].Nodes {
			of[n] = r
		}
	}
	at, moved := map[int64]int{}, false
	for i := range v.Segments {
		at[v.Segments[i].ID] = i
	}
	for _, id := range slices.Sorted(maps.Keys(to)) {
		i, known := at[id]
		r, serves := of[to[id]]
		switch {
		case !known:
			v.note("move of segment %d to node %d skipped: segment not served", id, to[id])
		case !serves:
			v.note("move of segment %d to node %d skipped: node not in any replica", id, to[id])
		case v.Segments[i].State == replay.Growing:
			v.note("segment %d is growing and stays on its shard leader", id)
		default:
			moved = moved || v.Segments[i].On[r] != to[id]
			v.Segments[i].On[r] = to[id]
		}
	}
	if !moved {
		return "no segment moves"
	}
	return ""
}

// balance spreads the sealed segments of each replica anew; where that does not lower the most rows of a node, they stay. It returns why
// that changes nothing.
func (v *variant) balance() (why string) {
	var sealed []int
	for i := range v.Segments {
		if v.Segments[i].State != replay.Growing {
			sealed = append(sealed, i)
		}
	}
	moved, several, before := false, false, v.spreadOut
	for r := range v.Replicas {
		several = several || len(v.Replicas[r].Nodes) > 1
		uneven := v.spread(r)
		old := make([]int64, len(sealed))
		for j, i := range sealed {
			old[j] = v.Segments[i].On[r]
		}
		v.assign(r, sealed)
		better := v.spread(r) < uneven
		for j, i := range sealed {
			if !better && old[j] != 0 {
				v.Segments[i].On[r] = old[j]
			}
			moved = moved || v.Segments[i].On[r] != old[j]
		}
	}
	most := v.alone()
	switch {
	case moved && most != "":
		v.note("%s", most)
	case moved || before: // by this, or by what came before it
	case !several:
		return "each replica has one node"
	default:
		return cmp.Or(most, "rows are spread as evenly as segments allow")
	}
	return ""
}

// spread is how far the most rows of a node of a replica are from the fewest.
func (v *variant) spread(replica int) int64 {
	on := v.rowsOn(replica, nil)
	if len(on) == 0 {
		return 0
	}
	rows := slices.Sorted(maps.Values(on))
	return rows[len(rows)-1] - rows[0]
}

// alone says where growing segments keep a node fuller than balancing can help.
func (v *variant) alone() string {
	for r := range v.Replicas {
		growing := map[int64]int64{}
		total := int64(0)
		for i := range v.Segments {
			s := &v.Segments[i]
			total += max(0, s.Rows)
			if s.State == replay.Growing && r < len(s.On) {
				growing[s.On[r]] += max(0, s.Rows)
			}
		}
		nodes := int64(max(1, len(v.Replicas[r].Nodes)))
		for _, id := range slices.Sorted(maps.Keys(growing)) {
			if n := v.Node(id); n != nil && growing[id] > total/nodes {
				return n.Name + " has more than its share in growing segments alone: balancing moves only sealed ones"
			}
		}
	}
	return ""
}
