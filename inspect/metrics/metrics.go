// Package metrics says what the metrics of Milvus mean.
//
// What enters: one or two scrapes of a process, as facts (model.Metrics). What leaves: how much was counted, how long it took
// and how that is spread, between the two scrapes or since the process started.
//
//  1. names.go has one row for each metric that anybody asks for: what releases call it, its unit, its labels, and the file of
//     Milvus that it is from. Everybody else names it by a Name.
//  2. NewWindow lays two scrapes of one process side by side. A restart, a clock that went back, one scrape told twice or one
//     that is missing make it a Window since the start of the process, and it says so.
//  3. Histogram, Counter and Gauge add up the series of a Window that have certain labels; Each and EachSeries go through them.
//     What is not told is not ok, and Missing says why.
//
// Nothing is interpolated: means and quantiles are intervals that hold what was observed.
package metrics

import (
	"strings"

	"kitescope/inspect/model"
)

// Name is a metric by a name of ours, whatever a release calls it.
type Name string

// Unit is what the values of a metric count.
type Unit string

// The units of metrics. Times that Milvus tells in seconds or microseconds are in milliseconds in all that a Window says of a Name.
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
	// Called are the names on /metrics, with the releases that have them. Where a process tells several, all count.
	Called []Called
	// Labels are those that matter, beside node_id, with the values that they have.
	Labels string
	// Source is the file of Milvus (or of client_golang) that defines it: below pkg/metrics from 2.3 on, below internal/metrics before.
	Source string
	// Help is what it measures, from where to where.
	Help string
}

// Called is the name of a metric in some releases.
type Called struct {
	As string
	// Since and Until are the first and the last release that has it, as far as is known from its sources; "" is any.
	Since, Until string
}

// Find is the metric that a name on /metrics is of, nil if the table has none. Names of histograms may end in _sum, _count or _bucket.
func Find(as string) *Metric {
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		of, is := strings.CutSuffix(as, suffix)
		if m := byCall[of]; is && m != nil && (suffix == "" || m.Kind >= model.MetricHistogram) {
			return m
		}
	}
	return nil
}

// Of is the row of a name, nil if there is none.
func Of(name Name) *Metric { return byName[name] }

// All are the rows of the table, in its order.
func All() []*Metric {
	list := make([]*Metric, len(table))
	for i := range table {
		list[i] = &table[i]
	}
	return list
}

var byName, byCall = func() (map[Name]*Metric, map[string]*Metric) {
	names, calls := map[Name]*Metric{}, map[string]*Metric{}
	for i := range table {
		m := &table[i]
		names[m.Name] = m
		for _, c := range m.Called {
			calls[c.As] = m
		}
	}
	return names, calls
}()
