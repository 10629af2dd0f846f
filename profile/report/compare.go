package report

import (
	"math"
	"slices"
	"strconv"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// NewComparison compares two profiles of the same kind. Flat, Cum, Total and the order are those of `go tool
// pprof -top` with -diff_base and -normalize. Like pprof, it omits entries that add up to 0.
//
// It also reports the values of each side, and whether a change is significant. The test uses event counts (see
// Hypothesis). With Normalize, the null hypothesis is that the shares are equal (EqualSharesP). Without
// Normalize, it is that as many events occur in the same time (EqualRatesP), or that the shares are equal if
// the duration of a side is unknown. Events are assumed to be independent, which is too optimistic for programs
// that work in bursts.
//
// Verdicts are corrected for the number of compared entries by Holm's method at Level (1 % that any verdict is
// wrong). Entries with too few events to be significant do not count (Tarone, Biometrics 46, 1990). The others
// are weighted by the square root of their events. For heap profiles the events are unknown and everything is
// Undecided.
//
// NewComparison returns a Mismatch if the profiles cannot be compared.
func NewComparison(base, p *profile.Profile, o CompareOptions) (*Comparison, error) {
	if o.FoldPreempt {
		base, p = base.FoldPreempt(), p.FoldPreempt()
		o.FoldPreempt = false
	}
	a, err := align(base, p, o)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Base: a.header(base), New: a.header(p), Type: a.types[a.kind],
		Normalized: o.Normalize, Factor: a.factor,
	}
	if o.Normalize && c.Base.Total == 0 {
		return nil, &Mismatch{
			What:   "normalize by the base: its total of " + c.Type.Type + " is 0",
			Advice: "take the base again while the program works, or compare without normalizing",
		}
	}
	marked, err := profile.Merge([]*profile.Profile{a.now, a.minus.SetLabel(profile.BaseLabel, "true")},
		profile.MergeOptions{})
	if err != nil {
		return nil, mismatch(err)
	}
	both, err := a.view(marked, o)
	if err != nil {
		return nil, err
	}
	c.Total, c.OfBase = both.header.Total, c.Base.Total > 0
	c.Changes = both.changes(o.SortCum)
	newTest(c, o, base, p).judge(c)
	return c, nil
}

// eventColumn is the type of a temporary column of events, used during a comparison.
const eventColumn = "kitescope::events"

// aligned holds two profiles with the same types. The last type is the column of events.
type aligned struct {
	now, minus *profile.Profile
	types      []profile.ValueType // without that column
	kind       int
	factor     float64
}

func align(base, p *profile.Profile, o CompareOptions) (*aligned, error) {
	if _, err := profile.Align(p, base); err != nil {
		return nil, mismatch(err)
	}
	both, err := profile.Align(withEvents(p, o), withEvents(base, o))
	if err != nil {
		return nil, mismatch(err)
	}
	a := &aligned{now: both.New, minus: both.Minus, factor: 1}
	last := len(a.now.Types) - 1
	a.types = a.now.Types[:last]
	kinds := profile.Profile{
		Types: a.types, DefaultType: a.now.DefaultType, Origin: profile.Origin{Name: "one of the two profiles"},
	}
	if kinds.DefaultType == "" {
		kinds.DefaultType = a.minus.DefaultType
	}
	if a.kind, err = kinds.KindOf(o.SampleIndex); err != nil {
		return nil, mismatch(err)
	}
	if o.Normalize {
		factors, err := profile.NormalFactors(a.now, a.minus)
		if err != nil {
			return nil, mismatch(err)
		}
		for i := range factors {
			factors[i] = 0 - factors[i] // avoids -0 if nothing was sampled after; the base's values are negative here
		}
		factors[last] = 1
		a.factor = factors[a.kind]
		a.now = a.now.Scale(factors)
	}
	return a, nil
}

// withEvents adds the column of events for the compared type.
func withEvents(p *profile.Profile, o CompareOptions) *profile.Profile {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		kind = 0 // Align or KindOf for both reports the error
	}
	events, _ := p.Events(kind)
	return p.WithColumn(profile.ValueType{Type: eventColumn, Unit: "count"}, func(i int) int64 {
		return int64(math.Round(events(i)))
	})
}

func mismatch(err error) error {
	if hints.HasHint(err) {
		return &Mismatch{What: err.Error(), Advice: hints.Of(err)}
	}
	return err
}

// header returns the Header of a side.
func (a *aligned) header(p *profile.Profile) Header {
	kind := slices.IndexFunc(p.Types, func(t profile.ValueType) bool { return t.Type == a.types[a.kind].Type })
	return newHeader(p, kind)
}

// view returns the view of a difference.
func (a *aligned) view(difference *profile.Profile, o CompareOptions) (*view, error) {
	options := o.Options
	options.SampleIndex = strconv.Itoa(a.kind)
	v, err := newView(difference, options)
	if err != nil {
		return nil, err
	}
	width := len(difference.Types)
	v.known = true
	v.events = func(i int) float64 { return math.Abs(float64(v.p.Values[(i+1)*width-1])) }
	return v, nil
}

// changes returns the entries of a difference whose base is labelled. FlatSamples and CumSamples are sums of
// both sides.
func (v *view) changes(byCum bool) []Change {
	base := v.isBase()
	before, after := v.tally(base), v.tally(func(i int) bool { return !base(i) })
	both := make([]entrySums, len(before))
	for i, b := range before {
		a := &after[i]
		both[i] = entrySums{
			flat: a.flat + b.flat, cum: a.cum + b.cum,
			flatEvents: a.flatEvents + b.flatEvents, cumEvents: a.cumEvents + b.cumEvents,
		}
	}
	var changes []Change
	for _, id := range v.order(both, byCum) {
		b, a := &before[id], &after[id]
		change := Change{
			Entry:      v.entry(id, &both[id]),
			FlatBefore: -b.flat, FlatAfter: a.flat,
			CumBefore: -b.cum, CumAfter: a.cum,
			FlatEventsBefore: int64(math.Round(b.flatEvents)), FlatEventsAfter: int64(math.Round(a.flatEvents)),
			CumEventsBefore: int64(math.Round(b.cumEvents)), CumEventsAfter: int64(math.Round(a.cumEvents)),
		}
		changes = append(changes, change)
	}
	return changes
}

// isBase returns a function that reports whether sample i belongs to the base.
func (v *view) isBase() func(i int) bool {
	marked := make([]bool, len(v.p.LabelSets))
	for i, set := range v.p.LabelSets {
		marked[i] = slices.ContainsFunc(set, isBaseLabel)
	}
	return func(i int) bool { return v.p.LabelOf != nil && marked[v.p.LabelOf[i]] }
}

func isBaseLabel(l profile.Label) bool { return l.Key == profile.BaseLabel && l.Str == "true" }
