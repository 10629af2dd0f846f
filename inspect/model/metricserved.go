package model

import (
	"slices"
	"strconv"
	"strings"
)

// What query nodes say of themselves on /metrics, by collection, partition and state of
// segments (Milvus: metrics/querynode_metrics.go; the state since 2.2).
const (
	segmentNum = "milvus_querynode_segment_num"
	entityNum  = "milvus_querynode_entity_num"
)

// MetricServed is what a query node's metrics say that it serves of one collection. Whoever knows its
// Distribution has no need of them.
type MetricServed struct {
	Collection CollectionID
	// Growing segments, sealed ones with an indexed field, and those without any.
	Growing, Indexed, Unindexed MetricSum
}

// MetricSum counts segments and their rows.
type MetricSum struct{ Segments, Rows float64 }

// MetricsOf finds the scrape of a query node's process: one that has a series of the node's own. A node
// that serves nothing has few of them, and none of segments. Milvus 2.1 has totals without
// collections: by those nothing is known. nil if there is none.
func (r *Runtime) MetricsOf(node NodeID) *Metrics {
	if r == nil {
		return nil
	}
	tells := func(p *Process) bool { return p != nil && tellsServed(p.Metrics, node.String()) }
	if n := r.LiveNode("querynode", node); n != nil && tells(n.Process) {
		return n.Process.Metrics
	}
	if i := slices.IndexFunc(r.Processes, tells); i >= 0 {
		return r.Processes[i].Metrics
	}
	return nil
}

// tellsServed reports whether a scrape tells what a query node serves.
func tellsServed(m *Metrics, node string) bool {
	if m == nil {
		return false
	}
	for _, s := range m.Samples(segmentNum) {
		if s.Label("collection_id") == "" {
			return false
		}
	}
	for name, f := range m.Families {
		if strings.HasPrefix(name, "milvus_querynode_") && slices.ContainsFunc(f.Series, func(s Series) bool { return s.Label("node_id") == node }) {
			return true
		}
	}
	return false
}

// ServedOf adds up what a scrape says that a query node serves, by collection. Series of zero linger after a segment has left
// and count for nothing.
func (m *Metrics) ServedOf(node NodeID) []MetricServed {
	var list []MetricServed
	for _, family := range []string{segmentNum, entityNum} {
		for _, s := range m.Samples(family) {
			id, err := strconv.ParseInt(s.Label("collection_id"), 10, 64)
			if err != nil || s.Value <= 0 || s.Label("node_id") != node.String() {
				continue
			}
			i, ok := slices.BinarySearchFunc(list, CollectionID(id), func(x MetricServed, id CollectionID) int { return int(min(max(x.Collection-id, -1), 1)) })
			if !ok {
				list = slices.Insert(list, i, MetricServed{Collection: CollectionID(id)})
			}
			if sum := list[i].sum(s); family == segmentNum {
				sum.Segments += s.Value
			} else {
				sum.Rows += s.Value
			}
		}
	}
	return list
}

// sum is the one that a series counts for.
func (x *MetricServed) sum(s Series) *MetricSum {
	switch {
	case s.Label("segment_state") == "Growing":
		return &x.Growing
	case s.Label("indexed_field_count") == "0":
		return &x.Unindexed
	}
	return &x.Indexed
}

// Memory is what the process of a session uses, as it says itself: its own limits are held against that. Where it did not say, it is
// what the operating system counts for it, which is more.
func (n *LiveNode) Memory() (bytes int64, ok bool) {
	if n.System != nil && n.System.MemoryUse > 0 {
		return n.System.MemoryUse, true
	}
	return n.Process.ResidentBytes()
}
