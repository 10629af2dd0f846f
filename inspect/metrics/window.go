package metrics

import (
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Window holds the metrics of one process over a period. A nil Window has no data.
type Window struct {
	// From and To are the times of the two scrapes, or the start of the process and the time of the only
	// scrape. Zero is unknown.
	From, To time.Time
	// SinceStart reports whether values are counted since the process started.
	SinceStart bool
	// Approximate is true if the time of the scrape is unknown. To is then the end of the last garbage collection,
	// because Go runs one at least every two minutes.
	Approximate bool
	// Reason is "between two scrapes", or the reason why the Window starts at the start of the process.
	Reason string

	before, now *model.Metrics // nil if SinceStart
}

// NewWindow compares two scrapes of one process. The Window starts at the start of the process if before is nil
// or not comparable: the process was restarted, its counters fell, the clock went back, or both are the same
// scrape. NewWindow returns nil if now is nil.
func NewWindow(before, now *model.Metrics) *Window {
	if now == nil {
		return nil
	}
	w := &Window{To: now.At, now: now}
	if w.Reason = mismatch(before, now); w.Reason == "" {
		w.From, w.before, w.Reason = before.At, before, "between two scrapes"
		return w
	}
	w.SinceStart = true
	if seconds, ok := valueOf(now, LastGC); ok && w.To.IsZero() {
		w.To, w.Approximate = unix(seconds), true
	}
	if seconds, ok := valueOf(now, StartTime); ok {
		w.From = unix(seconds)
	}
	return w
}

// mismatch returns the reason why two scrapes do not delimit a window, or "" if they do.
func mismatch(before, now *model.Metrics) string {
	if before == nil {
		return "since the start of the process, because there is only one scrape"
	}
	started, known := valueOf(now, StartTime)
	if was, had := valueOf(before, StartTime); known && had && was != started {
		return "since the start of the process, which was restarted between the scrapes"
	}
	if now.At.Equal(before.At) && !now.At.IsZero() { // scrapes from files have no times, only an order
		return "since the start of the process, because both scrapes have the same time"
	}
	if now.At.Before(before.At) {
		return "since the start of the process, because the clock went back between the scrapes"
	}
	moved := false
	for _, name := range []Name{Allocated, CPUSeconds} {
		is, ok := valueOf(now, name)
		was, had := valueOf(before, name)
		switch {
		case ok && had && is < was:
			return "since the start of the process, because its counters fell between the scrapes"
		case name == Allocated: // every response to a scrape allocates
			moved = !ok || !had || is > was
		}
	}
	if !moved {
		return "since the start of the process, because both scrapes are the same"
	}
	return ""
}

// unix converts Unix seconds to a time. It returns the zero time outside the years 1970 to 9999.
func unix(seconds float64) time.Time {
	const beyond = 253402300800 // the year 10000
	if !(seconds > 0 && seconds < beyond) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}

// valueOf adds up a counter or gauge over its names in all releases.
func valueOf(m *model.Metrics, name Name, match ...model.Pair) (sum float64, ok bool) {
	for _, c := range byName[name].Spellings {
		if v, has := m.Sum(c.Name, match...); has {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}

// Seconds returns the length of the Window, or 0 if it is unknown.
func (w *Window) Seconds() float64 {
	if w == nil || w.From.IsZero() || !w.To.After(w.From) {
		return 0
	}
	return w.To.Sub(w.From).Seconds()
}

// Scrape returns the newest scrape, or nil for a nil Window.
func (w *Window) Scrape() *model.Metrics {
	if w == nil {
		return nil
	}
	return w.now
}

// Histogram adds up the increase of all series of a histogram or summary that match the labels. ok is false if
// there are none; see Missing.
func (w *Window) Histogram(name Name, match ...model.Pair) (sum Histogram, ok bool) {
	w.Each(name, func(labels []model.Pair, h Histogram) {
		if !(model.Series{Labels: labels}).Matches(match) {
			return
		}
		if !ok {
			sum, ok = h, true
			return
		}
		sum = sum.Plus(h)
	})
	return sum, ok
}

// Each calls visit with the increase of each series of a histogram or summary. Times are in milliseconds.
func (w *Window) Each(name Name, visit func(labels []model.Pair, h Histogram)) {
	m := byName[name]
	if w == nil || m == nil || m.Kind < model.MetricHistogram {
		return
	}
	for _, c := range m.Spellings {
		f := w.now.Families[c.Name]
		if f == nil || f.Kind < model.MetricHistogram {
			continue
		}
		w.EachSeries(f, func(s *model.Series, came Increase) {
			if math.IsNaN(came.Histogram.Count) {
				return
			}
			h := came.Histogram
			switch m.Unit {
			case Seconds:
				h = h.scale(1000)
			case Microseconds:
				h = h.scale(0.001)
			default: // milliseconds and other units
			}
			visit(s.Labels, h)
		})
	}
}

// allTruncated reports whether all sums of a family are whole numbers, i.e. its observations were truncated.
func allTruncated(f *model.Family) bool {
	for i := range f.Series {
		if v := f.Series[i].Value; !math.IsNaN(v) && v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// Counter adds up the increase of all series of a counter that match the labels. ok is false if there are none.
func (w *Window) Counter(name Name, match ...model.Pair) (sum float64, ok bool) {
	w.EachCounter(name, func(labels []model.Pair, came float64) {
		if (model.Series{Labels: labels}).Matches(match) {
			sum, ok = sum+came, true
		}
	})
	return sum, ok
}

// EachCounter calls visit with the increase of each series of a counter.
func (w *Window) EachCounter(name Name, visit func(labels []model.Pair, increase float64)) {
	m := byName[name]
	if w == nil || m == nil || m.Kind != model.MetricCounter {
		return
	}
	for _, c := range m.Spellings {
		if f := w.now.Families[c.Name]; f != nil && (f.Kind == model.MetricCounter || f.Kind == model.MetricUntyped) {
			w.EachSeries(f, func(s *model.Series, came Increase) { visit(s.Labels, came.Value) })
		}
	}
}

// Gauge adds up the newest values of all series of a gauge that match the labels. ok is false if there are none.
func (w *Window) Gauge(name Name, match ...model.Pair) (sum float64, ok bool) {
	if m := byName[name]; w == nil || m == nil || m.Kind != model.MetricGauge {
		return 0, false
	}
	return valueOf(w.now, name, match...)
}

// Missing returns the reason why the process does not export a metric, or "" if it does.
func (w *Window) Missing(name Name) string {
	m := byName[name]
	switch {
	case m == nil:
		return "no metric is called " + string(name)
	case w == nil:
		return "its metrics are unknown"
	}
	var calls []string
	for _, c := range m.Spellings {
		f := w.now.Families[c.Name]
		if f != nil && fits(m.Kind, f.Kind) {
			return ""
		}
		if f != nil {
			return c.Name + " is a " + f.Kind.String() + ", not a " + m.Kind.String()
		}
		calls = append(calls, c.Name)
	}
	why := "it does not export " + strings.Join(calls, " or ")
	if s := m.Spellings[0].Since; s != "" && len(calls) == 1 {
		why += ", which Milvus has since " + s
	}
	return why
}

// fits reports whether a family of kind can hold a metric of kind want.
func fits(want, kind model.MetricKind) bool {
	if want >= model.MetricHistogram {
		return kind >= model.MetricHistogram
	}
	return kind < model.MetricHistogram
}

// Increase is the increase of a series over a Window: Value for a counter, Histogram for a histogram or summary. A
// series that fell or that the previous scrape does not have is counted from zero.
type Increase struct {
	Value     float64
	Histogram Histogram
}

// EachSeries calls visit with each series of a family of the newest scrape. Values keep the unit that Milvus
// exports.
func (w *Window) EachSeries(f *model.Family, visit func(s *model.Series, increase Increase)) {
	if w == nil || f == nil {
		return
	}
	old := seriesIndex{}
	if w.before != nil {
		if was := w.before.Families[f.Name]; was != nil && was.Kind == f.Kind {
			old.family = was
		}
	}
	m := Find(f.Name)
	whole := m != nil && m.Unit == Milliseconds && f.Kind >= model.MetricHistogram && allTruncated(f)
	for i := range f.Series {
		s := &f.Series[i]
		was := old.find(s)
		if f.Kind < model.MetricHistogram {
			came := Increase{Value: s.Value}
			if was != nil && was.Value <= s.Value {
				came.Value -= was.Value
			}
			visit(s, came)
			continue
		}
		h := increaseSince(f, s, old.family, was)
		h.Truncated = whole
		visit(s, Increase{Histogram: h})
	}
}

// increaseSince returns the increase of a histogram or summary series since an earlier one, or its full value if was
// is nil.
func increaseSince(f *model.Family, s *model.Series, old *model.Family, was *model.Series) Histogram {
	h := Histogram{Sum: s.Value, Count: s.Count, Bounds: f.Bounds, Buckets: s.Buckets}
	if s.Buckets == nil {
		h.Bounds = nil
	}
	if was == nil || !(was.Count <= s.Count) || was.Count == 0 {
		return h
	}
	h.Count -= was.Count
	if h.Sum -= was.Value; h.Sum < 0 && s.Value >= 0 {
		h.Sum = math.NaN() // durations are not negative, so the two are not from one series
	}
	h.Bounds, h.Buckets = nil, nil
	if s.Buckets == nil || was.Buckets == nil || !slices.Equal(f.Bounds, old.Bounds) {
		return h
	}
	buckets := make([]float64, len(s.Buckets))
	for i, v := range s.Buckets {
		buckets[i] = v - was.Buckets[i]
		if buckets[i] < 0 || i > 0 && buckets[i] < buckets[i-1] || buckets[i] > h.Count {
			return h
		}
	}
	h.Bounds, h.Buckets = f.Bounds, buckets
	return h
}

// seriesIndex finds series in the previous scrape. It is fastest if both scrapes have the same order, which is the
// usual case.
type seriesIndex struct {
	family *model.Family
	next   int
	index  map[string]int
}

func (e *seriesIndex) find(s *model.Series) *model.Series {
	if e.family == nil {
		return nil
	}
	list := e.family.Series
	if e.next < len(list) && slices.Equal(list[e.next].Labels, s.Labels) {
		e.next++
		return &list[e.next-1]
	}
	if e.index == nil {
		e.index = make(map[string]int, len(list))
		for i := range list {
			e.index[keyOf(list[i].Labels)] = i
		}
	}
	i, ok := e.index[keyOf(s.Labels)]
	if !ok || !slices.Equal(list[i].Labels, s.Labels) {
		return nil
	}
	e.next = i + 1
	return &list[i]
}

// keyOf returns a set of labels as a map key. Different sets may have the same key, so the caller compares the
// labels.
func keyOf(labels []model.Pair) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Key)
		b.WriteByte(0)
		b.WriteString(l.Value)
		b.WriteByte(0)
	}
	return b.String()
}
