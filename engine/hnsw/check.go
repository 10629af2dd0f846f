package hnsw

import "fmt"

// Check returns an error unless the graph is valid for n nodes. In a valid graph, all tables have the expected
// length, the entry exists and reaches the highest level, each list is inside its table, and each link leads to an
// existing node that reaches the level of the link. The error names the node.
func (g *Graph) Check(n int) error {
	if err := g.checkShape(n); err != nil {
		return err
	}
	for node, top := range g.Levels {
		for level := range int(top) + 1 {
			for _, to := range g.Neighbours(uint32(node), level) {
				if int(to) >= n {
					return fmt.Errorf("node %d links on level %d to node %d of %d", node, level, to, n)
				}
				if int(g.Levels[to]) < level {
					return fmt.Errorf("node %d links on level %d to node %d, whose top level is %d", node, level, to,
						g.Levels[to])
				}
			}
		}
	}
	return nil
}

// checkShape is the part of Check that does not read links. It is sufficient for a search to stay inside the
// tables, because a search treats a link to a missing node as the end of the list.
func (g *Graph) checkShape(n int) error {
	switch {
	case n > End:
		return fmt.Errorf("%d nodes do not fit in 31-bit ids", n)
	case len(g.Levels) != n || len(g.UpperAt) != n:
		return fmt.Errorf("%d nodes with %d levels and %d places of upper links", n, len(g.Levels), len(g.UpperAt))
	case n == 0:
		return nil
	case g.M < 0 || g.M0 <= 0 || len(g.Base) != n*g.M0:
		return fmt.Errorf("%d nodes of %d links with %d slots on level 0", n, g.M0, len(g.Base))
	case int64(g.Entry) >= int64(n):
		return fmt.Errorf("the entry is node %d of %d", g.Entry, n)
	case g.MaxLevel < 0 || int(g.Levels[g.Entry]) < g.MaxLevel:
		return fmt.Errorf("the highest level is %d, and the entry's is %d", g.MaxLevel, g.Levels[g.Entry])
	}
	for i, level := range g.Levels {
		if end := int64(g.UpperAt[i]) + int64(level); level > 0 && end*int64(g.M) > int64(len(g.Upper)) {
			return fmt.Errorf("node %d of level %d has upper links up to slot %d of %d", i, level, end*int64(g.M),
				len(g.Upper))
		}
	}
	return nil
}

// links returns the slots of a node's list on a level, or nil if the level is above the node's.
func (g *Graph) links(node uint32, level int) []uint32 {
	if level == 0 {
		at := int(node) * g.M0
		return g.Base[at : at+g.M0]
	}
	if int(g.Levels[node]) < level {
		return nil
	}
	at := (int(g.UpperAt[node]) + level - 1) * g.M
	return g.Upper[at : at+g.M]
}
