package balance

import (
	"cmp"
	"math"
	"slices"

	"kitescope/inspect/model"
)

// machine simulates Milvus's score based balancer on one replica (milvus: internal/querycoordv2/balance,
// score_based_balancer.go of the version's branch). It uses the order of ids where the original depends on an
// undefined order.
type machine struct {
	quotas                      bool
	global, toleration, reverse float64
	delegator                   float64
	batch                       int
	nodes                       []machineNode
	items                       []item
	where                       []int // node of each item
}

// machineNode is the balancer's state of a node. Rows are sealed rows plus weighted growing rows.
type machineNode struct {
	id                model.NodeID
	rows              float64 // of the collection
	all               float64 // of all collections
	memory            float64
	leaders           int
	current, assigned float64 // scores of the current round
}

func (n *machineNode) priority() float64 { return math.Ceil(n.current - n.assigned) }

func (s *Survey) newMachine(g *Group) *machine {
	version := s.cluster.Version.Text
	m := &machine{
		quotas: hasQuotas(version), items: s.items()[g], global: s.factor(globalFactorKey, 0.1), toleration: s.factor(tolerationKey, 0.05),
		reverse: s.factor(reverseKey, 1.3), delegator: s.factor(delegatorKey, 0.1),
	}
	weight := 1.0
	switch {
	case m.quotas:
		m.batch = int(s.factor(batchKey, CallSegments))
	case weighsGrowing(version):
		weight = s.factor(growingWeightKey, 4)
	}
	for _, x := range g.Shares {
		if !x.takes {
			continue
		}
		total := s.Node(x.Node)
		n := machineNode{id: x.Node, leaders: x.Leaders}
		n.rows = float64(x.SealedRows) + weight*float64(x.GrowingRows)
		n.all = float64(total.SealedRows) + weight*float64(total.GrowingRows)
		if _, capacity, _ := x.Memory(); ByRoom(version) {
			n.memory = float64(capacity)
		}
		m.nodes = append(m.nodes, n)
	}
	for i := range m.items {
		at := m.at(m.items[i].node)
		m.where = append(m.where, at)
	}
	return m
}

// weighsGrowing reports whether growing rows have a weight (pull request 30293, after 2.3.5 was built).
func weighsGrowing(version string) bool {
	n := numbers(version)
	return n != nil && slices.Compare(n, []int{2, 3, 8}) >= 0
}

func (m *machine) at(id model.NodeID) int {
	return slices.IndexFunc(m.nodes, func(n machineNode) bool { return n.id == id })
}

// score computes the scores of a round.
func (m *machine) score() {
	sum, memory, told := 0.0, 0.0, true
	for i := range m.nodes {
		n := &m.nodes[i]
		n.assigned = 0
		n.current = n.rows + math.Floor(n.all*m.global)
		sum += n.current
		memory += n.memory
		told = told && n.memory > 0
	}
	if !m.quotas || sum == 0 {
		return
	}
	for i := range m.nodes {
		n := &m.nodes[i]
		n.assigned = sum / float64(len(m.nodes))
		if told {
			n.assigned = n.memory * sum / memory
		}
		n.current += n.assigned * m.delegator * float64(n.leaders)
	}
}

// itemScore returns the score that a segment adds to a node.
func (m *machine) itemScore(x int) float64 { return float64(m.items[x].rows) * (1 + m.global) }

func (m *machine) move(x, to int) Move {
	it, from := &m.items[x], m.where[x]
	rows := float64(it.rows)
	for _, n := range []struct {
		*machineNode
		sign float64
	}{{&m.nodes[from], -1}, {&m.nodes[to], 1}} {
		n.rows += n.sign * rows
		n.all += n.sign * rows
		n.current += n.sign * m.itemScore(x)
	}
	m.where[x] = to
	return Move{it.id, it.rows, it.size, it.cost, m.nodes[from].id, m.nodes[to].id}
}

// on returns the segments of a node, smallest first.
func (m *machine) on(node int) []int {
	var list []int
	for x, at := range m.where {
		if at == node {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(m.items[a].rows, m.items[b].rows), cmp.Compare(a, b)) })
	return list
}

// round selects the smallest segments of nodes above their part, and moves them, largest first, to the node with
// the lowest score.
func (m *machine) round() []Move {
	m.score()
	var candidates []int
	mean := 0.0
	for i := range m.nodes {
		mean += m.nodes[i].current / float64(len(m.nodes))
	}
	for i := range m.nodes {
		left, part := m.nodes[i].current, math.Floor(mean)
		if m.quotas {
			part = m.nodes[i].assigned
		}
		if left <= part {
			continue
		}
		for _, x := range m.on(i) {
			candidates = append(candidates, x)
			left -= m.itemScore(x)
			if left <= part || m.batch > 0 && len(candidates) >= m.batch {
				break
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(-cmp.Compare(m.items[a].rows, m.items[b].rows), -cmp.Compare(m.nodes[m.where[a]].priority(), m.nodes[m.where[b]].priority()), cmp.Compare(a, b))
	})
	var moves []Move
	for _, x := range candidates {
		from, to := m.where[x], m.least()
		if from != to && m.worth(from, to, m.itemScore(x)) {
			moves = append(moves, m.move(x, to))
		}
		if m.batch > 0 && len(moves) > m.batch {
			break
		}
	}
	return moves
}

// least returns the node with the lowest score.
func (m *machine) least() int {
	best := 0
	for i := range m.nodes {
		if m.nodes[i].priority() < m.nodes[best].priority() {
			best = i
		}
	}
	return best
}

// worth is Milvus's hasEnoughBenefit: the difference exceeds the tolerance, and the move does not reverse it by
// nearly as much.
func (m *machine) worth(from, to int, score float64) bool {
	a, b := m.nodes[from].priority(), m.nodes[to].priority()
	before := math.Abs(a - b)
	if before < b*m.toleration {
		return false
	}
	if a, b = a-score, b+score; b > a {
		return (b-a)*m.reverse < before
	}
	return true
}

// difference returns the excess of the highest score over the lowest, as a fraction of the lowest.
func (m *machine) difference() float64 {
	low, high := math.Inf(1), 0.0
	for i := range m.nodes {
		low, high = min(low, m.nodes[i].current), max(high, m.nodes[i].current)
	}
	if low <= 0 {
		return 0
	}
	return high/low - 1
}

func (m *machine) tolerated() bool { return m.difference() < m.toleration }
