package balance

import (
	"cmp"
	"math"
	"slices"

	"kitescope/inspect/model"
)

// scoreBalancer simulates Milvus's score based balancer on one replica (milvus: internal/querycoordv2/balance,
// score_based_balancer.go of the version's branch). It uses the order of ids where the original depends on an
// undefined order.
type scoreBalancer struct {
	quotas                      bool
	global, toleration, reverse float64
	delegator                   float64
	batch                       int
	nodes                       []balancerNode
	items                       []item
	nodeOf                      []int // node of each item
}

// balancerNode is the balancer's state of a node. Rows are sealed rows plus weighted growing rows.
type balancerNode struct {
	id                model.NodeID
	rows              float64 // of the collection
	totalRows         float64 // of all collections
	memory            float64
	leaders           int
	current, assigned float64 // scores of the current round
}

func (n *balancerNode) priority() float64 { return math.Ceil(n.current - n.assigned) }

func (s *Survey) newScoreBalancer(g *Group) *scoreBalancer {
	version := s.cluster.Version.Text
	m := &scoreBalancer{
		quotas: hasQuotas(version), items: s.items()[g], global: s.factor(globalFactorKey, 0.1),
		toleration: s.factor(tolerationKey, 0.05),
		reverse:    s.factor(reverseKey, 1.3), delegator: s.factor(delegatorKey, 0.1),
	}
	weight := 1.0
	switch {
	case m.quotas:
		m.batch = int(s.factor(batchKey, CallSegments))
	case hasGrowingWeight(version):
		weight = s.factor(growingWeightKey, 4)
	}
	for _, x := range g.Shares {
		if !x.assignable {
			continue
		}
		total := s.Node(x.Node)
		n := balancerNode{id: x.Node, leaders: x.Leaders}
		n.rows = float64(x.SealedRows) + weight*float64(x.GrowingRows)
		n.totalRows = float64(total.SealedRows) + weight*float64(total.GrowingRows)
		if _, capacity, _ := x.Memory(); AssignsByMemory(version) {
			n.memory = float64(capacity)
		}
		m.nodes = append(m.nodes, n)
	}
	for i := range m.items {
		at := m.nodeIndex(m.items[i].node)
		m.nodeOf = append(m.nodeOf, at)
	}
	return m
}

// hasGrowingWeight reports whether growing rows have a weight (pull request 30293, after 2.3.5 was built).
func hasGrowingWeight(version string) bool {
	n := numbers(version)
	return n != nil && slices.Compare(n, []int{2, 3, 8}) >= 0
}

func (m *scoreBalancer) nodeIndex(id model.NodeID) int {
	return slices.IndexFunc(m.nodes, func(n balancerNode) bool { return n.id == id })
}

// score computes the scores of a round.
func (m *scoreBalancer) score() {
	sum, memory, told := 0.0, 0.0, true
	for i := range m.nodes {
		n := &m.nodes[i]
		n.assigned = 0
		n.current = n.rows + math.Floor(n.totalRows*m.global)
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
func (m *scoreBalancer) itemScore(x int) float64 { return float64(m.items[x].rows) * (1 + m.global) }

func (m *scoreBalancer) move(x, to int) Move {
	it, from := &m.items[x], m.nodeOf[x]
	rows := float64(it.rows)
	for _, n := range []struct {
		*balancerNode
		sign float64
	}{{&m.nodes[from], -1}, {&m.nodes[to], 1}} {
		n.rows += n.sign * rows
		n.totalRows += n.sign * rows
		n.current += n.sign * m.itemScore(x)
	}
	m.nodeOf[x] = to
	return Move{it.id, it.rows, it.size, it.cost, m.nodes[from].id, m.nodes[to].id}
}

// itemsOn returns the segments of a node, smallest first.
func (m *scoreBalancer) itemsOn(node int) []int {
	var list []int
	for x, at := range m.nodeOf {
		if at == node {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.items[a].rows, m.items[b].rows), cmp.Compare(a, b))
	})
	return list
}

// round selects the smallest segments of nodes above their part, and moves them, largest first, to the node with
// the lowest score.
func (m *scoreBalancer) round() []Move {
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
		for _, x := range m.itemsOn(i) {
			candidates = append(candidates, x)
			left -= m.itemScore(x)
			if left <= part || m.batch > 0 && len(candidates) >= m.batch {
				break
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(-cmp.Compare(m.items[a].rows, m.items[b].rows),
			-cmp.Compare(m.nodes[m.nodeOf[a]].priority(), m.nodes[m.nodeOf[b]].priority()), cmp.Compare(a, b))
	})
	var moves []Move
	for _, x := range candidates {
		from, to := m.nodeOf[x], m.least()
		if from != to && m.hasEnoughBenefit(from, to, m.itemScore(x)) {
			moves = append(moves, m.move(x, to))
		}
		if m.batch > 0 && len(moves) > m.batch {
			break
		}
	}
	return moves
}

// least returns the node with the lowest score.
func (m *scoreBalancer) least() int {
	best := 0
	for i := range m.nodes {
		if m.nodes[i].priority() < m.nodes[best].priority() {
			best = i
		}
	}
	return best
}

// hasEnoughBenefit is Milvus's hasEnoughBenefit: the difference exceeds the tolerance, and the move does not reverse it
// by nearly as much.
func (m *scoreBalancer) hasEnoughBenefit(from, to int, score float64) bool {
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
func (m *scoreBalancer) difference() float64 {
	low, high := math.Inf(1), 0.0
	for i := range m.nodes {
		low, high = min(low, m.nodes[i].current), max(high, m.nodes[i].current)
	}
	if low <= 0 {
		return 0
	}
	return high/low - 1
}

func (m *scoreBalancer) tolerated() bool { return m.difference() < m.toleration }
