package pgo

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// equalTotal is what each profile counts where all count the same: as a second of CPU time. It is large enough that
// rounding loses nothing of a profile of some thousand samples, and small enough for four billion profiles.
const equalTotal = 1_000_000_000

// maxTotal bounds the weight of all samples: a sample counts for each call in its last two locations, and sums of these
// must stay below 2^63.
const maxTotal = math.MaxInt64 >> 20

// share is what is taken of a profile's values: those of one type, times to, divided by from.
type share struct {
	kind     int
	from, to uint64
	// sampled is the sum of its values as they were sampled.
	sampled int64
}

// scale is a value as it counts, rounded to the nearest; what was sampled does not vanish.
func (s *share) scale(v int64) int64 {
	if s.from == s.to || v == 0 {
		return v
	}
	high, low := bits.Mul64(uint64(v), s.to)
	low, carry := bits.Add64(low, s.from/2, 0)
	n, _ := bits.Div64(high+carry, low, s.from) // v is at most from, so that it fits
	return max(1, int64(n))
}

// weigh settles what each profile counts, and in which unit.
func weigh(inputs []Input, w Weighting) ([]share, profile.ValueType, error) {
	shares := make([]share, len(inputs))
	var all int64
	for i := range inputs {
		s, err := sampled(&inputs[i])
		if err != nil {
			return nil, profile.ValueType{}, fmt.Errorf("pack %s: %w", inputs[i].Name, err)
		}
		shares[i] = s
	}
	kind := cpuTime
	if w == WeighEqually && len(inputs) > 1 {
		for i := range shares {
			if s := &shares[i]; s.sampled > 0 {
				s.from, s.to = uint64(s.sampled), equalTotal
			}
		}
	} else {
		var err error
		if kind, err = asSampled(inputs, shares); err != nil {
			return nil, kind, err
		}
	}
	for i := range shares {
		if all += min(shares[i].sampled, maxTotal); all > maxTotal {
			return nil, kind, errors.New("pack: the values of these profiles add up to more than a build can count: is it CPU time?")
		}
	}
	return shares, kind, nil
}

var (
	cpuTime = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	counted = profile.ValueType{Type: "samples", Unit: "count"}
)

// sampled is a profile as it was sampled, in the type that the compiler takes.
func sampled(in *Input) (share, error) {
	if in.Err != nil {
		return share{}, in.Err
	}
	for _, r := range Refusals(in.Profile) {
		switch r.ID {
		case "no-samples", "no-calls", "all-zero": // it adds nothing to the others
		default:
			return share{}, r.err()
		}
	}
	s := share{kind: max(0, kindOf(in.Profile))}
	return s, s.sum(in.Profile)
}

// sum adds up the values of a type.
func (s *share) sum(p *profile.Profile) error {
	s.sampled, s.from, s.to = 0, 1, 1
	for i := range p.Len() {
		v := p.Value(i, s.kind)
		if v < 0 {
			return hints.Errorf("take the profiles themselves", "it has negative values, like a diff of two profiles")
		}
		if s.sampled += v; s.sampled > maxTotal || s.sampled < 0 {
			return errors.New("its values add up to more than a build can count: is it CPU time?")
		}
	}
	return nil
}

// asSampled finds the type in which values of several profiles can be added up: the one that the compiler takes of their
// merge, samples where all were sampled at one rate, else CPU time.
func asSampled(inputs []Input, shares []share) (profile.ValueType, error) {
	kind, period := profile.ValueType{}, int64(0)
	isOne := true
	for i := range inputs {
		p := inputs[i].Profile
		if p.Len() == 0 {
			continue
		}
		t := p.Types[shares[i].kind]
		if kind == (profile.ValueType{}) {
			kind, period = t, p.Period
		}
		isOne = isOne && t == kind && (t == cpuTime || p.Period == period)
	}
	if isOne {
		if kind == (profile.ValueType{}) {
			kind = counted // all are empty
		}
		return kind, nil
	}
	for i := range inputs {
		p := inputs[i].Profile
		if p.Len() == 0 {
			continue
		}
		s := &shares[i]
		if s.kind = indexOf(p, cpuTime); s.kind < 0 {
			return cpuTime, hints.Errorf("weigh them equally",
				"pack %s: it counts samples, at another rate than the others: they cannot be added up", inputs[i].Name)
		}
		if err := s.sum(p); err != nil {
			return cpuTime, fmt.Errorf("pack %s: %w", inputs[i].Name, err)
		}
	}
	return cpuTime, nil
}

func indexOf(p *profile.Profile, t profile.ValueType) int {
	for i := range p.Types {
		if p.Types[i] == t {
			return i
		}
	}
	return -1
}
