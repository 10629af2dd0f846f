package expr

import "kitescope/engine/binlog"

// eachJSON sets the bits of the rows whose value at a path passes test. If there is no value, raw is "".
func eachJSON(e *evaluation, col *column, test func(raw string) bool) (selection, error) {
	c, err := e.column(col.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	each(pass, c.Strings, func(doc string) bool {
		raw, ok := jsonAt(doc, col.path)
		if !ok {
			raw = ""
		}
		return test(raw)
	})
	return excludeNulls(selection{pass: pass}, c), nil
}

// jsonTest tests the value at a path. missing is the result if there is no value of the right kind.
type jsonTest struct {
	column  *column
	test    tester
	missing bool
}

func (s *jsonTest) rows(e *evaluation) (selection, error) {
	return eachJSON(e, s.column, func(raw string) bool {
		if raw == "" {
			return s.missing
		}
		v := jsonValue(raw)
		pass, applies := s.test(&v)
		return pass || !applies && s.missing
	})
}

// existsTest tests whether a path leads to a value. Before 2.6, an empty value counts as existing.
type existsTest struct {
	column *column
	empty  bool
}

func (s *existsTest) rows(e *evaluation) (selection, error) {
	return eachJSON(e, s.column, func(raw string) bool { return raw != "" && (s.empty || !jsonEmpty(raw)) })
}

// jsonListTest compares an array with a list. A value that is not an array is neither equal nor unequal.
type jsonListTest struct {
	column *column
	list   []Value
	equal  bool
}

func (s *jsonListTest) rows(e *evaluation) (selection, error) {
	return eachJSON(e, s.column, func(raw string) bool {
		if raw == "" || raw[0] != '[' {
			return false
		}
		return jsonEquals(raw, s.list) == s.equal
	})
}

// jsonEquals reports whether an array has the values of a list, in the same order.
func jsonEquals(raw string, list []Value) bool {
	n, same := 0, true
	if !jsonList(raw, func(element string) bool {
		same = n < len(list) && jsonIs(element, &list[n])
		n++
		return same
	}) {
		return false
	}
	return same && n == len(list)
}

// jsonIs reports whether an element equals a constant. An integer equals only an element written as an integer,
// a fraction is compared by value, and a list by its elements.
func jsonIs(raw string, want *Value) bool {
	if want.Kind == List {
		return jsonEquals(raw, want.List)
	}
	v := jsonValue(raw)
	switch want.Kind {
	case Bool:
		return v.Kind == Bool && v.Bool == want.Bool
	case Int:
		return v.Kind == Int && v.Int == want.Int
	case Float:
		return v.numeric() && v.number() == want.Float
	default:
		return v.Kind == Text && v.Text == want.Text
	}
}

// containsTest tests whether an array contains one of several values, or all values if every is set.
type containsTest struct {
	column *column
	values []Value
	every  bool
}

func (s *containsTest) rows(e *evaluation) (selection, error) {
	if !s.column.json() {
		return eachArray(e, s.column.field, s.array)
	}
	return eachJSON(e, s.column, func(raw string) bool {
		seen := newContainsState(s)
		is := jsonList(raw, func(element string) bool {
			return !seen.add(func(want *Value) bool { return jsonIs(element, want) })
		})
		return is && seen.done()
	})
}

func (s *containsTest) array(a *array) bool {
	seen := newContainsState(s)
	for i := range a.n {
		if seen.add(func(want *Value) bool { return a.equals(i, want) }) {
			return true
		}
	}
	return seen.done()
}

// containsState tracks the values that were found.
type containsState struct {
	test  *containsTest
	found []bool
	left  int
	any   bool
}

func newContainsState(s *containsTest) *containsState {
	x := &containsState{test: s}
	if s.every {
		x.found, x.left = make([]bool, len(s.values)), len(s.values)
	}
	return x
}

// add records an element and reports whether the result is settled, so that no more elements are needed.
func (x *containsState) add(is func(want *Value) bool) bool {
	for i := range x.test.values {
		switch {
		case x.test.every && x.found[i]:
		case !is(&x.test.values[i]):
		case !x.test.every:
			x.any = true
			return true
		default:
			x.found[i] = true
			x.left--
		}
	}
	return x.test.every && x.left == 0
}

func (x *containsState) done() bool {
	if x.test.every {
		return x.left == 0
	}
	return x.any
}

// lengthTest compares the length of an array. A value that is not an array has length 0.
type lengthTest struct {
	column *column
	op     string
	length int64
}

func (s *lengthTest) rows(e *evaluation) (selection, error) {
	if s.column.field.Type == binlog.Array {
		return eachArray(e, s.column.field, func(a *array) bool { return compare(s.op, int64(a.n), s.length) })
	}
	return eachJSON(e, s.column, func(raw string) bool { return compare(s.op, jsonLength(raw), s.length) })
}
