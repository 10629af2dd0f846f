package expr

import (
	"kitescope/engine/binlog"
)

// arithmetic computes an operation on two constants, or returns a sum of a column and a constant.
func (c *checker) arithmetic(n *node) (*operand, error) {
	a, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	b, err := c.operand(n.args[1])
	if err != nil {
		return nil, err
	}
	if a.value != nil && b.value != nil {
		v, err := arithmetic(n.op, a.value, b.value, c.schema.Release)
		if err != nil {
			return nil, c.fail(n, "%v", err)
		}
		return &operand{value: &v}, nil
	}
	col, by := a.column, b.value
	if col == nil && b.column != nil && a.value != nil && (n.op == "+" || n.op == "*") {
		col, by = b.column, a.value
	}
	switch {
	case a.step != nil || b.step != nil:
		return nil, c.fail(n, "%s takes numbers, found a condition", n.op)
	case n.op == "**":
		return nil, c.fail(n, "** takes constants only")
	case a.column != nil && b.column != nil:
		return nil, c.fail(n, "arithmetic with two fields: Milvus computes with one field and a constant")
	case a.sum != nil || b.sum != nil:
		return nil,
			c.failHint(n, "put constants together: a + 3 instead of a + 1 + 2",
				"Milvus computes one operation with a field, found two: %s", c.source(n))
	case col == nil || by == nil:
		return nil, c.fail(n, "a constant %s a field is not supported by Milvus: write the field first", n.op)
	}
	if err := c.computable(n, col, by); err != nil {
		return nil, err
	}
	return &operand{sum: &sum{op: n.op, column: col, constant: *by}}, nil
}

// computable returns an error unless the operator can be applied to the values of the column and the constant.
func (c *checker) computable(n *node, col *column, constant *Value) error {
	kind := col.kind()
	ok := constant.numeric() && (kind == Float || col.json() || kind == Int && constant.Kind == Int)
	switch {
	case col.whole():
		return c.fail(n, "field %s is an array: compute with an element, as in %s[0]", col.field.Name, col.field.Name)
	case !ok:
		return c.fail(n, "%s does not take %s and %s", n.op, col.typeName(), constant.Kind)
	case n.op == "%" && (kind == Float || constant.Kind != Int && !col.json()):
		return c.fail(n, "%% takes whole numbers, found %s and %s", col.typeName(), constant.Kind)
	case (n.op == "/" || n.op == "%" && !c.schema.Release.before(5)) && constant.number() == 0:
		return c.fail(n, "division by zero")
	}
	return nil
}

func (c *checker) comparison(n *node) (*operand, error) {
	a, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	b, err := c.operand(n.args[1])
	if err != nil {
		return nil, err
	}
	if a.value != nil && b.value != nil {
		result, ok := compareValues(n.op, a.value, b.value)
		if !ok {
			return nil, c.fail(n, "%s cannot be compared with %s", a.value.Kind, b.value.Kind)
		}
		return &operand{step: constantStep(result)}, nil
	}
	if a.step != nil || b.step != nil {
		return nil, c.fail(n, "%s compares values, found a condition", n.op)
	}
	op := n.op
	if a.value != nil {
		a, b, op = b, a, mirrored(op)
	}
	var s step
	switch {
	case b.value != nil && a.sum != nil:
		s, err = c.compareSum(n, op, a.sum, *b.value)
	case b.value != nil:
		s, err = c.compareColumn(n, op, a.column, *b.value)
	case a.column != nil && b.column != nil:
		s, err = c.compareFields(n, op, a.column, b.column)
	default:
		err = c.fail(n, "Milvus compares arithmetic with constants only: %s", c.source(n))
	}
	return &operand{step: s}, err
}

// cast converts a constant to the kind of a column's values. Constants compared with JSON keep their kind.
func cast(kind Kind, v Value) (Value, bool) {
	switch {
	case kind == NoValue, kind == v.Kind:
		return v, true
	case kind == Float && v.Kind == Int:
		return floatValue(float64(v.Int)), true
	}
	return v, false
}

// narrowed returns an integer as releases before 2.2 use it: truncated to the bits of the field.
func (c *checker) narrowed(f *Field, v Value) Value {
	if v.Kind != Int || !c.schema.Release.before(2) {
		return v
	}
	switch f.Type {
	case binlog.Int8:
		v.Int = int64(int8(v.Int))
	case binlog.Int16:
		v.Int = int64(int16(v.Int))
	case binlog.Int32:
		v.Int = int64(int32(v.Int))
	default:
	}
	return v
}

