package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/hints"
)

// KindOf is the index of the type that a word means: its name, its number, or "" for the type
// that `go tool pprof` shows first: DefaultType, else the last one
// (google/pprof profile/index.go: SampleIndexByName). "inuse_space" also means "space".
func (p *Profile) KindOf(sampleIndex string) (int, error) {
	if len(p.Types) == 0 {
		return 0, hints.Errorf("it may be cut off, or not a profile; take it again", "%s has no sample types", p.called())
	}
	if sampleIndex == "" {
		for i, t := range p.Types {
			if p.DefaultType != "" && t.Type == p.DefaultType {
				return i, nil
			}
		}
		return len(p.Types) - 1, nil
	}
	if i, err := strconv.Atoi(sampleIndex); err == nil {
		if i < 0 || i >= len(p.Types) {
			return 0, p.noKind(fmt.Errorf("sample type %d of %s: its types are 0 to %d", i, p.called(), len(p.Types)-1))
		}
		return i, nil
	}
	short := strings.TrimPrefix(sampleIndex, "inuse_")
	for i, t := range p.Types {
		if t.Type == sampleIndex || t.Type == short {
			return i, nil
		}
	}
	return 0, p.noKind(fmt.Errorf("%s has no sample type %q", p.called(), sampleIndex))
}

func (p *Profile) noKind(err error) error {
	names := make([]string, len(p.Types))
	for i, t := range p.Types {
		names[i] = fmt.Sprintf("%d %s", i, t)
	}
	return &hints.Error{Err: err, Advice: "it has " + strings.Join(names, ", ")}
}

// called is what the profile is called in a message.
func (p *Profile) called() string {
	if p.Origin.Name == "" {
		return "the profile"
	}
	return p.Origin.Name
}

// Events tells how many events were sampled: of each sample, and in all. It is what the noise of
// a profile depends on, which the values alone do not say. The total is -1, and perSample 0, where
// that is unknown:
//
//   - With a type samples/count, as in CPU profiles of Go and of perf, it is that type's value.
//   - Else, where the period is in the type's own unit, it is the value over the period. Some exporters write a period
//     that is not that of sampling, e.g. 1 s beside values of 10 ms: values that are no multiples of it leave the
//     number unknown.
//   - Heap profiles are scaled up by the odds of having been sampled (runtime/pprof: scaleHeapSample),
//     mutex and block profiles too (runtime: blocksampled): the number of events cannot be had back.
//   - Goroutines and threads are counted whole and not sampled, so there is no noise to speak of.
//
// The events of a sample are never negative, so of a difference they mean nothing.
func (p *Profile) Events(kind int) (perSample func(i int) float64, total int64) {
	none := func(int) float64 { return 0 }
	if kind < 0 || kind >= len(p.Types) || exact(p.Types[kind]) {
		return none, -1
	}
	width, at, period := len(p.Types), p.counter(kind), int64(1)
	if at < 0 && p.PeriodType == p.Types[kind] && !scaledUp(p.Types[kind]) && p.sampledBy(p.Period, kind) {
		at, period = kind, p.Period
	}
	if at < 0 {
		return none, -1
	}
	perSample = func(i int) float64 { return max(0, float64(p.Values[i*width+at])/float64(period)) }
	var sum float64
	for i := range p.Len() {
		sum += perSample(i)
	}
	return perSample, int64(min(math.Round(sum), 1<<62))
}

// counter returns the type that counts the samples of another, -1 if there is none.
func (p *Profile) counter(kind int) int {
	own := ValueType{Type: p.Types[kind].Type + " samples", Unit: "count"}
	if at := slices.Index(p.Types, own); at >= 0 {
		return at
	}
	return slices.IndexFunc(p.Types, func(t ValueType) bool { return countsSamples(t, p.Types[kind]) })
}

// sampledBy reports whether the values of a type can be numbers of samples times a period. They are its multiples,
// except for the rounding of a period to whole nanoseconds, and nothing samples every nanosecond or every byte.
func (p *Profile) sampledBy(period int64, kind int) bool {
	const rounding, fastest = 0.01, int64(time.Microsecond)
	unit := p.Types[kind].Unit
	if period <= 0 || period == 1 && unit != "count" || period < fastest && unit == "nanoseconds" {
		return false
	}
	for at := kind; at < len(p.Values); at += len(p.Types) {
		n := float64(p.Values[at]) / float64(period)
		if math.Abs(n-math.Round(n)) > rounding {
			return false
		}
	}
	return true
}

// countsSamples reports whether a type counts the samples of a kind: "samples" or, where several events were
// sampled at once, "cycles samples", which are those of "cycles" and of themselves (profile/read, of perf and JFR).
func countsSamples(t, kind ValueType) bool {
	if t.Unit != "count" {
		return false
	}
	if own := strings.HasSuffix(kind.Type, " samples") && kind.Unit == "count"; own {
		return t == kind
	}
	// A recording of Java has samples of threads beside those of allocations, which they do not count.
	return t.Type == "samples" && !strings.HasPrefix(kind.Type, "alloc_")
}

// exact reports whether a type is a count of everything there is.
func exact(t ValueType) bool {
	return t.Unit == "count" && (t.Type == "goroutine" || t.Type == "goroutines" || t.Type == "threadcreate")
}

// scaledUp reports whether a type's values are estimates from a sample, with the period 1.
func scaledUp(t ValueType) bool { return t.Type == "contentions" || t.Type == "delay" }

// Overflow is the first type whose values, without their signs, add up to more than 64 bits hold: sums of them
// would come out as anything.
func (p *Profile) Overflow() (kind int, ok bool) {
	width := len(p.Types)
	for kind = range width {
		sum := uint64(0)
		for at := kind; at < len(p.Values); at += width {
			v := p.Values[at]
			if v < 0 {
				v = -v
			}
			if sum += uint64(v); v < 0 || sum > math.MaxInt64 {
				return kind, true
			}
		}
	}
	return 0, false
}
