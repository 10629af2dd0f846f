package model

import (
	"math"
	"strings"
	"time"
)

// Metrics is one scrape of a process's /metrics: every family, as columns.
type Metrics struct {
	At time.Time
	// Families are by the name of their "# TYPE" line; what has no such line is under its own name. None is without a series.
	Families map[string]*Family
	// Partial is that the text was broken, or more than the limits: what is not here may have been in the rest.
	Partial bool
}

// MetricKind is what kind of values a family has.
type MetricKind uint8

// The kinds of the text format (prometheus.io/docs/instrumenting/exposition_formats); a kind that is none of them is untyped.
const (
	MetricUntyped MetricKind = iota
	MetricCounter
	MetricGauge
	MetricHistogram
	MetricSummary
)

// String is the kind's name in the text format.
func (k MetricKind) String() string {
	return [...]string{"untyped", "counter", "gauge", "histogram", "summary"}[min(k, MetricSummary)]
}

// Family is all series of one metric.
type Family struct {
	Name string
	Kind MetricKind
	// Bounds are the upper bounds of a histogram's buckets, ascending, without +Inf. Families that have the same share them.
	Bounds []float64
	Series []Series
}

// Series is one value of a metric, or all that a histogram or summary says under one set of labels.
type Series struct {
	Labels []Pair // by key; shared between families
	// Value is that of a counter, gauge or untyped metric, a finite number always; the sum of a histogram or summary, NaN if it is not told.
	Value float64
	// Count is how many were observed, of a histogram or summary; NaN: not told.
	Count float64
	// Buckets are how many were observed up to each of the family's Bounds, never falling and at most Count; nil: not told.
	Buckets []float64
	// Quantiles are of a summary, in the order of the text.
	Quantiles []Quantile
}

// Quantile is what a summary says of its distribution: a share of the observations was Value or less.
type Quantile struct{ Share, Value float64 }

// Label is the value of a label, "" if the series has none of that name.
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

// Samples are the series of a metric that is one value each: not those of a histogram or summary.
func (m *Metrics) Samples(name string) []Series {
	if m == nil {
		return nil
	}
	if f := m.Families[name]; f != nil && f.Kind < MetricHistogram {
		return f.Series
	}
	return nil
}

// Sum adds up the values of a metric whose labels match all label=value pairs; NAME_sum and NAME_count are of the histogram or
// summary NAME. ok is false if there is none.
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

// distributions are the series of a histogram or summary.
func (m *Metrics) distributions(name string) []Series {
	if f := m.Families[name]; f != nil && f.Kind >= MetricHistogram {
		return f.Series
	}
	return nil
}

// only is the part of a scrape whose families' names are kept.
func (m *Metrics) only(keep func(name string) bool) *Metrics {
	part := &Metrics{At: m.At, Families: map[string]*Family{}}
	for name, f := range m.Families {
		if keep(name) {
			part.Families[name] = f
		}
	}
	return part
}