func (c *checker) compareColumn(n *node, op string, col *column, v Value) (step, error) {
	v, ok := cast(col.kind(), c.narrowed(col.field, v))
	switch {
	case !ok && col.kind() == Int && v.Kind == Float:
		return nil,
			c.failHint(n, "compare with a whole number", "field %s is %s: it cannot be compared with %s",
				col.field.Name, col.typeName(), v.String())
	case !ok:
		return nil, c.fail(n, "field %s is %s: it cannot be compared with %s", col.field.Name, col.typeName(), v.Kind)
	case v.Kind == List && op != "==" && op != "!=" && col.json():
		return constantStep(false), nil // as in ExecRangeVisitorImplJson
	case v.Kind == List && op != "==" && op != "!=":
		return nil, c.fail(n, "lists are compared with == and != only")
	case v.Kind == List:
		return c.compareList(n, op, col, v)
	}
	switch {
	case col.json():
		return &jsonTest{column: col, test: valueTest(op, v), missing: op == "!="}, nil
	case col.index >= 0:
		return &elementTest{column: col, test: valueTest(op, v)}, nil
	case v.Kind == Text:
		if op == "==" || op == "!=" {
			return &textRows{field: col.field, text: v.Text, not: op == "!="}, nil
		}
		return &textTest{field: col.field, test: textTester(op, v.Text)}, nil
	case v.Kind == Float:
		return floatRange(col.field, op, v.Float), nil
	case v.Kind == Bool:
		v.Int = 0
		if v.Bool {
			v.Int = 1
		}
	}
	return intRange(col.field, op, v.Int), nil
}

// compareList compares a whole array with a list.
func (c *checker) compareList(n *node, op string, col *column, v Value) (step, error) {
	for i := range v.List {
		if v.List[i].Kind == List {
			return nil, c.fail(n, "lists in lists cannot be compared")
		}
	}
	if col.json() {
		return &jsonListTest{column: col, list: v.List, equal: op == "=="}, nil
	}
	for i := range v.List {
		if k := v.List[i].Kind; k != v.List[0].Kind || !comparableKinds(kindOf(col.field.Element), k) {
			return nil,
				c.fail(n, "field %s is %s: it cannot be compared with a list that has %s", col.field.Name,
					col.typeName(), k)
		}
	}
	return &arrayEqual{field: col.field, list: v.List, equal: op == "=="}, nil
}

// comparableKinds reports whether elements of a kind can equal constants of another kind.
func comparableKinds(element, value Kind) bool {
	numbers := (element == Int || element == Float) && (value == Int || value == Float)
	return element == value || numbers
}

func (c *checker) compareSum(n *node, op string, s *sum, v Value) (step, error) {
	if s.op == "length" {
		if v.Kind != Int {
			return nil, c.fail(n, "a length is a whole number, found %s", v.String())
		}
		return &lengthTest{column: s.column, op: op, length: v.Int}, nil
	}
	if s.column.kind() == Float || s.constant.Kind == Float {
		var ok bool
		if v, ok = cast(Float, v); !ok {
			return nil, c.fail(n, "a number cannot be compared with %s", v.Kind)
		}
		s.constant = floatValue(s.constant.number())
	}
	if v.Kind != s.constant.Kind {
		return nil,
			c.failHint(n, "compare with a whole number", "whole numbers are computed and cannot be compared with %s",
				v.String())
	}
	old := c.schema.Release.before(6)
	switch {
	case s.op == "%" && s.constant.number() == 0:
		return constantStep(op == "!="), nil // the remainder of doubles is NaN
	case s.column.json():
		return &jsonTest{column: s.column, test: sumTest(s.op, s.constant, op, v, old), missing: op == "!="}, nil
	case s.column.index >= 0:
		return &elementTest{column: s.column, test: sumTest(s.op, s.constant, op, v, old)}, nil
	}
	s.constant, v = c.narrowed(s.column.field, s.constant), c.narrowed(s.column.field, v)
	return &sumRows{
		field: s.column.field, op: s.op, constant: s.constant, compare: op, value: v, old: old,
		wraps: s.column.field.Type == binlog.Int32 && c.schema.Release.before(2),
	}, nil
}

