package balance

import "kitescope/inspect/model"

// vchannels is the metric with a query node's number of channels (Milvus: metrics/querynode_metrics.go).
const vchannels = "milvus_querynode_dml_vchannel_num"

// metrics adds query nodes that did not report their served data but have metrics. Series of zero remain after a
// segment has left, and add nothing.
func (t *surveyBuilder) metrics() {
	r := t.cluster.Runtime
	if r == nil {
		return
	}
	for _, n := range t.Nodes {
		if n.Known {
			continue
		}
		m := r.MetricsOf(n.Node)
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

func (t *surveyBuilder) addMetrics(n *Share, m *model.Metrics) {
	for _, x := range m.ServedOf(n.Node) {
		t.share(t.groupOf(x.Collection, n.Node), n.Node).addMetric(t.costing(x.Collection), &x)
	}
	if channels, ok := m.Sum(vchannels, model.Pair{Key: "node_id", Value: n.Node.String()}); ok {
		n.Channels = int(channels)
	}
}

// setRepeatedRows computes the growing rows that may also be among the sealed rows of the replica.
func (g *Group) setRepeatedRows() {
	sealed, byMetrics := int64(0), int64(0)
	for _, x := range g.Shares {
		sealed += x.SealedRows
		if x.FromMetrics {
			byMetrics += x.SealedRows
		}
	}
	for _, x := range g.Shares {
		if x.FromMetrics {
			x.RepeatedRows = min(x.GrowingRows, sealed)
		} else {
			x.RepeatedRows = min(x.GrowingRows, byMetrics)
		}
	}
}

// addMetric adds the metrics of a collection. It assumes that all segments have the same size, and that
// segments with an indexed field have every vector index that the collection defines.
func (s *Share) addMetric(cost *costing, m *model.MetricServed) {
	s.addGrowing(cost, int(m.Growing.Segments), int64(m.Growing.Rows))
	for _, of := range []struct {
		model.MetricSum
		loaded []model.ServedIndex
	}{{m.Indexed, cost.defined}, {m.Unindexed, nil}} {
		if of.Segments == 0 {
			continue
		}
		s.Sealed += int(of.Segments)
		s.SealedRows += int64(of.Rows)
		all, brute, indexed := cost.sealedCost(int64(of.Rows/of.Segments), of.loaded)
		s.Cost += all * of.Segments
		s.BruteCost += brute * of.Segments
		if indexed {
			s.IndexedRows += int64(of.Rows)
		} else {
			s.BruteRows += int64(of.Rows)
		}
	}
}
