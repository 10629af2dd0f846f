package expr

import (
	"kitescope/engine/binlog"
)

// textTest finds rows by their text.
type textTest struct {
	field *Field
	test  func(string) bool
}

func (s *textTest) rows(e *evaluation) (found, error) {
	c, err := e.column(s.field)
	if err != nil {
		return found{}, err
	}
	pass := e.words()
	each(pass, c.Strings, s.test)
	return known(found{pass: pass}, c), nil
}

// set finds the rows that have one of several values.
type set[T comparable] struct {
	field  *Field
	values map[T]struct{}
	of     func(c *binlog.Column) []T
}

func (s *set[T]) rows(e *evaluation) (found, error) {
	c, err := e.column(s.field)
	if err != nil {
		return found{}, err
	}
	pass := e.words()
	each(pass, s.of(c), func(v T) bool { _, ok := s.values[v]; return ok })
	return known(found{pass: pass}, c), nil
}

// few is how many values of a set are compared one by one.
const few = 4

func newTextSet(f *Field, values []Value) step {
	s := &set[string]{f, make(map[string]struct{}, len(values)), func(c *binlog.Column) []string { return c.Strings }}
	for i := range values {
		s.values[values[i].Text] = struct{}{}
	}
	return s
}

func newIntSet(f *Field, values []Value) step {
	s := &set[int64]{f, make(map[int64]struct{}, len(values)), func(c *binlog.Column) []int64 { return c.Int64s }}
	for i := range values {
		n := values[i].Int
		if values[i].Kind == Bool {
			n = truth(values[i].Bool)
		}
		s.values[n] = struct{}{}
	}
	if len(s.values) > few {
		return s
	}
	var list some
	for n := range s.values {
		list = append(list, intRange(f, "==", n))
	}
	return list
}

func newFloatSet(f *Field, values []Value) step {
	s := &set[float64]{f, make(map[float64]struct{}, len(values)), func(c *binlog.Column) []float64 { return c.Floats }}
	for i := range values {
		v := values[i].Float
		if f.Type == binlog.Float {
			v = float64(float32(v))
		}
		s.values[v] = struct{}{}
	}
	if len(s.values) > few {
		return s
	}
	var list some
	for v := range s.values {
		list = append(list, floatRange(f, "==", v))
	}
	return list
}

// sumRows computes with each row and a constant, and compares the result: whole numbers in 64 bits, others in the field's type.
type sumRows struct {
	field   *Field
	op      string
	by      Value
	compare string
	value   Value
	old     bool // the remainder is that of doubles
	wraps   bool // results have 32 bits
}

func (s *sumRows) rows(e *evaluation) (found, error) {
	c, err := e.column(s.field)
	if err != nil {
		return found{}, err
	}
	pass := e.words()
	switch {
	case s.by.Kind == Int && s.wraps:
		each(pass, c.Int64s, func(v int64) bool {
			return compare(s.compare, int64(int32(wholeSum(s.op, v, s.by.Int, s.old))), s.value.Int)
		})
	case s.by.Kind == Int:
		each(pass, c.Int64s, func(v int64) bool { return compare(s.compare, wholeSum(s.op, v, s.by.Int, s.old), s.value.Int) })
	case s.field.Type == binlog.Float:
		by, value := float32(s.by.Float), float32(s.value.Float)
		each(pass, c.Floats, func(v float64) bool { return compare(s.compare, singleSum(s.op, float32(v), by), value) })
	default:
		each(pass, c.Floats, func(v float64) bool { return compare(s.compare, floatSum(s.op, v, s.by.Float), s.value.Float) })
	}
	return known(found{pass: pass}, c), nil
}

// singleSum computes in 32 bits. The conversions keep a product from being added without rounding.
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

// fieldsTest compares two fields of a row, in the type in which C++ compares theirs.
type fieldsTest struct {
	a, b *Field
	op   string
}

func (s *fieldsTest) rows(e *evaluation) (found, error) {
	x, err := e.column(s.a)
	if err != nil {
		return found{}, err
	}
	y, err := e.column(s.b)
	if err != nil {
		return found{}, err
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
	f := known(known(found{pass: pass}, y), x)
	if y.Valid != nil && x.Valid != nil {
		for i, w := range y.Valid.Words() {
			f.valid[i] &= w
		}
	}
	return f, nil
}
