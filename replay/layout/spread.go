package layout

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// assigned puts segments where QueryCoord's records of 2.1 say; false if there are none.
func (b *builder) assigned() bool {
	if b.Keyspace == nil || !b.before(2) {
		return false
	}
	on := make(map[model.SegmentID][]model.NodeID)
	for id := range b.segments {
		if nodes := b.recordedNodes(id); len(nodes) > 0 {
			on[id] = nodes
		}
	}
	if len(on) == 0 {
		return false
	}
	left, rows := 0, int64(0)
	for _, id := range sortedKeys(b.segments) {
		s := b.segments[id]
		for _, n := range on[id] {
			if i := b.replicaOf(n); slices.Contains(b.members[i].all, n) {
				s.On[i] = int64(n)
				continue
			}
			b.note("segment %s is recorded on %s, outside every replica: searching it fails in Milvus; laid out on other nodes", id, queryNodeName(n))
			for i, m := range b.members {
				b.deal(i, []*replay.Segment{s}, m.takers)
			}
		}
		if s.State != replay.Growing && len(on[id]) == 0 {
			left, rows = left+1, rows+s.Rows
			delete(b.segments, id)
		}
	}
	if left > 0 {
		b.note("skipped: %d flushed segments with %d rows: QueryCoord's records have no node for them", left, rows)
	}
	b.onLeaders()
	b.note("placement of segments from QueryCoord's records: no node was queried")
	return true
}

// recordedNodes are the nodes of a segment in QueryCoord's record of 2.1 (querypb.SegmentInfo: node_ids).
func (b *builder) recordedNodes(id model.SegmentID) (nodes []model.NodeID) {
	for _, key := range b.Keyspace.Of("segments", id.String()) {
		if !strings.Contains(key, "/queryCoord-segmentMeta/") {
			continue
		}
		var record struct {
			Nodes []string `json:"node_ids"`
		}
		i, ok := b.Keyspace.Find(key)
		if !ok || json.Unmarshal([]byte(b.Keyspace.Record(i).Text), &record) != nil {
			continue
		}
		for _, text := range record.Nodes {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				nodes = append(nodes, model.NodeID(n))
			}
		}
	}
	return nodes
}

// spread puts sealed segments on nodes by rule, growing ones on their shard leaders.
func (b *builder) spread() {
	b.l.Assumed = true
	var sealed []*replay.Segment
	for _, id := range sortedKeys(b.segments) {
		if s := b.segments[id]; s.State != replay.Growing {
			sealed = append(sealed, s)
		}
	}
	for i, m := range b.members {
		b.deal(i, sealed, m.takers)
	}
	b.onLeaders()
	if len(sealed) > 0 {
		b.note("no node reported its segments: %s spread by rule, the largest to the node with the fewest rows",
			words.Count(len(sealed), "sealed segment is", "sealed segments are"))
	}
	if b.LoadState(b.collection.ID) == nil {
		return
	}
	for _, n := range b.Runtime.Blind() {
		b.note("%s did not report its segments: %s", n.Name(), cmp.Or(n.Reason, n.Outcome.String()))
	}
}

// deal gives segments to nodes, the largest first, each to the node that has the fewest rows of the replica by then.
func (b *builder) deal(replica int, segments []*replay.Segment, nodes []model.NodeID) {
	if len(nodes) == 0 {
		return
	}
	load := make(map[model.NodeID]int64, len(nodes))
	for _, s := range b.segments {
		load[model.NodeID(s.On[replica])] += max(0, s.Rows)
	}
	order := slices.Clone(segments)
	slices.SortFunc(order, func(x, y *replay.Segment) int { return cmp.Or(-cmp.Compare(x.Rows, y.Rows), cmp.Compare(x.ID, y.ID)) })
	for _, s := range order {
		n := slices.MinFunc(nodes, func(x, y model.NodeID) int { return cmp.Or(cmp.Compare(load[x], load[y]), cmp.Compare(x, y)) })
		s.On[replica] = int64(n)
		load[n] += max(0, s.Rows)
	}
}

// onLeaders completes the shard leaders and puts growing segments on them.
func (b *builder) onLeaders() {
	guessed := 0
	for i := range b.l.Replicas {
		guessed += b.leaders(i)
		for _, s := range b.segments {
			if s.State == replay.Growing {
				s.On[i] = b.l.Replicas[i].Leaders[s.Channel]
			}
		}
	}
	if guessed > 0 {
		b.note("leaders of %s unknown: assigned in turn", words.Count(guessed, "shard", "shards"))
	}
}

// byMetrics spreads segments so that each node has as many of each partition, with as many rows, as its metrics say (2.2 and later). Metrics
// do not tell which they are: it is one of the placements that fit. False if no node told any.
func (b *builder) byMetrics() bool {
	quotas := b.quotas()
	if len(quotas) == 0 {
		return false
	}
	survey := balance.Take(b.Cluster)
	exact, rest := true, 0
	for i := range b.l.Replicas {
		byPartition := make(map[int64][]*replay.Segment)
		for _, id := range sortedKeys(b.segments) {
			if s := b.segments[id]; s.State != replay.Growing {
				byPartition[s.Partition] = append(byPartition[s.Partition], s)
			}
		}
		for _, partition := range sortedKeys(byPartition) {
			var of []*quota
			for _, q := range quotas {
				if q.partition == partition && b.replicaOf(q.node) == i {
					of = append(of, q)
				}
			}
			over, fits := b.fit(i, byPartition[partition], of)
			rest += over
			exact = exact && fits
		}
		if g := survey.Of(model.ReplicaID(b.l.Replicas[i].ID)); g != nil {
			b.growingByMetrics(i, g.Shares)
		}
	}
	b.l.Assumed = true
	b.onLeaders()
	how := "with as many rows"
	if !exact {
		how = "with nearly as many rows"
	}
	b.note("no node reported its segments: each gets as many per partition as its metrics count, %s; the choice of segments is assumed", how)
	if rest > 0 {
		b.note("%s more than the nodes' metrics count: spread over all", words.Count(rest, "sealed segment is", "sealed segments are"))
	}
	return true
}