func (c *checker) compareFields(n *node, op string, a, b *column) (step, error) {
	for _, col := range []*column{a, b} {
		if col.json() || col.field.Type == binlog.Array {
			return nil,
				c.failHint(n, "compare with constants",
					"two fields are compared only if neither is JSON or an array: %s", c.source(n))
		}
	}
	x, y := a.kind(), b.kind()
	if x == Bool && c.schema.Release.before(3) {
		x = Int
	}
	if y == Bool && c.schema.Release.before(3) {
		y = Int
	}
	if x != y && !comparableKinds(x, y) {
		return nil,
			c.fail(n, "field %s is %s: it cannot be compared with field %s, %s", a.field.Name, a.typeName(),
				b.field.Name, b.typeName())
	}
	return &fieldsTest{a: a.field, b: b.field, op: op}, nil
}

// between returns the step of a range, e.g. 1 < a < 2 or 2 > a > 1.
func (c *checker) between(n *node) (step, error) {
	col, err := c.column(n.args[1])
	if err != nil {
		return nil, err
	}
	var bounds [2]Value
	for i, a := range []*node{n.args[0], n.args[2]} {
		o, err := c.operand(a)
		if err != nil {
			return nil, err
		}
		if o.value == nil {
			return nil, c.fail(a, "expected constants around a field, found %s", c.source(a))
		}
		v, ok := cast(col.kind(), *o.value)
		if !ok || v.Kind == List || v.Kind == Bool && !c.schema.Release.before(5) {
			return nil, c.fail(a, "field %s is %s: a range of it cannot be bounded by %s", col.field.Name,
				col.typeName(), o.value.Kind)
		}
		bounds[i] = v
	}
	low, high := bounds[0], bounds[1]
	if low.Kind != high.Kind && (!low.numeric() || !high.numeric()) {
		return nil, c.fail(n, "a range from %s to %s", low.Kind, high.Kind)
	}
	ops := splitOps(n.tok.text)
	if ops[0][0] == '>' {
		low, high = high, low
		ops[0], ops[1] = ops[1], ops[0]
	} else {
		ops[0], ops[1] = mirrored(ops[0]), mirrored(ops[1])
	}
	// Normalize the comparisons to: field ops[0] low and field ops[1] high, e.g. ">=" and "<".
	ops[1] = "<" + ops[1][1:]
	ops[0] = ">" + ops[0][1:]
	inverted := "<"
	if len(ops[0]) == 1 || len(ops[1]) == 1 {
		inverted = "<="
	}
	if empty, ok := compareValues(inverted, &high, &low); ok && empty && !c.schema.Release.before(5) {
		return nil, c.fail(n, "the range is empty: %s is not below %s", low.String(), high.String())
	}
	return c.bounded(n, col, ops, low, high)
}

// splitOps returns the two comparisons of a range as written.
func splitOps(s string) (ops [2]string) {
	at := 0
	for i := range s {
		if s[i] == ' ' {
			ops[0], at = s[:i], i+1
		}
	}
	ops[1] = s[at:]
	return ops
}

func (c *checker) bounded(n *node, col *column, ops [2]string, low, high Value) (step, error) {
	if col.json() && low.Kind != high.Kind {
		low, high = floatValue(low.number()), floatValue(high.number())
	}
	if col.json() || col.index >= 0 {
		lower, upper := valueTest(ops[0], low), valueTest(ops[1], high)
		both := func(v *Value) (bool, bool) {
			above, applies := lower(v)
			below, _ := upper(v)
			return above && below, applies
		}
		if col.json() {
			return &jsonTest{column: col, test: both}, nil
		}
		return &elementTest{column: col, test: both}, nil
	}
	a, err := c.compareColumn(n, ops[0], col, low)
	if err != nil {
		return nil, err
	}
	b, err := c.compareColumn(n, ops[1], col, high)
	if err != nil {
		return nil, err
	}
	x, isInts := a.(*intRows)
	y, ok := b.(*intRows)
	if isInts && ok {
		return x.and(y), nil
	}
	f, isFloats := a.(*floatRows)
	g, ok := b.(*floatRows)
	if isFloats && ok {
		return f.and(g), nil
	}
	return andStep{a, b}, nil
}
