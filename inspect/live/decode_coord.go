package live

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// coordinatorAnswers are the answers about the cluster as a whole, by what was asked about:
// a later answer takes the place of the one before it. A nil map: never answered.
type coordinatorAnswers struct {
	replicas map[string]dated[[]*model.LiveReplica]
	leaders  map[string]dated[[]model.ShardLeader]
	loaded   map[string]dated[[]*model.LoadedCollection]
	groups   map[string]dated[*model.LiveResourceGroup]
	recovery map[string]dated[[]*model.Recovery]
	segments map[model.SegmentID]dated[model.DataSegment]
	balance  map[string]dated[bool]
	checkers map[string]dated[[]model.Checker]
	nodes    map[string]dated[[]model.NodeState]
	// What a MixCoord tells over HTTP.
	collector  map[string]dated[*model.GarbageCollector]
	walBalance map[string]dated[bool]
	walNodes   map[string]dated[[]model.NodeState]
	told       map[toldKey]dated[toldAnswer]
	stored     map[string]dated[map[model.CollectionID]int64]
}

func newCoordinatorAnswers() coordinatorAnswers { return coordinatorAnswers{} }

// dated is an answer, when it came and from whom.
type dated[T any] struct {
	at   time.Time
	by   sessionKey
	what T
}

// keep stores an answer unless a later one is there.
func keep[K comparable, T any](m *map[K]dated[T], key K, q *question, what T) {
	if *m == nil {
		*m = map[K]dated[T]{}
	}
	if had, ok := (*m)[key]; !ok || !q.At.Before(had.at) {
		(*m)[key] = dated[T]{q.At, q.key(), what}
	}
}

// without is a map without the answers of some; nil if that were all.
func without[K comparable, T any](m map[K]dated[T], foreign func(sessionKey) bool) map[K]dated[T] {
	before := len(m)
	maps.DeleteFunc(m, func(_ K, x dated[T]) bool { return foreign(x.by) })
	if before > 0 && len(m) == 0 {
		return nil
	}
	return m
}

// forget drops what was said by processes of which it turned out that they are others.
func (c *coordinatorAnswers) forget(foreign func(sessionKey) bool) {
	c.replicas, c.leaders, c.loaded = without(c.replicas, foreign), without(c.leaders, foreign), without(c.loaded, foreign)
	c.groups, c.recovery, c.segments = without(c.groups, foreign), without(c.recovery, foreign), without(c.segments, foreign)
	c.balance, c.checkers, c.told = without(c.balance, foreign), without(c.checkers, foreign), without(c.told, foreign)
	c.stored, c.nodes = without(c.stored, foreign), without(c.nodes, foreign)
	c.collector, c.walBalance, c.walNodes = without(c.collector, foreign), without(c.walBalance, foreign), without(c.walNodes, foreign)
}

// all lists the answers of a map; nil if there was no answer at all.
func all[K cmp.Ordered, T any](m map[K]dated[T]) []T {
	if m == nil {
		return nil
	}
	list := make([]T, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[key].what)
	}
	return list
}

// flat is all for answers that are lists themselves.
func flat[T any](m map[string]dated[[]T]) []T {
	if m == nil {
		return nil
	}
	return append([]T{}, slices.Concat(all(m)...)...)
}

// only is the one answer of a map, nil if there is none.
func only[T any](m map[string]dated[T]) *T {
	if x, ok := m[""]; ok {
		return &x.what
	}
	return nil
}

func (c *coordinatorAnswers) into(p *model.RuntimeParts) {
	p.Replicas, p.ShardLeaders, p.Loaded = flat(c.replicas), flat(c.leaders), flat(c.loaded)
	p.Groups, p.Recovery, p.DataSegments = all(c.groups), flat(c.recovery), all(c.segments)
	p.BalanceActive, p.StreamingBalance = only(c.balance), only(c.walBalance)
	p.StreamingNodeStates, p.Collector = flat(c.walNodes), c.collector[""].what
	p.Checkers, p.QueryNodeStates, p.StoredBytes = flat(c.checkers), flat(c.nodes), c.stored[""].what
	toldInto(p, c.told)
}