// quotas are what query nodes say on /metrics of the collection's sealed segments, by node and partition. Series of zero linger after a
// segment has left.
func (b *builder) quotas() (list []*quota) {
	if b.Runtime == nil {
		return nil
	}
	type place struct {
		node, partition int64
	}
	found := make(map[place]*quota)
	for _, p := range b.Runtime.Processes {
		if p.Metrics == nil {
			continue
		}
		for _, family := range []string{"milvus_querynode_segment_num", "milvus_querynode_entity_num"} {
			for _, x := range p.Metrics.Samples(family) {
				if x.Label("collection_id") != b.collection.ID.String() || x.Label("segment_state") != "Sealed" || !(x.Value > 0 && x.Value < 1e15) {
					continue
				}
				var at place
				var err, err2 error
				at.node, err = strconv.ParseInt(x.Label("node_id"), 10, 64)
				at.partition, err2 = strconv.ParseInt(x.Label("partition_id"), 10, 64)
				if err != nil || err2 != nil {
					continue
				}
				q := found[at]
				if q == nil {
					q = &quota{node: model.NodeID(at.node), partition: at.partition}
					found[at] = q
					list = append(list, q)
				}
				if family == "milvus_querynode_segment_num" {
					q.count += int(x.Value)
				} else {
					q.rows += int64(x.Value)
				}
			}
		}
	}
	slices.SortFunc(list, func(x, y *quota) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.partition, y.partition))
	})
	return list
}

// quota is what one node is to be given.
type quota struct {
	node      model.NodeID
	partition int64
	count     int
	rows      int64 // still to be given
	has       []*replay.Segment
}

// fit deals sealed segments of a replica out by quotas; it returns how many no quota covers, and whether all rows are as told.
func (b *builder) fit(replica int, segments []*replay.Segment, quotas []*quota) (over int, exact bool) {
	var rest []*replay.Segment
	slices.SortStableFunc(segments, func(x, y *replay.Segment) int { return -cmp.Compare(x.Rows, y.Rows) })
	for _, s := range segments {
		var best *quota
		for _, q := range quotas {
			if len(q.has) < q.count && (best == nil || q.rows > best.rows) {
				best = q
			}
		}
		if best == nil {
			rest = append(rest, s)
			continue
		}
		best.has = append(best.has, s)
		best.rows -= s.Rows
	}
	exact = exchange(quotas)
	for _, q := range quotas {
		for _, s := range q.has {
			s.On[replica] = int64(q.node)
		}
	}
	b.deal(replica, rest, b.members[replica].takers)
	return len(rest), exact
}

// exchange swaps segments between nodes as long as that brings rows nearer to what is told: dealing the largest first leaves small
// differences. It reports whether none are left.
func exchange(quotas []*quota) bool {
	const rounds, most = 1000, 300 // segments of one node
	off := func(n int64) int64 { return max(n, -n) }
	for range rounds {
		var x, y *quota
		xi, yi, gain := 0, 0, int64(0)
		for i, p := range quotas {
			for _, q := range quotas[i+1:] {
				if p.rows == 0 && q.rows == 0 {
					continue
				}
				for a, s := range p.has[:min(most, len(p.has))] {
					for c, t := range q.has[:min(most, len(q.has))] {
						d := s.Rows - t.Rows
						if g := off(p.rows) + off(q.rows) - off(p.rows+d) - off(q.rows-d); g > gain {
							x, y, xi, yi, gain = p, q, a, c, g
						}
					}
				}
			}
		}
		if x == nil {
			break
		}
		d := x.has[xi].Rows - y.has[yi].Rows
		x.rows, y.rows = x.rows+d, y.rows-d
		x.has[xi], y.has[yi] = y.has[yi], x.has[xi]
	}
	return !slices.ContainsFunc(quotas, func(q *quota) bool { return q.rows != 0 })
}

// growingByMetrics makes the nodes that have growing segments the leaders of the shards that have them.
func (b *builder) growingByMetrics(replica int, shares []*balance.Share) {
	byChannel := make(map[string][]*replay.Segment)
	for _, id := range sortedKeys(b.segments) {
		if s := b.segments[id]; s.State == replay.Growing {
			byChannel[s.Channel] = append(byChannel[s.Channel], s)
		}
	}
	left := make(map[model.NodeID]int)
	for _, x := range shares {
		left[x.Node] = x.Growing
	}
	channels := slices.Collect(maps.Keys(byChannel))
	slices.SortFunc(channels, func(x, y string) int { return cmp.Or(len(byChannel[y])-len(byChannel[x]), strings.Compare(x, y)) })
	for _, channel := range channels {
		list := byChannel[channel]
		for _, x := range shares {
			if left[x.Node] < len(list) || b.l.Replicas[replica].Leaders[channel] != 0 {
				continue
			}
			left[x.Node] -= len(list)
			b.l.Replicas[replica].Leaders[channel] = int64(x.Node)
			if x.Growing == len(list) {
				b.shareRows(channel, x.GrowingRows, list)
			}
		}
	}
}
