package model

import (
	"math"
	"strings"
	"time"
)

// Metrics is one scrape of a process's /metrics, with the values of each family in columns.
type Metrics struct {
	At time.Time
	// Families are keyed by the name in their "# TYPE" line. Metrics without one are under their own name. Each
	// family has at least one series.
	Families map[string]*Family
	// Partial is true if the text was malformed or exceeded the limits. Missing series may have been in the
	// rest.
	Partial bool
}

// MetricKind is the type of a family.
type MetricKind uint8

// The types of the text format (prometheus.io/docs/instrumenting/exposition_formats). Other types are read as
// untyped.
const (
	MetricUntyped MetricKind = iota
	MetricCounter
	MetricGauge
	MetricHistogram
	MetricSummary
)

// String returns the name of the type in the text format.
func (k MetricKind) String() string {
	return [...]string{"untyped", "counter", "gauge", "histogram", "summary"}[min(k, MetricSummary)]
}

// Family holds all series of one metric.
type Family struct {
	Name string
	Kind MetricKind
	// Bounds are the upper bounds of a histogram's buckets, ascending, without +Inf. Families with equal bounds
	// share them.
	Bounds []float64
	Series []Series
}

// Series is one value of a metric, or a histogram or summary, under one set of labels.
type Series struct {
	Labels []Pair // by key; shared between families
	// Value is the value of a counter, gauge or untyped metric and always finite. For a histogram or summary it
	// is the sum, NaN if not exported.
	Value float64
	// Count is the number of observations of a histogram or summary, NaN if not exported.
	Count float64
	// Buckets are the cumulative counts up to each of the family's Bounds, non-decreasing and at most Count.
	// nil if not exported.
	Buckets []float64
	// Quantiles are the quantiles of a summary, in the order of the text.
	Quantiles []Quantile
}

// Quantile is a quantile of a summary: a fraction Share of the observations is at most Value.
type Quantile struct{ Share, Value float64 }

// Label returns the value of a label, or "" if the series does not have it.
func (s Series) Label(key string) string {
	for _, l := range s.Labels {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// Matches reports whether a series has all of these labels.
func (s Series) Matches(match []Pair) bool {
	for _, p := range match {
		if s.Label(p.Key) != p.Value {
			return false
		}
	}
	return true
}

// Samples returns the series of a metric with single values, i.e. not of a histogram or summary.
func (m *Metrics) Samples(name string) []Series {
	if m == nil {
		return nil
	}
	if f := m.Families[name]; f != nil && f.Kind < MetricHistogram {
		return f.Series
	}
	return nil
}

// Sum adds up the values of a metric whose labels match all label=value pairs. NAME_sum and NAME_count select
// the sums and counts of the histogram or summary NAME. ok is false if nothing matches.
func (m *Metrics) Sum(name string, match ...Pair) (sum float64, ok bool) {
	if m == nil {
		return 0, false
	}
	add := func(list []Series, value func(*Series) float64) {
		for i := range list {
			if v := value(&list[i]); list[i].Matches(match) && !math.IsNaN(v) {
				sum, ok = sum+v, true
			}
		}
	}
	add(m.Samples(name), func(s *Series) float64 { return s.Value })
	if of, is := strings.CutSuffix(name, "_sum"); is && !ok {
		add(m.distributions(of), func(s *Series) float64 { return s.Value })
	}
	if of, is := strings.CutSuffix(name, "_count"); is && !ok {
		add(m.distributions(of), func(s *Series) float64 { return s.Count })
	}
	return sum, ok
}

// distributions returns the series of a histogram or summary.
func (m *Metrics) distributions(name string) []Series {
	if f := m.Families[name]; f != nil && f.Kind >= MetricHistogram {
		return f.Series
	}
	return nil
}

// filter returns a scrape with the families whose names keep accepts.
func (m *Metrics) filter(keep func(name string) bool) *Metrics {
	part := &Metrics{At: m.At, Families: map[string]*Family{}}
	for name, f := range m.Families {
		if keep(name) {
			part.Families[name] = f
		}
	}
	return part
}
