package expr

import (
	"math"

	"kitescope/engine/binlog"
)

// intRows selects the rows whose integer, or boolean as 0 or 1, is from lo to hi inclusive, or the other rows if
// not is set. If lo is greater than hi, the range is empty. Every comparison of such a field with a constant
// becomes an intRows.
type intRows struct {
	field  *Field
	lo, hi int64
	not    bool
}

func intRange(f *Field, op string, v int64) *intRows {
	r := &intRows{field: f, lo: math.MinInt64, hi: math.MaxInt64}
	switch op {
	case "==", "!=":
		r.lo, r.hi, r.not = v, v, op == "!="
	case "<=":
		r.hi = v
	case ">=":
		r.lo = v
	case "<":
		if r.hi = v - 1; v == math.MinInt64 {
			r.lo, r.hi = 1, 0
		}
	case ">":
		if r.lo = v + 1; v == math.MaxInt64 {
			r.lo, r.hi = 1, 0
		}
	}
	return r
}

// and returns the intersection of two ranges. The field not must be false in both.
func (s *intRows) and(t *intRows) *intRows {
	return &intRows{field: s.field, lo: max(s.lo, t.lo), hi: min(s.hi, t.hi)}
}

func (s *intRows) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	if s.lo <= s.hi {
		intsWithin(pass, c.Int64s, s.lo, s.hi)
	}
	return finish(e, pass, s.not, c), nil
}

// finish inverts the rows if not is set, and excludes null rows.
func finish(e *evaluation, pass []uint64, not bool, c *binlog.Column) selection {
	if not {
		for i, w := range pass {
			pass[i] = ^w
		}
		trim(pass, e.columns.Rows)
	}
	return excludeNulls(selection{pass: pass}, c)
}

// bit converts a boolean to a bit without a branch.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// intsWithin sets the bits of the values from lo to hi. A single unsigned comparison of the distance from lo
// checks both bounds.
func intsWithin(to []uint64, x []int64, lo, hi int64) {
	span := uint64(hi) - uint64(lo)
	whole := len(x) / 64
	for i := range whole {
		v := (*[64]int64)(x[64*i:])
		var w uint64
		for j := 0; j < 64; j += 8 {
			w = w>>8 |
				bit(uint64(v[j])-uint64(lo) <= span)<<56 |
				bit(uint64(v[j+1])-uint64(lo) <= span)<<57 |
				bit(uint64(v[j+2])-uint64(lo) <= span)<<58 |
				bit(uint64(v[j+3])-uint64(lo) <= span)<<59 |
				bit(uint64(v[j+4])-uint64(lo) <= span)<<60 |
				bit(uint64(v[j+5])-uint64(lo) <= span)<<61 |
				bit(uint64(v[j+6])-uint64(lo) <= span)<<62 |
				bit(uint64(v[j+7])-uint64(lo) <= span)<<63
		}
		to[i] = w
	}
	for i := 64 * whole; i < len(x); i++ {
		to[whole] |= bit(uint64(x[i])-uint64(lo) <= span) << (i & 63)
	}
}

// floatRows is like intRows for floating-point fields. NaN is in no range.
type floatRows struct {
	field  *Field
	lo, hi float64
	not    bool
}

// floatRange returns the range for a comparison with a constant. The constant is rounded to the type of the
// field, as in segcore.
func floatRange(f *Field, op string, v float64) *floatRows {
	if f.Type == binlog.Float {
		v = float64(float32(v))
	}
	r := &floatRows{field: f, lo: math.Inf(-1), hi: math.Inf(1)}
	switch op {
	case "==", "!=":
		r.lo, r.hi, r.not = v, v, op == "!="
	case "<=":
		r.hi = v
	case ">=":
		r.lo = v
	case "<":
		if r.hi = math.Nextafter(v, math.Inf(-1)); math.IsInf(v, -1) {
			r.lo, r.hi = 1, 0
		}
	case ">":
		if r.lo = math.Nextafter(v, math.Inf(1)); math.IsInf(v, 1) {
			r.lo, r.hi = 1, 0
		}
	}
	return r
}

func (s *floatRows) and(t *floatRows) *floatRows {
	return &floatRows{field: s.field, lo: max(s.lo, t.lo), hi: min(s.hi, t.hi)}
}

func (s *floatRows) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	floatsWithin(pass, c.Floats, s.lo, s.hi)
	return finish(e, pass, s.not, c), nil
}

func floatsWithin(to []uint64, x []float64, lo, hi float64) {
	whole := len(x) / 64
	for i := range whole {
		v := (*[64]float64)(x[64*i:])
		var w uint64
		for j := 0; j < 64; j += 4 {
			w = w>>4 |
				(bit(v[j] >= lo)&bit(v[j] <= hi))<<60 |
				(bit(v[j+1] >= lo)&bit(v[j+1] <= hi))<<61 |
				(bit(v[j+2] >= lo)&bit(v[j+2] <= hi))<<62 |
				(bit(v[j+3] >= lo)&bit(v[j+3] <= hi))<<63
		}
		to[i] = w
	}
	for i := 64 * whole; i < len(x); i++ {
		to[whole] |= (bit(x[i] >= lo) & bit(x[i] <= hi)) << (i & 63)
	}
}

// each sets the bits of the values that pass test.
func each[T any](to []uint64, x []T, test func(T) bool) {
	for i := range to {
		var w uint64
		for j, v := range x[64*i : min(len(x), 64*i+64)] {
			w |= bit(test(v)) << j
		}
		to[i] = w
	}
}
