package expr

import (
	"math"

	"kitescope/engine/binlog"
)

// textTest selects the rows whose text passes a test.
type textTest struct {
	field *Field
	test  func(string) bool
}

func (s *textTest) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	each(pass, c.Strings, s.test)
	return excludeNulls(selection{pass: pass}, c), nil
}

// textRows selects the rows that have a text, or the other rows if not is set.
type textRows struct {
	field *Field
	text  string
	not   bool
}

func (s *textRows) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	for i := range pass {
		var w uint64
		for j, v := range c.Strings[64*i : min(len(c.Strings), 64*i+64)] {
			if len(v) == len(s.text) && v == s.text {
				w |= 1 << j
			}
		}
		pass[i] = w
	}
	return finish(e, pass, s.not, c), nil
}

// textSet selects the rows that have one of several texts.
type textSet struct {
	field *Field
	texts map[string]struct{}
}

func newTextSet(f *Field, values []Value) step {
	s := &textSet{field: f, texts: make(map[string]struct{}, len(values))}
	for i := range values {
		s.texts[values[i].Text] = struct{}{}
	}
	return s
}

func (s *textSet) rows(e *evaluation) (selection, error) {
	t := textTest{s.field, func(v string) bool { _, ok := s.texts[v]; return ok }}
	return t.rows(e)
}

// intSet selects the rows that have one of several integers.
type intSet struct {
	field *Field
	ints  map[int64]struct{}
	// bits has a bit for each integer from base on. It is set only if the integers are close together.
	base int64
	bits []uint64
}

// maxSpread limits the spread of a set that is stored as bits. Sets of at most maxLinear values are compared one by
// one.
const (
	maxSpread = 1 << 16
	maxLinear = 4
)

func newIntSet(f *Field, values []Value) step {
	s := &intSet{field: f, ints: make(map[int64]struct{}, len(values)), base: math.MaxInt64}
	most := int64(math.MinInt64)
	for i := range values {
		n := values[i].Int
		if values[i].Kind == Bool {
			n = boolInt(values[i].Bool)
		}
		s.ints[n] = struct{}{}
		s.base, most = min(s.base, n), max(most, n)
	}
	if len(s.ints) <= maxLinear {
		var list orStep
		for n := range s.ints {
			list = append(list, intRange(f, "==", n))
		}
		return list
	}
	if uint64(most)-uint64(s.base) < maxSpread {
		s.bits = make([]uint64, (most-s.base)/64+1)
		for n := range s.ints {
			s.bits[(n-s.base)/64] |= 1 << ((n - s.base) & 63)
		}
	}
	return s
}

func (s *intSet) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	if s.bits == nil {
		each(pass, c.Int64s, func(n int64) bool { _, ok := s.ints[n]; return ok })
	} else {
		each(pass, c.Int64s, func(n int64) bool {
			d := uint64(n) - uint64(s.base)
			return d>>6 < uint64(len(s.bits)) && s.bits[d>>6]>>(d&63)&1 != 0
		})
	}
	return excludeNulls(selection{pass: pass}, c), nil
}

// newFloatSet returns a step that selects the rows that have one of several numbers.
func newFloatSet(f *Field, values []Value) step {
	set := make(map[float64]struct{}, len(values))
	for i := range values {
		v := values[i].Float
		if f.Type == binlog.Float {
			v = float64(float32(v))
		}
		set[v] = struct{}{}
	}
	if len(set) <= maxLinear {
		var list orStep
		for v := range set {
			list = append(list, floatRange(f, "==", v))
		}
		return list
	}
	return &floatSet{field: f, floats: set}
}

type floatSet struct {
	field  *Field
	floats map[float64]struct{}
}

func (s *floatSet) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	each(pass, c.Floats, func(v float64) bool { _, ok := s.floats[v]; return ok })
	return excludeNulls(selection{pass: pass}, c), nil
}

// sumRows applies an operation with a constant to each row and compares the result. Integers are computed in 64
// bits, other numbers in the type of the field.
type sumRows struct {
	field    *Field
	op       string
	constant Value
	compare  string
	value    Value
	old      bool // the remainder is computed in doubles
	wraps    bool // results wrap around at 32 bits
}

func (s *sumRows) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	switch {
	case s.constant.Kind == Int && s.wraps:
		each(pass, c.Int64s, func(v int64) bool {
			return compare(s.compare, int64(int32(wholeSum(s.op, v, s.constant.Int, s.old))), s.value.Int)
		})
	case s.constant.Kind == Int:
		each(pass, c.Int64s, func(v int64) bool {
			return compare(s.compare, wholeSum(s.op, v, s.constant.Int, s.old), s.value.Int)
		})
	case s.field.Type == binlog.Float:
		by, value := float32(s.constant.Float), float32(s.value.Float)
		each(pass, c.Floats, func(v float64) bool { return compare(s.compare, singleSum(s.op, float32(v), by), value) })
	default:
		each(pass, c.Floats, func(v float64) bool {
			return compare(s.compare, floatSum(s.op, v, s.constant.Float), s.value.Float)
		})
	}
	return excludeNulls(selection{pass: pass}, c), nil
}

// singleSum computes an operation in 32 bits.
func singleSum(op string, a, b float32) float32 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	default:
		return a / b
	}
}

// fieldsTest compares two fields of a row, in the type that C++ uses for the comparison.
type fieldsTest struct {
	a, b *Field
	op   string
}

func (s *fieldsTest) rows(e *evaluation) (selection, error) {
	x, err := e.column(s.a)
	if err != nil {
		return selection{}, err
	}
	y, err := e.column(s.b)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	set := func(test func(i int) bool) {
		for i := range e.columns.Rows {
			pass[i>>6] |= bit(test(i)) << (i & 63)
		}
	}
	switch single := s.a.Type != binlog.Double && s.b.Type != binlog.Double; {
	case x.Strings != nil:
		set(func(i int) bool { return compare(s.op, x.Strings[i], y.Strings[i]) })
	case x.Int64s != nil && y.Int64s != nil:
		set(func(i int) bool { return compare(s.op, x.Int64s[i], y.Int64s[i]) })
	case x.Int64s != nil && single:
		set(func(i int) bool { return compare(s.op, float32(x.Int64s[i]), float32(y.Floats[i])) })
	case y.Int64s != nil && single:
		set(func(i int) bool { return compare(s.op, float32(x.Floats[i]), float32(y.Int64s[i])) })
	case x.Int64s != nil:
		set(func(i int) bool { return compare(s.op, float64(x.Int64s[i]), y.Floats[i]) })
	case y.Int64s != nil:
		set(func(i int) bool { return compare(s.op, x.Floats[i], float64(y.Int64s[i])) })
	default:
		set(func(i int) bool { return compare(s.op, x.Floats[i], y.Floats[i]) })
	}
	f := excludeNulls(excludeNulls(selection{pass: pass}, y), x)
	if y.Valid != nil && x.Valid != nil {
		for i, w := range y.Valid.Words() {
			f.valid[i] &= w
		}
	}
	return f, nil
}
