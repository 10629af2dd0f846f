package balance

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// surveyBuilder is a Survey under construction.
type surveyBuilder struct {
	*Survey
	previous, next map[model.CollectionID]*sealedSums // of the previous survey, and of this one
	byCollection   map[model.CollectionID][]*Group
	nodes          map[model.NodeID]*Share
}

// newSurveyBuilder adds the replicas and their members, and all query nodes.
func newSurveyBuilder(s *Survey, previous map[model.CollectionID]*sealedSums) *surveyBuilder {
	c := s.cluster
	s.costs = make(map[model.CollectionID]*costing)
	t := &surveyBuilder{
		Survey: s, previous: previous, next: make(map[model.CollectionID]*sealedSums),
		byCollection: make(map[model.CollectionID][]*Group), nodes: make(map[model.NodeID]*Share),
	}
	for _, x := range c.Sessions {
		if x.Role == "querynode" {
			t.node(x.Node)
		}
	}
	for _, n := range c.Runtime.QueryNodes() {
		t.node(n.Node)
	}
	for _, r := range c.Replicas {
		t.replica(r)
	}
	return t
}

func (t *surveyBuilder) replica(r *model.Replica) {
	g := t.group(r.Collection)
	g.Replica, g.ResourceGroup = r, r.ResourceGroup
	for _, list := range []struct {
		nodes               []model.NodeID
		readOnly, streaming bool
	}{
		{r.Nodes, false, false},
		{r.RONodes, true, false},
		{r.StreamingNodes, false, true},
		{r.ROStreamingNodes, true, true},
	} {
		for _, id := range list.nodes {
			if g.Share(id) != nil {
				continue
			}
			t.node(id).Member = true
			x := t.share(g, id)
			x.Member, x.ReadOnly, x.Streaming = true, list.readOnly, list.streaming
			x.assignable = !x.ReadOnly && !x.Streaming && x.Session != nil && !x.Session.Stopping
		}
	}
}

// group adds a group of a collection.
func (t *surveyBuilder) group(id model.CollectionID) *Group {
	g := &Group{ID: id, Collection: t.cluster.Collection(id), Unread: !t.cluster.Loaded.Has(model.PartServing)}
	if g.Collection != nil {
		g.Database = t.cluster.DatabaseName(g.Collection.Database)
	}
	t.Groups = append(t.Groups, g)
	t.byCollection[id] = append(t.byCollection[id], g)
	return g
}

// node returns the totals of a node over all groups. It adds the node if it is missing.
func (t *surveyBuilder) node(id model.NodeID) *Share {
	x := t.nodes[id]
	if x == nil {
		x = &Share{
			Node: id, Session: t.cluster.SessionIn(id, "querynode"), Live: t.cluster.Runtime.LiveNode("querynode", id),
			unread: !t.cluster.Loaded.Has(model.PartServing),
		}
		x.Known = x.Live != nil && x.Live.Distribution != nil
		x.assignable = x.Session != nil && !x.Session.Stopping && !embedded(x.Session)
		x.Streaming = x.Session != nil && embedded(x.Session)
		t.nodes[id] = x
		t.Nodes = append(t.Nodes, x)
	}
	return x
}

// embedded reports whether a query node runs inside a streaming node (2.6), by its label.
func embedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(p model.Pair) bool {
		return strings.Contains(p.Key, "STREAMING-EMBEDDED")
	})
}

// share returns the share of a node in a group. It adds the share if it is missing.
func (t *surveyBuilder) share(g *Group, id model.NodeID) *Share {
	x := g.Share(id)
	if x == nil {
		n := t.node(id)
		x = &Share{
			Node: id, Session: n.Session, Live: n.Live, Known: n.Known, FromMetrics: n.FromMetrics, unread: n.unread,
		}
		g.Shares = append(g.Shares, x)
	}
	return x
}

// groupOf returns the replica for which a node serves a collection. It adds a group if the metadata has none.
func (t *surveyBuilder) groupOf(id model.CollectionID, node model.NodeID) *Group {
	groups := t.byCollection[id]
	if len(groups) == 0 {
		return t.group(id)
	}
	r := t.cluster.ReplicaOf(id, node)
	return groups[max(0, slices.IndexFunc(groups, func(g *Group) bool { return g.Replica == r }))]
}

func (t *surveyBuilder) costing(id model.CollectionID) *costing {
	x := t.costs[id]
	if x == nil {
		x = t.Weights.costingOf(t.cluster, id)
		t.costs[id] = x
	}
	return x
}

