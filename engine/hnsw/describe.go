package hnsw

import (
	"fmt"
	"slices"
)

// Shape holds statistics of a graph, computed without its vectors.
type Shape struct {
	Levels []LevelShape // level 0 first

	// Unreachable is the number of nodes that cannot be reached over links of level 0 from the entry or from any
	// node above level 0. Nodes of upper levels count as reached, because a search may reach them without a link on
	// level 0. Examples holds the first unreachable nodes.
	Unreachable int
	Examples    []uint32
	// Links is the number of links of level 0. Symmetric is the number of links that also exist in the opposite
	// direction.
	Links, Symmetric int
	// The rest counts faulty links, which no writer produces: SelfLinks, Duplicates (the same neighbour twice in a
	// list), Dangling (links to missing nodes) and WrongLevel (a neighbour that does not reach the level of the link).
	// EntryFault describes the fault of the entry; it is empty if the entry is valid.
	SelfLinks, Duplicates, Dangling, WrongLevel int
	EntryFault                                  string
}

// LevelShape holds the number of nodes that reach a level, and statistics of their links there.
type LevelShape struct {
	Nodes            int
	Min, Median, Max int
	Mean             float64
}

// maxExamples is the maximum number of nodes in Examples.
const maxExamples = 10

// Neighbours returns the neighbours of a node on a level, in the order of the file. It returns nil if the level is
// above the node's. The slice shares memory with the graph and must not be modified.
func (g *Graph) Neighbours(node uint32, level int) []uint32 {
	if level > int(g.Levels[node]) {
		return nil
	}
	slots := g.Base[int(node)*g.M0 : (int(node)+1)*g.M0]
	if level > 0 {
		at := (int(g.UpperAt[node]) + level - 1) * g.M
		slots = g.Upper[at : at+g.M]
	}
	for i, s := range slots {
		if s&End != 0 {
			return slots[:i]
		}
	}
	return slots
}

// Describe computes the statistics of the graph. It reads every link.
func (g *Graph) Describe() *Shape {
	s := &Shape{}
	if len(g.Levels) == 0 {
		return s
	}
	s.EntryFault = g.entryFault()
	for level := range g.MaxLevel + 1 {
		s.level(g, level)
	}
	s.reach(g)
	s.countSymmetric(g)
	return s
}

func (g *Graph) entryFault() string {
	switch n := len(g.Levels); {
	case int(g.Entry) >= n:
		return fmt.Sprintf("the entry is node %d of %d", g.Entry, n)
	case int(g.Levels[g.Entry]) != g.MaxLevel:
		return fmt.Sprintf("the entry, node %d, reaches level %d; the highest is %d", g.Entry, g.Levels[g.Entry],
			g.MaxLevel)
	case g.MaxLevel != int(slices.Max(g.Levels)):
		return fmt.Sprintf("the highest level should be %d, a node reaches %d", g.MaxLevel, slices.Max(g.Levels))
	}
	return ""
}

// level adds the degrees and faults of a level.
func (s *Shape) level(g *Graph, level int) {
	var degrees []int
	total := 0
	seen := make(map[uint32]bool, g.M0)
	for node, top := range g.Levels {
		if int(top) < level {
			continue
		}
		list := g.Neighbours(uint32(node), level)
		degrees = append(degrees, len(list))
		total += len(list)
		clear(seen)
		for _, n := range list {
			switch {
			case int(n) >= len(g.Levels):
				s.Dangling++
			case int(n) == node:
				s.SelfLinks++
			case int(g.Levels[n]) < level:
				s.WrongLevel++
			case seen[n]:
				s.Duplicates++
			}
			seen[n] = true
		}
	}
	l := LevelShape{Nodes: len(degrees)}
	if len(degrees) > 0 {
		slices.Sort(degrees)
		l.Min, l.Median, l.Max = degrees[0], degrees[len(degrees)/2], degrees[len(degrees)-1]
		l.Mean = float64(total) / float64(len(degrees))
	}
	s.Levels = append(s.Levels, l)
}

// reach counts the nodes that cannot be reached on level 0 from the entry and from the nodes above.
func (s *Shape) reach(g *Graph) {
	reached := make([]bool, len(g.Levels))
	var next []uint32
	visit := func(n uint32) {
		if int(n) < len(reached) && !reached[n] {
			reached[n] = true
			next = append(next, n)
		}
	}
	visit(g.Entry)
	for node, level := range g.Levels {
		if level > 0 {
			visit(uint32(node))
		}
	}
	for len(next) > 0 {
		node := next[len(next)-1]
		next = next[:len(next)-1]
		for _, n := range g.Neighbours(node, 0) {
			visit(n)
		}
	}
	for node, ok := range reached {
		if !ok {
			s.Unreachable++
			if len(s.Examples) < maxExamples {
				s.Examples = append(s.Examples, uint32(node))
			}
		}
	}
}

// countSymmetric counts the links of level 0, and the links that exist in both directions.
func (s *Shape) countSymmetric(g *Graph) {
	for node := range g.Levels {
		for _, n := range g.Neighbours(uint32(node), 0) {
			s.Links++
			if int(n) < len(g.Levels) && slices.Contains(g.Neighbours(n, 0), uint32(node)) {
				s.Symmetric++
			}
		}
	}
}
