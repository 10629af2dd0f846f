package modeltest

import (
	"slices"
	"strconv"

	"kitescope/inspect/model"
)

// AddTimes adds count observations of duration each to a histogram with Milvus's buckets: powers of two from 1
// to 131,072.
func AddTimes(m *model.Metrics, name string, count, each float64, labels ...model.Pair) {
	const buckets = 18
	f := m.Families[name]
	if f == nil {
		f = &model.Family{Name: name, Kind: model.MetricHistogram}
		for i := range buckets {
			f.Bounds = append(f.Bounds, float64(int(1)<<i))
		}
		m.Families[name] = f
	}
	at := slices.IndexFunc(f.Series, func(s model.Series) bool { return slices.Equal(s.Labels, labels) })
	if at < 0 {
		at = len(f.Series)
		f.Series = append(f.Series, model.Series{Labels: labels, Buckets: make([]float64, buckets)})
	}
	s := &f.Series[at]
	s.Value, s.Count = s.Value+count*each, s.Count+count
	for i, bound := range f.Bounds {
		if each <= bound {
			s.Buckets[i] += count
		}
	}
}

// addSearches adds metrics of 3,000 searches of 9 ms each, including 5 ms in kernels.
func addSearches(n *model.LiveNode) {
	const (
		searches = 3000
		proxy    = "milvus_proxy_"
		node     = "milvus_querynode_"
	)
	m := n.Process.Metrics
	kind := model.Pair{Key: "query_type", Value: "search"}
	add := func(name string, each float64, labels ...model.Pair) {
		AddTimes(m, name, searches, each, append([]model.Pair{kind}, labels...)...)
	}
	switch n.Role {
	case "proxy":
		add(proxy+"sq_latency", 9)
		add(proxy+"sq_wait_result_latency", 8)
		add(proxy+"sq_reduce_result_latency", 0)
		add(proxy+"sq_decode_result_latency", 0)
		AddTimes(m, proxy+"req_in_queue_latency", searches, 0, model.Pair{Key: "function_name", Value: "Search"})
		for i := range servedCollections {
			AddTimes(m, proxy+"collection_sq_latency", searches/servedCollections, 9,
				model.Pair{Key: "collection_name", Value: "docs_" + strconv.Itoa(i)}, kind)
		}
		AddSeries(m, proxy+"search_vectors_count", model.Series{Value: searches})
		AddSeries(m, proxy+"rate_limit_req_count", model.Series{
			Labels: []model.Pair{{Key: "msg_type", Value: "DQLSearch"}, {Key: "status", Value: "total"}},
			Value:  searches,
		})
	case "querynode":
		add(node+"sq_req_latency", 7, model.Pair{Key: "scope", Value: "OnLeader"})
		add(node+"sq_req_latency", 6, model.Pair{Key: "scope", Value: "FromLeader"})
		add(node+"sq_wait_tsafe_latency", 0)
		add(node+"sq_queue_latency", 0)
		add(node+"sq_segment_latency", 5, model.Pair{Key: "segment_state", Value: "Sealed"})
		add(node+"sq_core_latency", 5)
		add(node+"sq_reduce_latency", 0, model.Pair{Key: "reduce_level", Value: "segments"})
		AddTimes(m, node+"search_group_size", searches, 1)
		AddTimes(m, "milvus_storage_request_latency", 100, 40, model.Pair{Key: "persistent_data_op_type", Value: "get"})
	case "rootcoord", "mixcoord":
		AddTimes(m, "milvus_msgstream_request_latency", 300, 8, model.Pair{Key: "message_op_type", Value: "produce"})
	}
}
