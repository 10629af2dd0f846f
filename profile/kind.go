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

// KindOf returns the index of the type with the given name or number. For "" it returns the type that `go
// tool pprof` shows first: DefaultType, or the last type if that is not set (google/pprof profile/index.go:
// SampleIndexByName). "inuse_space" also matches "space".
func (p *Profile) KindOf(sampleIndex string) (int, error) {
	if len(p.Types) == 0 {
		return 0,
			hints.Errorf("it may be cut off, or not a profile; take it again", "%s has no sample types",
				p.displayName())
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
			return 0,
				p.noKind(fmt.Errorf("sample type %d of %s: its types are 0 to %d", i, p.displayName(), len(p.Types)-1))
		}
		return i, nil
	}
	short := strings.TrimPrefix(sampleIndex, "inuse_")
	for i, t := range p.Types {
		if t.Type == sampleIndex || t.Type == short {
			return i, nil
		}
	}
	return 0, p.noKind(fmt.Errorf("%s has no sample type %q", p.displayName(), sampleIndex))
}

func (p *Profile) noKind(err error) error {
	names := make([]string, len(p.Types))
	for i, t := range p.Types {
		names[i] = fmt.Sprintf("%d %s", i, t)
	}
	return &hints.Error{Err: err, Advice: "it has " + strings.Join(names, ", ")}
}

// displayName returns the name of the profile for messages.
func (p *Profile) displayName() string {
	if p.Origin.Name == "" {
		return "the profile"
	}
	return p.Origin.Name
}

// Events returns the number of sampled events, per sample and in total. The noise of a profile depends on this
// number, which the values alone do not show. If it is unknown, total is -1 and perSample returns 0.
//
//   - With a type samples/count, as in CPU profiles of Go and perf, the number is the value with that type.
//   - Otherwise, if the period has the type's own unit, the number is the value divided by the period. Some
//     exporters write a period that is not the sampling period, e.g. 1 s with values of 10 ms. If values are
//     not multiples of the period, the number is unknown.
//   - Heap profiles are scaled up by the odds of having been sampled (runtime/pprof: scaleHeapSample). So are
//     mutex and block profiles (runtime: blocksampled). Their number of events cannot be recovered.
//   - Goroutines and threads are counted completely rather than sampled, so their numbers have no noise.
//
// The number for a sample is never negative, so it is meaningless for a difference.
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

// counter returns the index of the type that counts the samples of another type, -1 if no type does.
func (p *Profile) counter(kind int) int {
	own := ValueType{Type: p.Types[kind].Type + " samples", Unit: "count"}
	if at := slices.Index(p.Types, own); at >= 0 {
		return at
	}
	return slices.IndexFunc(p.Types, func(t ValueType) bool { return countsSamples(t, p.Types[kind]) })
}

// sampledBy reports whether the values of a type can be numbers of samples times a period: they must be
// multiples of the period, apart from its rounding to whole nanoseconds. Periods below 1 µs, and a period of 1
// in any unit but count, are rejected because nothing samples that often.
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

// countsSamples reports whether a type counts the samples of a kind. Its name is "samples", or e.g. "cycles
// samples" if several events were sampled at once. The latter counts the samples of "cycles" and of itself
// (profile/read, for perf and JFR).
func countsSamples(t, kind ValueType) bool {
	if t.Unit != "count" {
		return false
	}
	if own := strings.HasSuffix(kind.Type, " samples") && kind.Unit == "count"; own {
		return t == kind
	}
	// A Java recording has thread samples in addition to allocation samples. The former do not count the
	// latter.
	return t.Type == "samples" && !strings.HasPrefix(kind.Type, "alloc_")
}

// exact reports whether a type is a complete count rather than a sample.
func exact(t ValueType) bool {
	return t.Unit == "count" && (t.Type == "goroutine" || t.Type == "goroutines" || t.Type == "threadcreate")
}

// scaledUp reports whether a type's values are estimates from a sample, with a period of 1.
func scaledUp(t ValueType) bool { return t.Type == "contentions" || t.Type == "delay" }

// Overflow returns the first type whose absolute values add up to more than an int64 can hold. Sums of such
// values are meaningless.
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