func (d *Decoder) takeReplicas(q *question, m proto.Message) error {
	list := []*model.LiveReplica{}
	for _, r := range m.(*milvuspb.GetReplicasResponse).GetReplicas() {
		replica := &model.LiveReplica{
			ID: model.ReplicaID(r.GetReplicaID()), Collection: model.CollectionID(r.GetCollectionID()),
			ResourceGroup: d.text(r.GetResourceGroupName()), Nodes: nodeIDs(r.GetNodeIds()),
		}
		slices.Sort(replica.Nodes)
		for name, n := range r.GetNumOutboundNode() {
			if replica.Outside == nil {
				replica.Outside = map[string]int64{}
			}
			replica.Outside[d.text(name)] = int64(n)
		}
		for _, s := range r.GetShardReplicas() {
			leader := model.ShardLeader{Collection: replica.Collection, Channel: d.text(s.GetDmChannelName())}
			// Without a leader Milvus sends 0, in some versions -1.
			if s.GetLeaderID() > 0 {
				leader.Nodes, leader.Addresses = nodeIDs([]int64{s.GetLeaderID()}), []string{d.text(s.GetLeaderAddr())}
			}
			replica.Leaders = append(replica.Leaders, leader)
		}
		slices.SortFunc(replica.Leaders, func(a, b model.ShardLeader) int { return cmp.Compare(a.Channel, b.Channel) })
		list = append(list, replica)
	}
	keep(&d.answers.replicas, q.about, q, list)
	return nil
}

func nodeIDs(ids []int64) []model.NodeID {
	list := make([]model.NodeID, len(ids))
	for i, id := range ids {
		list[i] = model.NodeID(id)
	}
	return list
}

func (d *Decoder) takeShardLeaders(q *question, m proto.Message) error {
	list := []model.ShardLeader{}
	for _, s := range m.(*querypb.GetShardLeadersResponse).GetShards() {
		leader := model.ShardLeader{
			Collection: q.collection, Channel: d.text(s.GetChannelName()), Nodes: nodeIDs(s.GetNodeIds()), Serviceable: s.GetServiceable(),
		}
		for _, address := range s.GetNodeAddrs() {
			leader.Addresses = append(leader.Addresses, d.text(address))
		}
		list = append(list, leader)
	}
	keep(&d.answers.leaders, q.about, q, list)
	return nil
}

// maxLeaderProblem bounds the text in which channels are looked for: some hundreds of them.
const maxLeaderProblem = 64 << 10

// leaderProblem keeps why QueryCoord names no leader. It then answers with an error for the
// whole collection, in which the channel stands as "[channel=...]".
func (d *Decoder) leaderProblem(q *question, s *commonpb.Status) {
	switch s.GetCode() {
	case codeReplicaUnavailable, codeChannelMissing, codeChannelLack, codeChannelUnavailable, codeNodeUnavailable:
	default:
		if s.GetErrorCode() != commonpb.ErrorCode_NoReplicaAvailable {
			return
		}
	}
	list := []model.ShardLeader{}
	reason := s.GetReason()
	for rest := reason[:min(len(reason), maxLeaderProblem)]; ; {
		_, after, found := strings.Cut(rest, "[channel=")
		if !found {
			break
		}
		channel, next, _ := strings.Cut(after, "]")
		if !slices.ContainsFunc(list, func(l model.ShardLeader) bool { return l.Channel == channel }) {
			list = append(list, model.ShardLeader{Collection: q.collection, Channel: d.text(channel), Problem: q.reason})
		}
		rest = next
	}
	if len(list) == 0 {
		list = append(list, model.ShardLeader{Collection: q.collection, Problem: q.reason})
	}
	keep(&d.answers.leaders, q.about, q, list)
}

