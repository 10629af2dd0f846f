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

	"kitescope/inspect/model"
)

// coordinatorResponses holds the responses about the cluster as a whole, by method and object. A later response
// replaces an earlier one.
type coordinatorResponses map[responseKey]datedResponse

// responseKey identifies a response: its kind and the object that it is about.
type responseKey struct {
	kind, object string
	segment      model.SegmentID
}

// datedResponse is a response: its time, the session it came from, and a function that puts it into a Runtime.
type datedResponse struct {
	at      time.Time
	session sessionKey
	put     func(*model.RuntimeParts)
}

// keep stores a response unless a later one is stored.
func (c coordinatorResponses) keep(key responseKey, answer datedResponse) {
	if had, ok := c[key]; !ok || !answer.at.Before(had.at) {
		c[key] = answer
	}
}

// keep stores the response to a question.
func (d *Decoder) keep(q *pendingRecord, what string, put func(*model.RuntimeParts)) {
	d.responses.keep(responseKey{kind: what, object: q.object}, datedResponse{q.At, q.key(), put})
}

// appendTo appends entries to a list of a Runtime. The list becomes non-nil even without entries, because it is
// known then.
func appendTo[T any](part func(*model.RuntimeParts) *[]T, entries ...T) func(*model.RuntimeParts) {
	return func(p *model.RuntimeParts) {
		list := part(p)
		if *list = append(*list, entries...); *list == nil {
			*list = []T{}
		}
	}
}

// drop drops the responses of sessions that turned out to be other processes.
func (c coordinatorResponses) drop(foreign func(sessionKey) bool) {
	maps.DeleteFunc(c, func(_ responseKey, x datedResponse) bool { return foreign(x.session) })
}

// apply puts all responses into a Runtime, in a fixed order.
func (c coordinatorResponses) apply(p *model.RuntimeParts) {
	for _, key := range slices.SortedFunc(maps.Keys(c), func(a, b responseKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.object, b.object), cmp.Compare(a.segment, b.segment))
	}) {
		c[key].put(p)
	}
}

func replicasOf(p *model.RuntimeParts) *[]*model.LiveReplica     { return &p.Replicas }
func leadersOf(p *model.RuntimeParts) *[]model.ShardLeader       { return &p.ShardLeaders }
func loadedOf(p *model.RuntimeParts) *[]*model.LoadedCollection  { return &p.Loaded }
func groupsOf(p *model.RuntimeParts) *[]*model.LiveResourceGroup { return &p.Groups }
func recoveryOf(p *model.RuntimeParts) *[]*model.Recovery        { return &p.Recovery }
func dataSegmentsOf(p *model.RuntimeParts) *[]model.DataSegment  { return &p.DataSegments }
func checkersOf(p *model.RuntimeParts) *[]model.Checker          { return &p.Checkers }
func queryNodesOf(p *model.RuntimeParts) *[]model.NodeState      { return &p.QueryNodeStates }
func streamingNodesOf(p *model.RuntimeParts) *[]model.NodeState  { return &p.StreamingNodeStates }
func tasksOf(p *model.RuntimeParts) *[]*model.Task               { return &p.Tasks }
func targetsOf(p *model.RuntimeParts) *[]model.CurrentTarget     { return &p.Targets }

func (d *Decoder) takeReplicas(q *pendingRecord, m *milvuspb.GetReplicasResponse) error {
	list := []*model.LiveReplica{}
	for _, r := range m.GetReplicas() {
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
			// Without a leader Milvus sends 0, or -1 in some versions.
			if s.GetLeaderID() > 0 {
				leader.Nodes, leader.Addresses = nodeIDs([]int64{s.GetLeaderID()}), []string{d.text(s.GetLeaderAddr())}
			}
			replica.Leaders = append(replica.Leaders, leader)
		}
		slices.SortFunc(replica.Leaders, func(a, b model.ShardLeader) int { return cmp.Compare(a.Channel, b.Channel) })
		list = append(list, replica)
	}
	d.keep(q, "replicas", appendTo(replicasOf, list...))
	return nil
}

func nodeIDs(ids []int64) []model.NodeID {
	list := make([]model.NodeID, len(ids))
	for i, id := range ids {
		list[i] = model.NodeID(id)
	}
	return list
}

func (d *Decoder) takeShardLeaders(q *pendingRecord, m *querypb.GetShardLeadersResponse) error {
	list := []model.ShardLeader{}
	for _, s := range m.GetShards() {
		leader := model.ShardLeader{
			Collection: q.collection, Channel: d.text(s.GetChannelName()), Nodes: nodeIDs(s.GetNodeIds()),
			Serviceable: s.GetServiceable(),
		}
		for _, address := range s.GetNodeAddrs() {
			leader.Addresses = append(leader.Addresses, d.text(address))
		}
		list = append(list, leader)
	}
	d.keep(q, "leaders", appendTo(leadersOf, list...))
	return nil
}

