package layout

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// placeRecorded places segments according to QueryCoord's records of 2.1. It returns false if there are none.
func (b *builder) placeRecorded() bool {
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
			b.note("segment %s is recorded on %s, outside every replica: searching it fails in Milvus; laid out on "+
				"other nodes", id, queryNodeName(n))
			for i, m := range b.members {
				b.assignByRows(i, []*replay.Segment{s}, m.sealedNodes)
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
	b.placeOnLeaders()
	b.note("placement of segments from QueryCoord's records: no node was queried")
	return true
}

// recordedNodes returns the nodes in QueryCoord's record of a segment in 2.1 (querypb.SegmentInfo: node_ids).
func (b *builder) recordedNodes(id model.SegmentID) (nodes []model.NodeID) {
	for _, key := range b.Keyspace.ObjectKeys("segments", id.String()) {
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

// placeByRule places sealed segments by a rule, and growing segments on their shard leaders.
func (b *builder) placeByRule() {
	b.l.Assumed = true
	var sealed []*replay.Segment
	for _, id := range sortedKeys(b.segments) {
		if s := b.segments[id]; s.State != replay.Growing {
			sealed = append(sealed, s)
		}
	}
	for i, m := range b.members {
		b.assignByRows(i, sealed, m.sealedNodes)
	}
	b.placeOnLeaders()
	if len(sealed) > 0 {
		b.note("no node reported its segments: %s spread by rule, the largest to the node with the fewest rows",
			words.Count(len(sealed), "sealed segment is", "sealed segments are"))
	}
	if b.LoadState(b.collection.ID) == nil {
		return
	}
	for _, n := range b.Runtime.WithoutDistribution() {
		b.note("%s did not report its segments: %s", n.Name(), cmp.Or(n.Reason, n.Outcome.String()))
	}
}

// assignByRows assigns segments to nodes in descending order of size, each to the node with the fewest rows of the
// replica so far.
func (b *builder) assignByRows(replica int, segments []*replay.Segment, nodes []model.NodeID) {
	if len(nodes) == 0 {
		return
	}
	load := make(map[model.NodeID]int64, len(nodes))
	for _, s := range b.segments {
		load[model.NodeID(s.On[replica])] += max(0, s.Rows)
	}
	order := slices.Clone(segments)
	slices.SortFunc(order, func(x, y *replay.Segment) int {
		return cmp.Or(-cmp.Compare(x.Rows, y.Rows), cmp.Compare(x.ID, y.ID))
	})
	for _, s := range order {
		n := slices.MinFunc(nodes, func(x, y model.NodeID) int {
			return cmp.Or(cmp.Compare(load[x], load[y]), cmp.Compare(x, y))
		})
		s.On[replica] = int64(n)
		load[n] += max(0, s.Rows)
	}
}

// placeOnLeaders sets the missing shard leaders and places growing segments on them.
func (b *builder) placeOnLeaders() {
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
