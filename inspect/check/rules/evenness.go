package rules

import (
	"math"
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// resourceGroup is a resource group: its query nodes and the replicas that they serve. Before resource groups (2.2.x)
// there is one resource group.
type resourceGroup struct {
	name   string
	nodes  []*balance.Share // nodes that take segments and whose data is known, by id
	groups []*balance.Group
}

// Thresholds of uneven load. A replica is reported if its busiest node has at least minExcess (a tenth) of a
// node's average rows in excess.
const (
	unevenRows     = 1.3
	warnRows       = 1.5
	minExcess      = 0.1
	warnExcess     = 0.3
	minImprovement = 1.15 // minimum improvement by moving segments
	fewRows        = 5000 // in total: with fewer rows there is nothing to spread
	idleShare      = 0.25 // of the average of the others
	// maxFillTime is the maximum age of a node that is still being filled. A node with large segments is filled
	// for longer, as long as another segment has arrived recently.
	maxFillTime = time.Hour
	// minSettledAge is the age at which a node has received segments even in a large cluster, or during an
	// upgrade.
	minSettledAge = 10 * time.Minute
)

// noSurvey returns the reason why it is unknown which rows query nodes serve, or "" if some node's data is
// known. It records the nodes whose data is unknown. The data of a node may come from its metrics instead of
// its own response.
func noSurvey(p *check.Pass) string {
	if !p.Balance.HasRuntime {
		return facts.NotAsked
	}
	if !slices.ContainsFunc(p.Balance.Nodes, func(s *balance.Share) bool { return s.Known }) {
		return "no query node reported what it serves" + facts.ReasonSuffix(p.Balance.Unknown)
	}
	for _, n := range p.Balance.Unknown {
		p.NoteUnseen(n.Name() + ": " + facts.WhySilent(n))
	}
	return ""
}

// resourceGroups returns the resource groups that have replicas, sorted by name.
func resourceGroups(p *check.Pass) []*resourceGroup {
	var list []*resourceGroup
	of := func(name string) *resourceGroup {
		i := slices.IndexFunc(list, func(r *resourceGroup) bool { return r.name == name })
		if i < 0 {
			list = append(list, &resourceGroup{name: name})
			i = len(list) - 1
		}
		return list[i]
	}
	for _, g := range p.Balance.Groups {
		if g.Replica != nil {
			r := of(g.ResourceGroup)
			r.groups = append(r.groups, g)
		}
	}
	for _, n := range p.Balance.Nodes {
		if !n.Known || !n.Assignable() {
			continue
		}
		for _, r := range list {
			if belongs(p, n, r) {
				r.nodes = append(r.nodes, n)
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b *resourceGroup) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

// belongs reports whether a node is in a resource group: the group or one of its replicas lists it.
func belongs(p *check.Pass, n *balance.Share, r *resourceGroup) bool {
	for _, g := range p.ResourceGroups {
		if slices.Contains(g.Nodes, n.Node) {
			return g.Name == r.name
		}
	}
	return slices.ContainsFunc(r.groups, func(g *balance.Group) bool {
		s := g.Share(n.Node)
		return s != nil && s.Member
	}) ||
		len(p.ResourceGroups) == 0
}

func (r *resourceGroup) rows() (sum int64) {
	for _, n := range r.nodes {
		sum += n.Rows()
	}
	return sum
}

func (r *resourceGroup) repeated() (sum int64) {
	for _, n := range r.nodes {
		sum += n.RepeatedRows
	}
	return sum
}

func (r *resourceGroup) cost() (sum float64) {
	for _, n := range r.nodes {
		sum += n.Cost
	}
	return sum
}

func (r *resourceGroup) sealed() (sum int) {
	for _, n := range r.nodes {
		sum += n.Sealed - n.Copies
	}
	return sum
}

// spread returns the maximum of a figure over its mean on the group's nodes. It returns 0 if there are fewer
// than two nodes or the sum is not positive.
func (r *resourceGroup) spread(of func(*balance.Share) float64) float64 {
	sum, most := 0.0, 0.0
	for _, n := range r.nodes {
		sum += of(n)
		most = max(most, of(n))
	}
	if sum <= 0 || len(r.nodes) < 2 {
		return 0
	}
	return most / (sum / float64(len(r.nodes)))
}

// excess returns the share of the busiest node's work that exceeds the mean of all nodes. Searches would be
// faster by that share if all nodes had equal work.
func (r *resourceGroup) excess() float64 {
	if x := r.spread(func(s *balance.Share) float64 { return s.Cost }); x > 1 {
		return 1 - 1/x
	}
	return 0
}

// replicasOf returns the replicas that have the node as a member that takes segments.
func (r *resourceGroup) replicasOf(id model.NodeID) []*balance.Group {
	return slices.DeleteFunc(slices.Clone(r.groups), func(g *balance.Group) bool {
		s := g.Share(id)
		return s == nil || !s.Member
	})
}

// spreadable reports whether some replica of a node has two segments on another node and could move one here.
// If no replica has the node as a member, it looks at all replicas of the region.
func spreadable(p *check.Pass, r *resourceGroup, id model.NodeID) bool {
	groups := r.replicasOf(id)
	if len(groups) == 0 {
		groups = r.groups
	}
	return slices.ContainsFunc(groups, func(g *balance.Group) bool {
		return !p.Exclusive(g) &&
			slices.ContainsFunc(g.Shares, func(s *balance.Share) bool { return s.Node != id && s.Sealed >= 2 })
	})
}

// isFilling reports whether a node is being filled: it has just started, or it started within the last hour and
// received a segment recently. If auto-balance is off, no node is being filled.
func isFilling(p *check.Pass, n *balance.Share) bool {
	if !recentlyFilled(p, n) {
		return false
	}
	auto := p.AutoBalance()
	return auto.On || !auto.Known
}

func recentlyFilled(p *check.Pass, n *balance.Share) bool {
	if at := n.Live.StartedAt(); !at.IsZero() {
		switch age := p.Now.Sub(at); {
		case age < facts.WarmupPeriod:
			return true
		case age >= maxFillTime:
			return false
		}
	}
	if n.Live == nil || n.Live.Distribution == nil {
		return false
	}
	asked := p.AskedAt()
	return slices.ContainsFunc(n.Live.Distribution.Sealed, func(s model.ServedSegment) bool {
		return asked.Sub(facts.VersionTime(s.Version)) < facts.MoveGrace
	})
}

// memoryRatios returns the memory of each node over the mean of all of them, if Milvus spreads rows by memory
// (2.4.13 and later, pull requests 36466 and 36625). It returns nil if Milvus spreads rows evenly, or if the
// memory of a node is unknown.
func memoryRatios(p *check.Pass, nodes []*balance.Share) map[model.NodeID]float64 {
	if !balance.AssignsByMemory(p.Version.Text) {
		return nil
	}
	times, sum := make(map[model.NodeID]float64, len(nodes)), 0.0
	for _, n := range nodes {
		_, capacity, _ := n.Memory()
		if capacity <= 0 {
			return nil
		}
		times[n.Node] = float64(capacity)
		sum += float64(capacity)
	}
	for id := range times {
		times[id] *= float64(len(nodes)) / sum
	}
	return times
}

// evenByMemory reports whether the rows of a replica are spread over its nodes in proportion to their memory.
func evenByMemory(p *check.Pass, g *balance.Group) bool {
	takers := slices.DeleteFunc(slices.Clone(g.Shares), func(s *balance.Share) bool { return !s.Assignable() })
	times := memoryRatios(p, takers)
	if times == nil {
		return false
	}
	mean := float64(g.Rows()) / float64(len(takers))
	return !slices.ContainsFunc(takers, func(s *balance.Share) bool {
		return shareRows(s) >= unevenRows*mean*times[s.Node]
	})
}

// underusedNode is a node that serves far less than the others of its resource group.
type underusedNode struct {
	*balance.Share
	group *resourceGroup
	age   time.Duration
	// fresh reports whether the node is still being filled, so that Milvus gives it segments on its own.
	fresh bool
}

// idleNodes returns the nodes that serve far less than the others, both in search work and in rows, which
// Milvus balances. A node with few large segments does little work but has its share of rows. Nodes that are
// being filled are marked as fresh.
func idleNodes(p *check.Pass) []underusedNode {
	var found []underusedNode
	for _, r := range resourceGroups(p) {
		cost, rows := r.cost(), float64(r.rows())
		if len(r.nodes) < 2 || rows < fewRows || cost <= 0 {
			continue
		}
		times := memoryRatios(p, r.nodes)
		others := float64(len(r.nodes) - 1)
		for _, n := range r.nodes {
			share := idleShare
			if x, ok := times[n.Node]; ok {
				share *= min(1, x) // a node with less memory gets fewer rows
			}
			if n.Cost > share*(cost-n.Cost)/others || shareRows(n) > share*(rows-shareRows(n))/others ||
				!spreadable(p, r, n.Node) {
				continue
			}
			x := underusedNode{Share: n, group: r, age: -1, fresh: isFilling(p, n)}
			if at := n.Live.StartedAt(); !at.IsZero() {
				x.age = p.Now.Sub(at)
			}
			found = append(found, x)
		}
	}
	return found
}

// unevenGroup is a replica whose rows could be spread better.
type unevenGroup struct {
	*balance.Group
	// weight is the excess of the busiest node, in multiples of the average rows of a node in the region.
	weight    float64
	reachable float64 // reachable max/mean of rows; 0 if unknown
}

// unevenGroups returns the replicas of a region whose rows are uneven and could be spread better, by descending
// weight.
func unevenGroups(p *check.Pass, r *resourceGroup) []unevenGroup {
	if len(r.nodes) < 2 || r.rows() < fewRows {
		return nil
	}
	mean := float64(r.rows()) / float64(len(r.nodes))
	var list []unevenGroup
	for _, g := range r.groups {
		if g.Unknown > 0 || g.Spread.Nodes < 2 || g.Spread.RowsMaxMean < unevenRows || p.Exclusive(g) ||
			evenByMemory(p, g) {
			continue
		}
		x := unevenGroup{Group: g}
		x.weight = (g.Spread.RowsMaxMean - 1) * float64(g.Rows()) / float64(g.Spread.Nodes) / mean
		if x.weight < minExcess {
			continue
		}
		x.reachable = p.Balance.Reachable(g, balance.Options{Goal: balance.DefaultGoal, By: balance.ByRows})
		switch {
		case x.reachable == 0 && g.Sealed < 2*g.Spread.Nodes, x.reachable*minImprovement > g.Spread.RowsMaxMean:
			continue // too few segments to spread, or hardly any improvement
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b unevenGroup) int { return int(math.Copysign(1, b.weight-a.weight)) })
	return list
}

func shareRows(s *balance.Share) float64 { return float64(s.Rows()) }

// upTo formats a number of rows, with "up to" if some may be counted twice.
func upTo(rows, repeated int64) string {
	if repeated > 0 {
		return "up to " + words.Number(rows)
	}
	return words.Number(rows)
}

// rowsFact returns a number of rows as evidence.
func rowsFact(name string, rows, repeated int64, source string) check.Evidence {
	e := check.Count(name, rows, source)
	e.Value = upTo(rows, repeated)
	return e
}

// metricSource returns the source of a node's figures: its metrics or its own response.
func metricSource(s *balance.Share) string {
	if s.FromMetrics {
		return s.Name() + " metrics"
	}
	return s.Name()
}
