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
	unevenRows = 1.3
	warnRows   = 1.5
	worthAWord = 0.1
	worthAWarn = 0.3
	betterBy   = 1.15 // at least so much better it could be
	fewRows    = 5000 // in all: a cluster of less has nothing to spread
	idleShare  = 0.25 // of what the others serve on average
	// A node whose segments are large is filled for longer: as long as another has come lately, up to fillsFor after its start.
	fillsFor = time.Hour
	// surelySettled is after how long even a large cluster, or one in the middle of an upgrade, has begun to fill a node.
	surelySettled = 10 * time.Minute
)

// noSurvey says why nothing is known of what query nodes serve, "" if something is, and notes what
// remains unseen. Nodes that did not say it themselves may have told it by their metrics.
func noSurvey(p *check.Pass) string {
	if !p.Balance.Asked {
		return facts.NotAsked
	}
	if !slices.ContainsFunc(p.Balance.Nodes, func(s *balance.Share) bool { return s.Known }) {
		return "no query node reported what it serves" + facts.Because(p.Balance.Unknown)
	}
	for _, n := range p.Balance.Unknown {
		p.Unseen(n.Name() + ": " + facts.WhySilent(n))
	}
	return ""
}

// regions are the resource groups that have replicas, by name.
func regions(p *check.Pass) []*region {
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
			if belongs(p, n, r) {
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
func belongs(p *check.Pass, n *balance.Share, r *region) bool {
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

func (r *region) repeated() (sum int64) {
	for _, n := range r.nodes {
		sum += n.Repeated
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
		sum += n.Sealed - n.Copies
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

// replicasOf are the replicas that name a node as one that takes segments.
func (r *region) replicasOf(id model.NodeID) []*balance.Group {
	return slices.DeleteFunc(slices.Clone(r.groups), func(g *balance.Group) bool {
		s := g.Share(id)
		return s == nil || !s.Member
	})
}

// spreadable reports whether some replica of a node has two segments on another one, of which it could take
// one; of all replicas, where none names it.
func spreadable(p *check.Pass, r *region, id model.NodeID) bool {
	groups := r.replicasOf(id)
	if len(groups) == 0 {
		groups = r.groups
	}
	return slices.ContainsFunc(groups, func(g *balance.Group) bool {
		return !p.Exclusive(g) && slices.ContainsFunc(g.Shares, func(s *balance.Share) bool { return s.Node != id && s.Sealed >= 2 })
	})
}

// settling reports whether a node is being filled: it has just started, or it started not long ago and was given a
// segment lately. Where auto-balance is off nobody fills it.
func settling(p *check.Pass, n *balance.Share) bool {
	if !young(p, n) {
		return false
	}
	auto := p.AutoBalance()
	return auto.On || !auto.Known
}

func young(p *check.Pass, n *balance.Share) bool {
	if at := n.Live.StartedAt(); !at.IsZero() {
		switch age := p.Now.Sub(at); {
		case age < facts.SettlesAfter:
			return true
		case age >= fillsFor:
			return false
		}
	}
	if n.Live == nil || n.Live.Distribution == nil {
		return false
	}
	asked := p.AskedAt()
	return slices.ContainsFunc(n.Live.Distribution.Sealed, func(s model.ServedSegment) bool { return asked.Sub(facts.VersionTime(s.Version)) < facts.MoveGrace })
}

// roomier is how many times the mean memory of some nodes each of them has, where Milvus gives rows by it
// (2.4.13 and later, pull requests 36466 and 36625); nil where it gives all the same, or somebody's is unknown.
func roomier(p *check.Pass, nodes []*balance.Share) map[model.NodeID]float64 {
	if !balance.ByRoom(p.Version.Text) {
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

// evenByRoom reports whether the rows of a replica lie on its nodes as their memory does.
func evenByRoom(p *check.Pass, g *balance.Group) bool {
	takers := slices.DeleteFunc(slices.Clone(g.Shares), func(s *balance.Share) bool { return !s.Takes() })
	times := roomier(p, takers)
	if times == nil {
		return false
	}
	mean := float64(g.Rows()) / float64(len(takers))
	return !slices.ContainsFunc(takers, func(s *balance.Share) bool { return shareRows(s) >= unevenRows*mean*times[s.Node] })
}

// quietNode is a node that serves far less than the others of its resource group.
type quietNode struct {
	*balance.Share
	region *region
	age    time.Duration
	// fresh: it has just started, and Milvus gives it segments by itself.
	fresh bool
}

// idleNodes finds them: by search work, and by the rows that Milvus balances. A node with few large segments does little work,
// and has its rows. Where auto-balance is on, a node that is being filled is none.
func idleNodes(p *check.Pass) []quietNode {
	var found []quietNode
	for _, r := range regions(p) {
		cost, rows := r.cost(), float64(r.rows())
		if len(r.nodes) < 2 || rows < fewRows || cost <= 0 {
			continue
		}
		times := roomier(p, r.nodes)
		others := float64(len(r.nodes) - 1)
		for _, n := range r.nodes {
			share := idleShare
			if x, ok := times[n.Node]; ok {
				share *= min(1, x) // a small node is to have less
			}
			if n.Cost > share*(cost-n.Cost)/others || shareRows(n) > share*(rows-shareRows(n))/others || !spreadable(p, r, n.Node) {
				continue
			}
			x := quietNode{Share: n, region: r, age: -1, fresh: settling(p, n)}
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
	// weight is what its busiest node has too much, in what a node of the region serves on average.
	weight    float64
	reachable float64 // 0: unknown
}

// unevenGroups are the replicas of a region whose rows are uneven for no need, the heaviest first.
func unevenGroups(p *check.Pass, r *region) []unevenGroup {
	if len(r.nodes) < 2 || r.rows() < fewRows {
		return nil
	}
	mean := float64(r.rows()) / float64(len(r.nodes))
	var list []unevenGroup
	for _, g := range r.groups {
		if g.Unknown > 0 || g.Spread.Nodes < 2 || g.Spread.RowsMaxMean < unevenRows || p.Exclusive(g) || evenByRoom(p, g) {
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

func shareRows(s *balance.Share) float64 { return float64(s.Rows()) }

// upTo is a number of rows, some of which may have been counted twice.
func upTo(rows, repeated int64) string {
	if repeated > 0 {
		return "up to " + words.Number(rows)
	}
	return words.Number(rows)
}

// rowsFact is a number of rows as evidence.
func rowsFact(name string, rows, repeated int64, source string) check.Evidence {
	e := check.Count(name, rows, source)
	e.Value = upTo(rows, repeated)
	return e
}

// metricSource says where figures of a node come from.
func metricSource(s *balance.Share) string {
	if s.FromMetrics {
		return s.Name() + " metrics"
	}
	return s.Name()
}
