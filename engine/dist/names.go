package dist

import "strings"

// metricNames are Milvus's names of the metrics, in lower case, in their order.
func metricNames() []string { return []string{"l2", "ip", "cosine", "hamming", "jaccard", "bm25"} }

// String is Milvus's name of the metric.
func (m Metric) String() string { return strings.ToUpper(nameOf(metricNames(), int(m))) }

// ParseMetric finds a metric by its name, in any case; inner_product is ip.
func ParseMetric(name string) (Metric, error) {
	names := append(metricNames(), "inner_product")
	i, err := find("metric", name, names)
	if i == len(names)-1 {
		return InnerProduct, err
	}
	return Metric(i), err
}

// elementNames are the names of the elements, in their order.
func elementNames() []string {
	return []string{"float32", "float16", "bfloat16", "int8", "bit", "sparse"}
}

func (e Element) String() string { return nameOf(elementNames(), int(e)) }

// profileNames are the names of the profiles, in their order.
func profileNames() []string { return []string{"knowhere", "hnswlib", "faiss"} }

func (p Profile) String() string { return nameOf(profileNames(), int(p)) }
