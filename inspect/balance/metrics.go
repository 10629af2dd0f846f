package balance

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// What query nodes say of themselves on /metrics, by collection, partition and state of
// segments (Milvus: metrics/querynode_metrics.go; the state since 2.2).
const (
	segmentNum = "milvus_querynode_segment_num"
	entityNum  = "milvus_querynode_entity_num"
	vchannels  = "milvus_querynode_dml_vchannel_num"
)

// metrics adds up query nodes that did not say what they serve, but told their metrics. Series of
// zero linger after a segment has left and count for nothing.
func (t *taking) metrics() {
	r := t.cluster.Runtime
	if r == nil {
		return
	}
	for _, n := range t.Nodes {
		if n.Known {
			continue
		}
		m := metricsOf(r, n)
		if m == nil {
			continue
		}
		n.Known, n.FromMetrics = true, true
		for _, g := range t.Groups {
			if x := g.Share(n.Node); x != nil {
				x.Known, x.FromMetrics = true, true
			}
		}
		t.addMetrics(n, m)
	}
}

// metricsOf finds the scrape of a query node's process: one that has a series of the node's own. A node
// that serves nothing has few of them, and none of segments. Milvus 2.1 has totals without
// collections: by those nothing is known.
func metricsOf(r *model.Runtime, n *Share) *model.Metrics {
	tells := func(p *model.Process) bool { return p != nil && isOf(p.Metrics, n.Node.String()) }
	if n.Live != nil && tells(n.Live.Process) {
		return n.Live.Process.Metrics
	}
	if i := slices.IndexFunc(r.Processes, tells); i >= 0 {
		return r.Processes[i].Metrics
	}
	return nil
}

// isOf reports whether a scrape tells what a query node serves.
func isOf(m *model.Metrics, node string) bool {
	if m == nil {
		return false
	}
	for _, s := range m.Families[segmentNum] {
		if s.Label("collection_id") == "" {
			return false
		}
	}
	for name, samples := range m.Families {
		if strings.HasPrefix(name, "milvus_querynode_") && slices.ContainsFunc(samples, func(s model.Sample) bool { return s.Label("node_id") == node }) {
			return true
		}
	}
	return false
}

// metricSum is what a node's metrics say of one collection.
type metricSum struct {
	segments, rows [3]float64 // by metricState
}

type metricState uint8

const (
	metricGrowing metricState = iota
	metricIndexed
	metricUnindexed
)

func (t *taking) addMetrics(n *Share, m *model.Metrics) {
	sums := make(map[model.CollectionID]*metricSum)
	var order []model.CollectionID
	for _, family := range []string{segmentNum, entityNum} {
		for _, s := range m.Families[family] {
			id, err := strconv.ParseInt(s.Label("collection_id"), 10, 64)
			if err != nil || s.Value <= 0 || s.Label("node_id") != n.Node.String() {
				continue
			}
			state := stateOf(s)
			x := sums[model.CollectionID(id)]
			if x == nil {
				x = &metricSum{}
				sums[model.CollectionID(id)] = x
				order = append(order, model.CollectionID(id))
			}
			if family == segmentNum {
				x.segments[state] += s.Value
			} else {
				x.rows[state] += s.Value
			}
		}
	}
	slices.Sort(order)
	for _, id := range order {
		t.share(t.groupOf(id, n.Node), n.Node).addMetric(t.costing(id), sums[id])
	}
	if channels, ok := m.Sum(vchannels, model.Pair{Key: "node_id", Value: n.Node.String()}); ok {
		n.Channels = int(channels)
	}
}

func stateOf(s model.Sample) metricState {
	switch {
	case s.Label("segment_state") == "Growing":
		return metricGrowing
	case s.Label("indexed_field_count") == "0":
		return metricUnindexed
	}
	return metricIndexed
}

// addMetric counts what metrics say of one collection. Segments are taken to be of one size, and
// those with an indexed field to have every vector index that the collection defines.
func (s *Share) addMetric(cost *costing, m *metricSum) {
	s.addGrowing(cost, int(m.segments[metricGrowing]), int64(m.rows[metricGrowing]))
	for _, state := range []metricState{metricIndexed, metricUnindexed} {
		segments, rows := m.segments[state], m.rows[state]
		if segments == 0 {
			continue
		}
		s.Sealed += int(segments)
		s.SealedRows += int64(rows)
		var loaded []model.ServedIndex
		if state == metricIndexed {
			loaded = cost.defined
		}
		all, brute, indexed := cost.sealed(int64(rows/segments), loaded)
		s.Cost += all * segments
		s.BruteCost += brute * segments
		if indexed {
			s.IndexedRows += int64(rows)
		} else {
			s.BruteRows += int64(rows)
		}
	}
}
