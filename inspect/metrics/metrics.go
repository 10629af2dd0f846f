// Package metrics interprets the metrics that Milvus processes export on /metrics. It takes one or two scrapes
// of a process (model.Metrics) and computes counts, durations and their distributions, between the two scrapes
// or since the process started.
//
//  1. names.go holds one row per metric: its name in each release, its unit, its labels and the Milvus source
//     file that defines it. Other packages refer to a metric by its Name.
//  2. NewWindow compares two scrapes of one process. The Window covers the time since the process started if
//     there is only one scrape, the process was restarted, the clock went back or both scrapes are the same.
//     Window.SinceStart and Window.Reason report that.
//  3. Histogram, Counter and Gauge add up the series of a Window that match some labels. Each and EachSeries
//     visit single series. If a metric is missing, ok is false and Missing returns the reason.
//
// Nothing is interpolated: means and quantiles are intervals that contain the observed value.
package metrics

import (
	"strings"

	"kitescope/inspect/model"
)

// Name is the release-independent name of a metric.
type Name string

// Unit is the unit of a metric's values.
type Unit string

// The units of metrics. Window.Histogram and Window.Each convert seconds and microseconds to milliseconds.
// Counters and gauges keep their unit.
const (
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Seconds      Unit = "s"
	Count        Unit = ""
	Bytes        Unit = "bytes"
	Ratio        Unit = "ratio"
	UnixSeconds  Unit = "unix seconds"
)

// Metric is a row of the table of names.
type Metric struct {
	Name Name
	Kind model.MetricKind
	Unit Unit
	// Spellings holds the names on /metrics by release. If a process exports several of them, their values are
	// added up.
	Spellings []Spelling
	// Labels lists the relevant labels except node_id, with their values.
	Labels string
	// Source is the Milvus (or client_golang) file that defines the metric. The path is below pkg/metrics since
	// 2.3 and below internal/metrics before.
	Source string
	// Help describes the measured interval or quantity.
	Help string
}

// Spelling is the name of a metric in a range of releases.
type Spelling struct {
	Name string
	// Since and Until are the first and the last release with that name, as far as the sources show. "" is
	// unbounded.
	Since, Until string
}

// Find returns the metric with a name on /metrics, or nil if the table has none. Names of histograms and
// summaries may end in _sum, _count or _bucket.
func Find(name string) *Metric {
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		of, is := strings.CutSuffix(name, suffix)
		if m := bySpelling[of]; is && m != nil && (suffix == "" || m.Kind >= model.MetricHistogram) {
			return m
		}
	}
	return nil
}

// Lookup returns the row of a name, or nil if there is none.
func Lookup(name Name) *Metric { return byName[name] }

// All returns the rows of the table in table order.
func All() []*Metric {
	list := make([]*Metric, len(table))
	for i := range table {
		list[i] = &table[i]
	}
	return list
}

var byName, bySpelling = func() (map[Name]*Metric, map[string]*Metric) {
	names, calls := map[Name]*Metric{}, map[string]*Metric{}
	for i := range table {
		m := &table[i]
		names[m.Name] = m
		for _, c := range m.Spellings {
			calls[c.Name] = m
		}
	}
	return names, calls
}()
