package rulestest

import (
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// WithMetrics adds the metrics of a captured process of the same role to each process of a large cluster, in both
// scrapes. In the first scrape each counter has nine tenths of its value.
func WithMetrics(tb testing.TB, c *model.Cluster) *model.Cluster {
	tb.Helper()
	const metrics = "../../testdata/snapshots/cluster-2.3.5-t3/metrics/"
	captured := map[string]*model.Metrics{}
	for i, n := range c.Runtime.Nodes {
		name := n.Role
		if n.Role == "querynode" {
			name = fmt.Sprintf("querynode%d", 1+i%3)
		}
		if n.Process == nil || n.Process.Metrics == nil {
			continue
		}
		if captured[name] == nil {
			captured[name] = capturedMetrics(tb, metrics+name+".txt.gz")
		}
		n.Process.Metrics, n.Process.Before = mergeMetrics(n.Process.Metrics, captured[name], 1),
			mergeMetrics(n.Process.Before, captured[name], 0.9)
	}
	return c
}

// mergeMetrics returns a copy of a scrape, plus the families that only other has, with their counters multiplied by
// part.
func mergeMetrics(own, other *model.Metrics, part float64) *model.Metrics {
	m := &model.Metrics{At: own.At, Families: maps.Clone(own.Families)}
	for name, f := range other.Families {
		if own.Families[name] != nil &&
			(f.Kind != model.MetricHistogram || strings.HasPrefix(name, "milvus_proxy_collection_")) {
			continue
		}
		less := *f
		less.Series = slices.Clone(f.Series)
		for i := range less.Series {
			s := &less.Series[i]
			if f.Kind == model.MetricGauge {
				continue
			}
			s.Value, s.Count = s.Value*part, s.Count*part
			s.Buckets = slices.Clone(s.Buckets)
			for k := range s.Buckets {
				s.Buckets[k] *= part
			}
		}
		m.Families[name] = &less
	}
	return m
}

func capturedMetrics(tb testing.TB, path string) *model.Metrics {
	tb.Helper()
	f, err := os.Open(filepath.FromSlash(path))
	if os.IsNotExist(err) { // called from a package one level deeper
		f, err = os.Open(filepath.FromSlash("../" + path))
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	text, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := live.ParseMetrics(text, time.Time{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}
