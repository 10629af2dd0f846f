package model

import (
	"slices"
	"strconv"
	"strings"
)

// Metrics of query nodes by collection, partition and state of segments (Milvus: metrics/querynode_metrics.go;
// the state since 2.2).
const (
	segmentNum = "milvus_querynode_segment_num"
	entityNum  = "milvus_querynode_entity_num"
)

// MetricServed holds the segments of one collection that a query node serves, according to its metrics. It is a
// fallback for nodes without a Distribution.
type MetricServed struct {
	Collection CollectionID
	// Growing are growing segments, Indexed sealed ones with an indexed field, Unindexed sealed ones without.
	Growing, Indexed, Unindexed MetricSum
}

// MetricSum counts segments and their rows.
type MetricSum struct{ Segments, Rows float64 }

// MetricsOf returns the scrape of a query node's process, which is a scrape with a series of that node. A node
// that serves nothing has few series and none of segments. Scrapes of Milvus 2.1 are ignored, because they have
// totals without collections. MetricsOf returns nil if there is no scrape.
func (r *Runtime) MetricsOf(node NodeID) *Metrics {
	if r == nil {
		return nil
	}
	tells := func(p *Process) bool { return p != nil && hasServedMetrics(p.Metrics, node.String()) }
	if n := r.LiveNode("querynode", node); n != nil && tells(n.Process) {
		return n.Process.Metrics
	}
	if i := slices.IndexFunc(r.Processes, tells); i >= 0 {
		return r.Processes[i].Metrics
	}
	return nil
}

// hasServedMetrics reports whether a scrape has the segments that a query node serves.
func hasServedMetrics(m *Metrics, node string) bool {
	if m == nil {
		return false
	}
	for _, s := range m.Samples(segmentNum) {
		if s.Label("collection_id") == "" {
			return false
		}
	}
	for name, f := range m.Families {
		if strings.HasPrefix(name, "milvus_querynode_") &&
			slices.ContainsFunc(f.Series, func(s Series) bool { return s.Label("node_id") == node }) {
			return true
		}
	}
	return false
}

// ServedOf adds up the segments that a query node serves according to a scrape, by collection. Series with
// value zero are ignored, because they remain after a segment was released.
func (m *Metrics) ServedOf(node NodeID) []MetricServed {
	var list []MetricServed
	for _, family := range []string{segmentNum, entityNum} {
		for _, s := range m.Samples(family) {
			id, err := strconv.ParseInt(s.Label("collection_id"), 10, 64)
			if err != nil || s.Value <= 0 || s.Label("node_id") != node.String() {
				continue
			}
			i, ok := slices.BinarySearchFunc(list, CollectionID(id), func(x MetricServed, id CollectionID) int {
				return int(min(max(x.Collection-id, -1), 1))
			})
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

// sum returns the sum that a series belongs to.
func (x *MetricServed) sum(s Series) *MetricSum {
	switch {
	case s.Label("segment_state") == "Growing":
		return &x.Growing
	case s.Label("indexed_field_count") == "0":
		return &x.Unindexed
	}
	return &x.Indexed
}

// Memory returns the memory usage that the process of a session reports, which it compares with its own limits.
// If not reported, Memory returns the operating system's number, which is higher.
func (n *LiveNode) Memory() (bytes int64, ok bool) {
	if n.System != nil && n.System.MemoryUse > 0 {
		return n.System.MemoryUse, true
	}
	return n.Process.ResidentBytes()
}
