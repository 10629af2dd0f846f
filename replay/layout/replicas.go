package layout

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/replay"
)

// members holds the nodes of a replica.
type members struct {
	all []model.NodeID // by id
	// sealedNodes are the nodes for sealed segments, leaders the nodes that can lead shards.
	sealedNodes, leaders []model.NodeID
	group                string
	assumed              bool // assumed, because no query node is known
}

// replicas lists the replicas with their nodes and recorded shard leaders. If there are none, it adds a replica of
// all query nodes, as if the collection were loaded now.
func (b *builder) replicas() {
	recorded := b.ReplicasOf(b.collection.ID)
	for _, r := range recorded {
		m := &members{group: r.ResourceGroup}
		m.all = slices.Concat(r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes)
		m.sealedNodes = b.alive(r.Nodes)
		m.leaders = m.sealedNodes
		if len(r.StreamingNodes) > 0 { // 2.6: the shard leader is on the node of its WAL
			m.leaders = b.alive(r.StreamingNodes)
		}
		b.addReplica(int64(r.ID), m, r.ShardLeaders)
	}
	if len(recorded) > 0 {
		return
	}
	if b.Runtime != nil {
		for _, r := range b.Runtime.Replicas {
			if r.Collection == b.collection.ID {
				m := &members{
					all: slices.Clone(r.Nodes), sealedNodes: b.alive(r.Nodes), leaders: b.alive(r.Nodes),
					group: r.ResourceGroup,
				}
				b.addReplica(int64(r.ID), m, nil)
			}
		}
	}
	if len(b.l.Replicas) == 0 {
		b.assumeReplica()
	}
}

func (b *builder) addReplica(id int64, m *members, leaders map[string]model.NodeID) {
	slices.Sort(m.all)
	m.all = slices.Compact(m.all)
	r := replay.Replica{ID: id, Leaders: make(map[string]int64)}
	for _, n := range m.all {
		r.Nodes = append(r.Nodes, int64(n))
	}
	for channel, n := range leaders {
		r.Leaders[channel] = int64(n)
	}
	b.members = append(b.members, m)
	b.l.Replicas = append(b.l.Replicas, r)
}

// assumeReplica adds a replica with id 0 of all query nodes that could serve segments.
func (b *builder) assumeReplica() {
	var nodes []model.NodeID
	for _, s := range b.Sessions {
		if s.Role == "querynode" && !embedded(s) {
			nodes = append(nodes, s.Node)
		}
	}
	for _, n := range b.Runtime.QueryNodes() {
		if b.SessionIn(n.Node, "querynode") == nil {
			nodes = append(nodes, n.Node)
		}
	}
	m := &members{all: nodes, sealedNodes: b.alive(nodes), leaders: b.alive(nodes)}
	if len(nodes) == 0 {
		const only = 1
		m = &members{
			all: []model.NodeID{only}, sealedNodes: []model.NodeID{only}, leaders: []model.NodeID{only}, assumed: true,
		}
		b.note("no query node known: assuming one, %s", queryNodeName(only))
	}
	b.addReplica(0, m, nil)
}

// embedded reports whether a query node is part of a streaming node (2.6), by its label. It serves growing segments
// only.
func embedded(s *model.Session) bool {
	return slices.ContainsFunc(s.Labels, func(p model.Pair) bool {
		return strings.Contains(p.Key, "STREAMING-EMBEDDED")
	})
}

// alive returns the nodes that are registered and not stopping, or all nodes if there are none.
func (b *builder) alive(nodes []model.NodeID) []model.NodeID {
	var list []model.NodeID
	for _, id := range nodes {
		if s := b.SessionIn(id, "querynode"); s != nil && !s.Stopping {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		list = slices.Clone(nodes)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// replicaOf returns the index of the replica for which a node serves the collection: the replica that lists it,
// otherwise the replica of its resource group, otherwise the first one, as in inspect/balance.
func (b *builder) replicaOf(node model.NodeID) int {
	for i, m := range b.members {
		if slices.Contains(m.all, node) {
			return i
		}
	}
	for i, m := range b.members {
		for _, g := range b.ResourceGroups {
			if g.Name == m.group && slices.Contains(g.Nodes, node) {
				return i
			}
		}
	}
	return 0
}

// channels returns the collection's vchannels in sorted order.
func (b *builder) channels() []string {
	list := slices.Clone(b.collection.VChannels)
	if len(list) == 0 {
		for _, v := range b.VChannelsOf(b.collection.ID) {
			list = append(list, v.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// leaders sets the missing shard leaders of a replica: from QueryCoord, from the location of the WAL (2.6),
// otherwise in turn. It returns the number of guessed leaders.
func (b *builder) leaders(replica int) (guessed int) {
	r, m := &b.l.Replicas[replica], b.members[replica]
	for _, channel := range b.channels() {
		if n := r.Leaders[channel]; n != 0 && b.l.Node(n) != nil {
			continue
		}
		if n := b.reportedLeader(replica, channel); n != 0 {
			r.Leaders[channel] = int64(n)
			continue
		}
		if len(m.leaders) > 0 {
			r.Leaders[channel] = int64(m.leaders[guessed%len(m.leaders)])
		}
		guessed++
	}
	return guessed
}

// reportedLeader returns the leader of a shard in a replica according to QueryCoord or the assignment of its WAL; 0
// if unknown.
func (b *builder) reportedLeader(replica int, channel string) model.NodeID {
	in := func(n model.NodeID) bool { return n != 0 && slices.Contains(b.members[replica].all, n) }
	if b.Runtime != nil {
		for _, r := range b.Runtime.Replicas {
			for _, l := range r.Leaders {
				for _, n := range l.Nodes {
					if l.Channel == channel && in(n) {
						return n
					}
				}
			}
		}
		for _, l := range b.Runtime.ShardLeaders {
			for _, n := range l.Nodes {
				if l.Channel == channel && in(n) {
					return n
				}
			}
		}
	}
	for _, v := range b.VChannelsOf(b.collection.ID) {
		if v.Name == channel {
			if p := b.PChannel(v.PChannel); p != nil && p.Streaming && in(p.Node) {
				return p.Node
			}
		}
	}
	return 0
}