// maxLeaderProblem bounds the text that is searched for channels, in bytes: some hundreds of channels.
const maxLeaderProblem = 64 << 10

// leaderProblem stores why QueryCoord reports no leader. It returns one error for the whole collection, with
// the channel as "[channel=...]".
func (d *Decoder) leaderProblem(q *pendingRecord, s *commonpb.Status) {
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
			list = append(list,
				model.ShardLeader{Collection: q.collection, Channel: d.text(channel), Problem: q.reason})
		}
		rest = next
	}
	if len(list) == 0 {
		list = append(list, model.ShardLeader{Collection: q.collection, Problem: q.reason})
	}
	d.keep(q, "leaders", appendTo(leadersOf, list...))
}

func (d *Decoder) takeLoaded(q *pendingRecord, m *querypb.ShowCollectionsResponse) error {
	r := m
	list := []*model.LoadedCollection{}
	for i, id := range r.GetCollectionIDs() {
		x := &model.LoadedCollection{Collection: model.CollectionID(id)}
		// The lists are parallel. refresh_progress exists since 2.2.
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
	d.keep(q, "loaded", appendTo(loadedOf, list...))
	return nil
}

// takeGroupNames stores the names, so that a group without a description is listed too.
func (d *Decoder) takeGroupNames(q *pendingRecord, m *milvuspb.ListResourceGroupsResponse) error {
	d.keep(q, "groups", appendTo(groupsOf))
	for _, name := range m.GetResourceGroups() {
		g := &model.LiveResourceGroup{Name: d.text(name), Capacity: -1, Available: -1, Requests: -1, Limits: -1}
		// The zero time makes any description replace it, and it replaces none.
		if key := groupKey(g); d.responses[key].put == nil {
			d.responses[key] = datedResponse{session: q.key(), put: appendTo(groupsOf, g)}
		}
	}
	return nil
}

func groupKey(g *model.LiveResourceGroup) responseKey {
	return responseKey{kind: "group", object: g.Name}
}

func (d *Decoder) takeGroup(q *pendingRecord, m *querypb.DescribeResourceGroupResponse) error {
	r := m.GetResourceGroup()
	if r == nil {
		return errors.New("the answer describes no resource group")
	}
	g := &model.LiveResourceGroup{
		Name: d.text(r.GetName()), Capacity: r.GetCapacity(), Available: r.GetNumAvailableNode(), Requests: -1,
		Limits:         -1,
		LoadedReplicas: byCollection(r.GetNumLoadedReplica()), Outgoing: byCollection(r.GetNumOutgoingNode()),
		Incoming: byCollection(r.GetNumIncomingNode()),
	}
	if c := r.GetConfig(); c != nil {
		g.Requests, g.Limits = c.GetRequests().GetNodeNum(), c.GetLimits().GetNodeNum()
	}
	for _, n := range r.GetNodes() {
		g.Nodes = append(g.Nodes, model.NodeID(n.GetNodeId()))
	}
	slices.Sort(g.Nodes)
	d.responses.keep(groupKey(g), datedResponse{q.At, q.key(), appendTo(groupsOf, g)})
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

func (d *Decoder) takeBalance(q *pendingRecord, m *querypb.CheckBalanceStatusResponse) error {
	active := m.GetIsActive()
	d.keep(q, "balance", func(p *model.RuntimeParts) { p.BalanceActive = &active })
	return nil
}

func (d *Decoder) takeCheckers(q *pendingRecord, m *querypb.ListCheckersResponse) error {
	list := []model.Checker{}
	for _, c := range m.GetCheckerInfos() {
		list = append(list, model.Checker{ID: c.GetId(), Name: d.text(c.GetDesc()), Active: c.GetActivated()})
	}
	slices.SortFunc(list, func(a, b model.Checker) int { return cmp.Compare(a.ID, b.ID) })
	d.keep(q, "checkers", appendTo(checkersOf, list...))
	return nil
}

// takeQueryNodes stores the states of query nodes as QueryCoord reports them.
func (d *Decoder) takeQueryNodes(q *pendingRecord, m *querypb.ListQueryNodeResponse) error {
	list := []model.NodeState{}
	for _, n := range m.GetNodeInfos() {
		list = append(list, model.NodeState{Node: model.NodeID(n.GetID()), State: d.text(n.GetState())})
	}
	d.keepStates(q, "query nodes", queryNodesOf, list)
	return nil
}
