package dist

import "strings"

// metricNames returns the names of the metrics in Milvus, in lower case, in the order of the constants.
func metricNames() []string { return []string{"l2", "ip", "cosine", "hamming", "jaccard", "bm25"} }

// String returns the name of the metric in Milvus.
func (m Metric) String() string { return strings.ToUpper(nameOf(metricNames(), int(m))) }

// ParseMetric returns the metric with a name, ignoring case. "inner_product" is another name for "ip".
func ParseMetric(name string) (Metric, error) {
	names := append(metricNames(), "inner_product")
	i, err := find("metric", name, names)
	if i == len(names)-1 {
		return InnerProduct, err
	}
	return Metric(i), err
}

// elementNames returns the names of the elements, in the order of the constants.
func elementNames() []string {
	return []string{"float32", "float16", "bfloat16", "int8", "bit", "sparse"}
}

func (e Element) String() string { return nameOf(elementNames(), int(e)) }

// profileNames returns the names of the profiles, in the order of the constants.
func profileNames() []string { return []string{"knowhere", "hnswlib", "faiss"} }

func (p Profile) String() string { return nameOf(profileNames(), int(p)) }
