package check

import (
	"math"
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// region is a resource group: the query nodes that could share its work, and the replicas
// that are that work. Before resource groups (2.2.x) there is one.
type region struct {
	name   string
	nodes  []*balance.Share // that take segments and are known, by id
	groups []*balance.Group
}

// Bounds of what counts as uneven. A replica is worth a word if its busiest node has a tenth of what
// a node serves on average more than it needs to have.
const (
	unevenRows   = 1.3
	warnRows     = 1.5
	worthAWord   = 0.1
	worthAWarn   = 0.3
	betterBy     = 1.15 // at least so much better it could be
	fewRows      = 5000 // in all: a cluster of less has nothing to spread
	idleShare    = 0.25 // of what the others serve on average
	settlesAfter = 2 * time.Minute
)

// noSurvey says why nothing is known of what query nodes serve, "" if something is, and notes what
// remains unseen. Nodes that did not say it themselves may have told it by their metrics.
func (p *Pass) noSurvey() string {
	if !p.Balance.Asked {
		return "the nodes were not asked"
	}
	if !slices.ContainsFunc(p.Balance.Nodes, func(s *balance.Share) bool { return s.Known }) {
		return "no query node said what it serves" + because(p.Balance.Unknown)
	}
	for _, n := range p.Balance.Unknown {
		p.Unseen(n.Name() + ": " + why(n))
	}
	return ""
}

// regions are the resource groups that have replicas, by name.
func (p *Pass) regions() []*region {
	var list []*region
	of := func(name string) *region {
		i := slices.IndexFunc(list, func(r *region) bool { return r.name == name })
		if i < 0 {
			list = append(list, &region{name: name})
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
		if !n.Known || !n.Takes() {
			continue
		}
		for _, r := range list {
			if p.belongs(n, r) {
				r.nodes = append(r.nodes, n)
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b *region) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

// belongs reports whether a node is in a resource group: it is listed there, or in one of its replicas.
func (p *Pass) belongs(n *balance.Share, r *region) bool {
	for _, g := range p.ResourceGroups {
		if slices.Contains(g.Nodes, n.Node) {
			return g.Name == r.name
		}
	}
	return slices.ContainsFunc(r.groups, func(g *balance.Group) bool { s := g.Share(n.Node); return s != nil && s.Member }) ||
		len(p.ResourceGroups) == 0
}

func (r *region) rows() (sum int64) {
	for _, n := range r.nodes {
		sum += n.Rows()
	}
	return sum
}

func (r *region) cost() (sum float64) {
	for _, n := range r.nodes {
		sum += n.Cost
	}
	return sum
}

func (r *region) sealed() (sum int) {
	for _, n := range r.nodes {
		sum += n.Sealed
	}
	return sum
}

// spread is the largest of some figure of the nodes over their mean, 0 if there is none.
func (r *region) spread(of func(*balance.Share) float64) float64 {
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

// tooMuch is the share of its work that the busiest node would not have if all had the same: by so much
// searches would be shorter.
func (r *region) tooMuch() float64 {
	if x := r.spread(func(s *balance.Share) float64 { return s.Cost }); x > 1 {
		return 1 - 1/x
	}
	return 0
}

// spreadable reports whether some replica has two segments on one node, of which another
// could take one.
func (r *region) spreadable(id model.NodeID) bool {
	return slices.ContainsFunc(r.groups, func(g *balance.Group) bool {
		return slices.ContainsFunc(g.Shares, func(s *balance.Share) bool { return s.Node != id && s.Sealed >= 2 })
	})
}

// idleNode is a node that serves far less than the others of its resource group.
type idleNode struct {
	*balance.Share
	region *region
	others float64 // what the others cost on average
	age    time.Duration
	// fresh: it has just started, and Milvus will give it segments by itself.
	fresh bool
}

// idleNodes finds them. Where auto-balance is on, a node that has just started is none: segments move
// after a second or two, and have settled after a minute and a half.
func (p *Pass) idleNodes() []idleNode {
	var found []idleNode
	for _, r := range p.regions() {
		if len(r.nodes) < 2 || r.rows() < fewRows {
			continue
		}
		total := r.cost()
		for _, n := range r.nodes {
			others := (total - n.Cost) / float64(len(r.nodes)-1)
			if n.Cost > idleShare*others || !r.spreadable(n.Node) {
				continue
			}
			x := idleNode{Share: n, region: r, others: others, age: -1}
			if at := n.Live.StartedAt(); !at.IsZero() {
				x.age = p.Now.Sub(at)
				x.fresh = x.age < settlesAfter && (!p.Balance.Auto.Known || p.Balance.Auto.On)
			}
			found = append(found, x)
		}
	}
	return found
}

// unevenGroup is a replica whose rows could be spread better.
type unevenGroup struct {
	*balance.Group
	// weight is what its busiest node has too much, in what a node of the region serves on average.
	weight    float64
	reachable float64 // 0: unknown
}

// unevenGroups are the replicas of a region whose rows are uneven for no need, the heaviest first.
func (p *Pass) unevenGroups(r *region) []unevenGroup {
	if len(r.nodes) < 2 || r.rows() < fewRows {
		return nil
	}
	mean := float64(r.rows()) / float64(len(r.nodes))
	var list []unevenGroup
	for _, g := range r.groups {
		if g.Unknown > 0 || g.Spread.Nodes < 2 || g.Spread.RowsMaxMean < unevenRows {
			continue
		}
		x := unevenGroup{Group: g}
		x.weight = (g.Spread.RowsMaxMean - 1) * float64(g.Rows()) / float64(g.Spread.Nodes) / mean
		if x.weight < worthAWord {
			continue
		}
		x.reachable = p.Balance.Reachable(g, balance.Options{Goal: balance.DefaultGoal, By: balance.ByRows})
		switch {
		case x.reachable == 0 && g.Sealed < 2*g.Spread.Nodes, x.reachable*betterBy > g.Spread.RowsMaxMean:
			continue // too few segments to spread, or hardly better
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b unevenGroup) int { return int(math.Copysign(1, b.weight-a.weight)) })
	return list
}

func rowsOf(s *balance.Share) float64 { return float64(s.Rows()) }

// metricSource says where figures of a node come from.
func metricSource(s *balance.Share) string {
	if s.FromMetrics {
		return s.Name() + " metrics"
	}
	return s.Name()
}
