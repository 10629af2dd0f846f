package live

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// metricsTables holds one copy of the label sets and bounds that scrapes share. Scrapes of the same process
// share most label sets and bounds.
type metricsTables struct {
	sets   map[string]*labelSet // by their text, sorted by name
	bounds [][]float64
	free   []*familyText
}

// set returns the shared set of a sample's labels, in any order.
func (p *scrape) set(labels []rawLabel) *labelSet {
	slices.SortFunc(labels, func(a, b rawLabel) int { return cmp.Compare(a.name, b.name) })
	ordered, t := labelsText(labels), &p.d.metrics
	if t.sets == nil {
		t.sets = map[string]*labelSet{}
	}
	s := t.sets[ordered]
	if s == nil {
		s = p.newSet(labels)
		t.sets[ordered] = s
		p.weight += weightLabels + weightLabel*int64(len(labels)) + int64(len(ordered))
	}
	return s
}

// labelsText formats labels as in the text format.
func labelsText(labels []rawLabel) string {
	var b strings.Builder
	for i, l := range labels {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.name + `="` + escapeLabel(l.value) + `"`)
	}
	return b.String()
}

func (p *scrape) newSet(labels []rawLabel) *labelSet {
	if len(labels) == 0 {
		return &labelSet{}
	}
	s := &labelSet{pairs: make([]model.Pair, len(labels))}
	for i, l := range labels {
		value := safePair(l.name, l.value)
		if _, known := p.d.texts[value]; !known {
			p.weight += weightText + int64(len(value))
		}
		s.pairs[i] = model.Pair{Key: p.d.text(l.name), Value: p.d.text(value)}
	}
	return s
}

// familyText is a family being parsed.
type familyText struct {
	name   string
	kind   model.MetricKind
	series []model.Series
	// index maps label sets to the series of a histogram or summary; lastAt is the series that was found last.
	index  map[*labelSet]int
	lastAt int
	// buckets holds the buckets of all series, in the order of the text.
	buckets []bucketText
}

// bucketText is a bucket of a series.
type bucketText struct {
	series       int
	bound, count float64
}

func (t *metricsTables) family(name string, kind model.MetricKind) *familyText {
	if n := len(t.free); n > 0 {
		f := t.free[n-1]
		t.free = t.free[:n-1]
		f.name, f.kind = name, kind
		return f
	}
	return &familyText{name: name, kind: kind}
}

// seriesIndex returns the index of the histogram or summary series with these labels. It adds the series if it is
// missing.
func (f *familyText) seriesIndex(set *labelSet) (at int, added bool) {
	at, had := f.index[set]
	if !had {
		if f.index == nil {
			f.index = map[*labelSet]int{}
		}
		at = len(f.series)
		f.index[set] = at
		f.series = append(f.series, model.Series{Labels: set.pairs, Value: math.NaN(), Count: math.NaN()})
	}
	f.lastAt = at
	return at, !had
}

func (f *familyText) addBucket(series int, bound, count float64) {
	f.buckets = append(f.buckets, bucketText{series, bound, count})
}

// finish returns the family, or nil if it has no series, and releases its buffers.
func (f *familyText) finish(t *metricsTables) *model.Family {
	made := &model.Family{Name: f.name, Kind: f.kind}
	if f.kind == model.MetricHistogram {
		made.Bounds = f.assignBuckets(t)
	}
	tells := func(s *model.Series) bool {
		return f.kind < model.MetricHistogram || !math.IsNaN(s.Value) || !math.IsNaN(s.Count) || len(s.Quantiles) > 0
	}
	count := 0
	for i := range f.series {
		if tells(&f.series[i]) {
			count++
		}
	}
	if count > 0 {
		made.Series = make([]model.Series, 0, count)
		for i := range f.series {
			if tells(&f.series[i]) {
				made.Series = append(made.Series, f.series[i])
			}
		}
	}
	t.release(f)
	if count == 0 {
		return nil
	}
	return made
}

// release stores the buffers of a family for reuse.
func (t *metricsTables) release(f *familyText) {
	const much = 10_000 // larger ones are not stored
	if len(f.series) > much || len(f.buckets) > much {
		return
	}
	clear(f.series)
	clear(f.index)
	*f = familyText{series: f.series[:0], index: f.index, buckets: f.buckets[:0]}
	t.free = append(t.free, f)
}

// assignBuckets assigns the buckets to the series of a histogram, and returns the bounds of the first series that has
// any. A series gets no buckets if its bounds differ, its counts decrease, or a bucket exceeds the count.
func (f *familyText) assignBuckets(t *metricsTables) (bounds []float64) {
	order := func(a, b bucketText) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.bound, b.bound))
	}
	if !slices.IsSortedFunc(f.buckets, order) {
		slices.SortStableFunc(f.buckets, order)
	}
	var all []float64
	for from, to := 0, 0; from < len(f.buckets); from = to {
		for to < len(f.buckets) && f.buckets[to].series == f.buckets[from].series {
			to++
		}
		s := &f.series[f.buckets[from].series]
		told := f.buckets[from:to]
		if last := told[len(told)-1]; math.IsInf(last.bound, 1) {
			if told = told[:len(told)-1]; math.IsNaN(s.Count) && last.count >= 0 && last.count <= 1<<53 {
				s.Count = last.count
			}
		}
		if !cumulative(told, s.Count) {
			continue
		}
		if bounds == nil {
			bounds = t.sharedBounds(told)
		}
		if !slices.EqualFunc(told, bounds, func(b bucketText, bound float64) bool { return b.bound == bound }) {
			continue
		}
		if all == nil {
			all = make([]float64, 0, min(len(bounds)*len(f.series), len(f.buckets)))
		}
		if cap(all)-len(all) < len(told) {
			continue // impossible: a series has its buckets once
		}
		for _, b := range told {
			all = append(all, b.count)
		}
		s.Buckets = all[len(all)-len(told) : len(all) : len(all)]
	}
	return bounds
}

// cumulative reports whether buckets are valid: finite bounds, and counts that do not decrease and do not
// exceed the count.
func cumulative(buckets []bucketText, count float64) bool {
	if len(buckets) == 0 || math.IsNaN(count) {
		return false
	}
	for i, b := range buckets {
		if !(b.count >= 0) || math.IsInf(b.bound, 0) || math.IsNaN(b.bound) ||
			i > 0 && (b.count < buckets[i-1].count || b.bound == buckets[i-1].bound) {
			return false
		}
	}
	return buckets[len(buckets)-1].count <= count
}

// maxShared bounds the number of different bounds that are searched; further ones are not shared.
const maxShared = 50

// sharedBounds returns the stored bounds that are equal, or stores and returns these.
func (t *metricsTables) sharedBounds(buckets []bucketText) []float64 {
	for _, have := range t.bounds {
		if slices.EqualFunc(buckets, have, func(b bucketText, bound float64) bool { return b.bound == bound }) {
			return have
		}
	}
	bounds := make([]float64, len(buckets))
	for i, b := range buckets {
		bounds[i] = b.bound
	}
	if len(t.bounds) < maxShared {
		t.bounds = append(t.bounds, bounds)
	}
	return bounds
}
