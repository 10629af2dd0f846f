package expr

import "kitescope/engine/binlog"

// eachJSON sets the bits of the rows for which a test of the value at a path holds. Without a value raw is "".
func eachJSON(e *evaluation, col *column, test func(raw string) bool) (found, error) {
	c, err := e.column(col.field)
	if err != nil {
		return found{}, err
	}
	pass := e.words()
	each(pass, c.Strings, func(doc string) bool {
		raw, ok := jsonAt(doc, col.path)
		if !ok {
			raw = ""
		}
		return test(raw)
	})
	return known(found{pass: pass}, c), nil
}

// jsonTest tests the value that a path leads to. missing is the answer where there is none of the right kind.
type jsonTest struct {
	column  *column
	test    tester
	missing bool
}

func (s *jsonTest) rows(e *evaluation) (found, error) {
	return eachJSON(e, s.column, func(raw string) bool {
		if raw == "" {
			return s.missing
		}
		v := jsonValue(raw)
		pass, applies := s.test(&v)
		return pass || !applies && s.missing
	})
}

// existsTest is whether a path leads to a value. Before 2.6 one that is empty counts.
type existsTest struct {
	column *column
	empty  bool
}

func (s *existsTest) rows(e *evaluation) (found, error) {
	return eachJSON(e, s.column, func(raw string) bool { return raw != "" && (s.empty || !jsonEmpty(raw)) })
}

// jsonListTest compares an array with a list. What is no array is neither equal nor unequal.
type jsonListTest struct {
	column *column
	list   []Value
	equal  bool
}

func (s *jsonListTest) rows(e *evaluation) (found, error) {
	return eachJSON(e, s.column, func(raw string) bool {
		if raw == "" || raw[0] != '[' {
			return false
		}
		return jsonEquals(raw, s.list) == s.equal
	})
}

// jsonEquals reports whether an array has the values of a list, in their order.
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

// jsonIs reports whether an element is a constant: a whole number only if it is written as one, a number with a fraction by
// its value, a list by those of its elements.
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

// containsTest is whether an array has one of several values, or with every all of them.
type containsTest struct {
	column *column
	values []Value
	every  bool
}

func (s *containsTest) rows(e *evaluation) (found, error) {
	if !s.column.json() {
		return eachArray(e, s.column.field, s.array)
	}
	return eachJSON(e, s.column, func(raw string) bool {
		seen := newSeen(s)
		is := jsonList(raw, func(element string) bool {
			return !seen.add(func(want *Value) bool { return jsonIs(element, want) })
		})
		return is && seen.done()
	})
}

func (s *containsTest) array(a *array) bool {
	seen := newSeen(s)
	for i := range a.n {
		if seen.add(func(want *Value) bool { return a.is(i, want) }) {
			return true
		}
	}
	return seen.done()
}

// seen is which values were found.
type seen struct {
	of    *containsTest
	found []bool
	left  int
	any   bool
}

func newSeen(s *containsTest) *seen {
	x := &seen{of: s}
	if s.every {
		x.found, x.left = make([]bool, len(s.values)), len(s.values)
	}
	return x
}

// add takes an element, and reports whether no more is needed.
func (x *seen) add(is func(want *Value) bool) bool {
	for i := range x.of.values {
		switch {
		case x.of.every && x.found[i]:
		case !is(&x.of.values[i]):
		case !x.of.every:
			x.any = true
			return true
		default:
			x.found[i] = true
			x.left--
		}
	}
	return x.of.every && x.left == 0
}

func (x *seen) done() bool {
	if x.of.every {
		return x.left == 0
	}
	return x.any
}

// lengthTest compares the length of an array. What is no array has length 0.
type lengthTest struct {
	column *column
	op     string
	length int64
}

func (s *lengthTest) rows(e *evaluation) (found, error) {
	if s.column.field.Type == binlog.Array {
		return eachArray(e, s.column.field, func(a *array) bool { return compare(s.op, int64(a.n), s.length) })
	}
	return eachJSON(e, s.column, func(raw string) bool { return compare(s.op, jsonLength(raw), s.length) })
}
