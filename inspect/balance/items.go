package balance

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

// item is a sealed segment that a plan can move.
type item struct {
	id          model.SegmentID
	node        model.NodeID
	rows, bytes int64 // from its record
	size        int64 // logs and index files
	cost, brute float64
	copied      bool // a copy that counts on another node
}

// collectItems returns, per group and sorted by id, the sealed segments that can be moved. Their rows are
// known, and each is on a single node that is neither leaving nor outside. A segment on two nodes of a
// replica is being moved or is there by mistake. A segment whose compaction is loaded will be released soon.
func (s *Survey) collectItems() map[*Group][]item {
	c := s.cluster
	groups := make(map[model.CollectionID][]*Group)
	for _, g := range s.Groups {
		groups[g.ID] = append(groups[g.ID], g)
	}
	found := make(map[*Group][]item, len(s.Groups))
	for _, id := range c.Runtime.ServedCollections() {
		for _, on := range c.Runtime.SealedOf(id) {
			of := groups[id]
			if i := slices.IndexFunc(of, func(g *Group) bool { return g.Share(on.Node.Node) != nil }); i >= 0 {
				found[of[i]] = s.appendItems(found[of[i]], id, on)
			}
		}
	}
	for g, list := range found {
		found[g] = movable(g, list)
	}
	return found
}

// appendItems adds the sealed segments of a collection on a node, if their rows are known.
func (s *Survey) appendItems(list []item, id model.CollectionID, served model.NodeSegments) []item {
	known, once, cost := model.RecordsOf(s.cluster, id), s.cluster.Dedup(id), s.costs[id]
	for _, x := range served.Segments {
		at, ok := known.Place(x.ID)
		if !ok || x.Level == model.LevelL0 {
			continue
		}
		it := item{
			id: x.ID, node: served.Node.Node, rows: known.Rows[at], bytes: known.Bytes[at],
			size: known.Bytes[at] + indexSize(x),
		}
		it.copied = !once.Sealed(it.node, x.ID)
		it.cost, it.brute, _ = cost.sealedCost(it.rows, x.Indexes)
		list = append(list, it)
	}
	return list
}

func indexSize(x *model.ServedSegment) (sum int64) {
	for i := range x.Indexes {
		sum += x.Indexes[i].Bytes
	}
	return sum
}

func movable(g *Group, list []item) []item {
	slices.SortFunc(list, func(a, b item) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.node, b.node)) })
	kept := list[:0:0]
	for i := range list {
		twice := i > 0 && list[i-1].id == list[i].id || i+1 < len(list) && list[i+1].id == list[i].id
		if x := g.Share(list[i].node); !twice && !list[i].copied && x.assignable {
			kept = append(kept, list[i])
		}
	}
	return kept
}