func (d *Decoder) takeLoaded(q *question, m proto.Message) error {
	r := m.(*querypb.ShowCollectionsResponse)
	list := []*model.LoadedCollection{}
	for i, id := range r.GetCollectionIDs() {
		x := &model.LoadedCollection{Collection: model.CollectionID(id)}
		// The lists run side by side; refresh_progress came with 2.2.
		if i >= len(r.GetInMemoryPercentages()) {
			return errors.New("the answer lists more collections than percentages")
		}
		x.Percent = r.GetInMemoryPercentages()[i]
		if i < len(r.GetQueryServiceAvailable()) {
			x.Available = r.GetQueryServiceAvailable()[i]
		}
		if i < len(r.GetRefreshProgress()) {
			x.RefreshPercent = r.GetRefreshProgress()[i]
		}
		list = append(list, x)
	}
	keep(&d.answers.loaded, "", q, list)
	return nil
}

// takeGroupNames keeps the names, so that a group that was not described is listed too.
func (d *Decoder) takeGroupNames(q *question, m proto.Message) error {
	if d.answers.groups == nil {
		d.answers.groups = map[string]dated[*model.LiveResourceGroup]{}
	}
	for _, name := range m.(*milvuspb.ListResourceGroupsResponse).GetResourceGroups() {
		name = d.text(name)
		if _, ok := d.answers.groups[name]; !ok {
			// Dated at the beginning of time: any description replaces it.
			d.answers.groups[name] = dated[*model.LiveResourceGroup]{by: q.key(), what: &model.LiveResourceGroup{Name: name, Capacity: -1, Available: -1, Requests: -1, Limits: -1}}
		}
	}
	return nil
}

func (d *Decoder) takeGroup(q *question, m proto.Message) error {
	r := m.(*querypb.DescribeResourceGroupResponse).GetResourceGroup()
	if r == nil {
		return errors.New("the answer describes no resource group")
	}
	g := &model.LiveResourceGroup{
		Name: d.text(r.GetName()), Capacity: r.GetCapacity(), Available: r.GetNumAvailableNode(), Requests: -1, Limits: -1,
		LoadedReplicas: byCollection(r.GetNumLoadedReplica()), Outgoing: byCollection(r.GetNumOutgoingNode()), Incoming: byCollection(r.GetNumIncomingNode()),
	}
	if c := r.GetConfig(); c != nil {
		g.Requests, g.Limits = c.GetRequests().GetNodeNum(), c.GetLimits().GetNodeNum()
	}
	for _, n := range r.GetNodes() {
		g.Nodes = append(g.Nodes, model.NodeID(n.GetNodeId()))
	}
	slices.Sort(g.Nodes)
	keep(&d.answers.groups, g.Name, q, g)
	return nil
}

func byCollection(counts map[int64]int32) map[model.CollectionID]int32 {
	if len(counts) == 0 {
		return nil
	}
	m := make(map[model.CollectionID]int32, len(counts))
	for id, n := range counts {
		m[model.CollectionID(id)] = n
	}
	return m
}

func (d *Decoder) takeBalance(q *question, m proto.Message) error {
	keep(&d.answers.balance, "", q, m.(*querypb.CheckBalanceStatusResponse).GetIsActive())
	return nil
}

func (d *Decoder) takeCheckers(q *question, m proto.Message) error {
	list := []model.Checker{}
	for _, c := range m.(*querypb.ListCheckersResponse).GetCheckerInfos() {
		list = append(list, model.Checker{ID: c.GetId(), Name: d.text(c.GetDesc()), Active: c.GetActivated()})
	}
	slices.SortFunc(list, func(a, b model.Checker) int { return cmp.Compare(a.ID, b.ID) })
	keep(&d.answers.checkers, "", q, list)
	return nil
}

// takeQueryNodes keeps the states of query nodes as QueryCoord has them.
func (d *Decoder) takeQueryNodes(q *question, m proto.Message) error {
	list := []model.NodeState{}
	for _, n := range m.(*querypb.ListQueryNodeResponse).GetNodeInfos() {
		list = append(list, model.NodeState{Node: model.NodeID(n.GetID()), State: d.text(n.GetState())})
	}
	keepStates(&d.answers.nodes, q, list)
	return nil
}