// distributions adds the data that query nodes reported themselves.
func (t *surveyBuilder) distributions() {
	r := t.cluster.Runtime
	for _, id := range r.ServedCollections() {
		cost := t.costing(id)
		sums := t.previous[id]
		if !sums.valid(t.cluster, id, t.Weights) {
			sums = sumSealed(t.cluster, id, cost)
		}
		t.next[id] = sums
		for i := range sums.shares {
			x := &sums.shares[i]
			t.share(t.groupOf(id, x.Node), x.Node).add(x)
		}
		for _, v := range r.ViewsOf(id) {
			x := t.share(t.groupOf(id, v.Node.Node), v.Node.Node)
			x.Leaders++
			segments, rows := sums.once.Growing(v.LeaderView)
			x.addGrowing(cost, segments, rows)
		}
	}
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Channels {
			t.share(t.groupOf(n.Distribution.Channels[i].Collection, n.Node), n.Node).Channels++
		}
	}
}

// sealedFigures is the data of a sealed segment that is not from its node.
type sealedFigures struct {
	rows, bytes int64
	known       bool // its rows are known
}

// loadedRows returns the rows of a segment without a record, according to its index files.
func loadedRows(s *model.ServedSegment) (rows int64, ok bool) {
	for i := range s.Indexes {
		rows = max(rows, s.Indexes[i].Rows)
	}
	return rows, rows > 0
}

// addSealed adds a sealed segment. counts is false for a copy, which takes memory but none of the work. indexed
// reports whether the segment counts and every vector field is behind an index.
func (s *Share) addSealed(cost *costing, x *model.ServedSegment, figures sealedFigures, counts bool) (indexed bool) {
	s.Sealed++
	for i := range x.Indexes {
		s.IndexBytes += x.Indexes[i].Bytes
	}
	rows := figures.rows
	s.SealedRows += rows
	s.Bytes += figures.bytes
	switch {
	case !counts:
		s.Copies++
		s.CopiedRows += rows
		return false
	case !figures.known:
		s.Unrecorded++
		return false
	}
	all, brute, indexed := cost.sealedCost(rows, x.Indexes)
	s.Cost += all
	s.BruteCost += brute
	if indexed {
		s.IndexedRows += rows
	} else {
		s.BruteRows += rows
	}
	return indexed
}

func (s *Share) addGrowing(cost *costing, segments int, rows int64) {
	s.Growing += segments
	s.GrowingRows += rows
	s.BruteRows += rows
	all := cost.growingCost(rows)
	s.Cost += all
	s.BruteCost += all
	s.GrowingCost += all
}

// finish computes the totals of the nodes and the spreads, and sorts everything.
func (t *surveyBuilder) finish() {
	for _, g := range t.Groups {
		g.setRepeatedRows()
		slices.SortFunc(g.Shares, byNode)
		for _, x := range g.Shares {
			t.nodes[x.Node].add(x)
			g.Sealed += x.Sealed - x.Copies
			if !x.Known && x.State() != "dead" {
				g.Unknown++
			}
		}
		g.Spread = t.spread(g.Shares)
	}
	slices.SortFunc(t.Nodes, byNode)
	t.Spread = t.spread(t.Nodes)
	slices.SortStableFunc(t.Groups, func(a, b *Group) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Database, b.Database), cmp.Compare(a.Name(), b.Name()),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.replica(), b.replica()))
	})
	for _, n := range t.cluster.Runtime.QueryNodes() {
		if !t.nodes[n.Node].Known {
			t.Unknown = append(t.Unknown, n)
		}
	}
}

// rank sorts replicas before groups without one.
func rank(g *Group) int {
	if g.Replica == nil {
		return 1
	}
	return 0
}

func (g *Group) replica() model.ReplicaID {
	if g.Replica == nil {
		return 0
	}
	return g.Replica.ID
}

func byNode(a, b *Share) int { return cmp.Compare(a.Node, b.Node) }

// add adds a node's share of a replica.
func (s *Share) add(x *Share) {
	s.Sealed += x.Sealed
	s.Growing += x.Growing
	s.Copies += x.Copies
	s.SealedRows += x.SealedRows
	s.CopiedRows += x.CopiedRows
	s.GrowingRows += x.GrowingRows
	s.RepeatedRows += x.RepeatedRows
	s.LevelZero += x.LevelZero
	s.Unrecorded += x.Unrecorded
	s.Bytes += x.Bytes
	s.IndexBytes += x.IndexBytes
	s.IndexedRows += x.IndexedRows
	s.BruteRows += x.BruteRows
	s.Leaders += x.Leaders
	s.Channels += x.Channels
	s.Cost += x.Cost
	s.BruteCost += x.BruteCost
	s.GrowingCost += x.GrowingCost
	s.ReadOnly = s.ReadOnly || x.ReadOnly
}
