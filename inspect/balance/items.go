package balance

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

// item is a sealed segment as a plan moves it.
type item struct {
	id          model.SegmentID
	node        model.NodeID
	rows, bytes int64 // of its record
	size        int64 // logs and index files
	cost, brute float64
	indexed     bool
	copied      bool // it counts elsewhere
}

// collectItems lists, per group and by id, the sealed segments that can be moved: their
// rows are known, and they are on one node that is neither leaving nor outside. A segment
// that is on two nodes of a replica is just being moved, or is there by mistake; one whose
// compaction is loaded is about to go.
func (s *Survey) collectItems() map[*Group][]item {
	c := s.cluster
	known := newRecords(c.Segments)
	byNode := make(map[model.CollectionID][]*Group)
	for _, g := range s.Groups {
		byNode[g.ID] = append(byNode[g.ID], g)
	}
	found := make(map[*Group][]item, len(s.Groups))
	for _, n := range c.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		at := 0
		for i := range n.Distribution.Sealed {
			x := &n.Distribution.Sealed[i]
			if x.Level == model.LevelL0 {
				continue
			}
			var ok bool
			if at, ok = model.Seek(known.ids, x.ID, at); !ok {
				continue
			}
			for _, g := range byNode[x.Collection] {
				if g.Share(n.Node) != nil {
					it := item{id: x.ID, node: n.Node, rows: known.rows[at], bytes: known.bytes[at], size: known.bytes[at] + indexSize(x)}
					it.copied = !c.Once(g.ID).Sealed(n.Node, x.ID)
					it.cost, it.brute, it.indexed = s.costs[g.ID].sealed(it.rows, x.Indexes)
					found[g] = append(found[g], it)
					break
				}
			}
		}
	}
	for g, list := range found {
		found[g] = movable(g, list)
	}
	return found
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
		if x := g.Share(list[i].node); !twice && !list[i].copied && x.takes {
			kept = append(kept, list[i])
		}
	}
	return kept
}
