package expr

import (
	"strings"

	"kitescope/engine/binlog"
)

// membership returns the step of "in" and "not in".
func (c *checker) membership(n *node) (step, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	if o.column == nil {
		return nil, c.fail(n.args[0], "expected a field before in, found %s: %s", o.kindName(), c.source(n.args[0]))
	}
	list, err := c.operand(n.args[1])
	if err != nil {
		return nil, err
	}
	if list.value == nil || list.value.Kind != List {
		return nil,
			c.failHint(n.args[1], "write a in [1, 2]", "expected a list of constants after in, found %s",
				c.source(n.args[1]))
	}
	col := o.column
	values := make([]Value, 0, len(list.value.List))
	for i := range list.value.List {
		v, ok := cast(col.kind(), list.value.List[i])
		if !ok || v.Kind == List {
			return nil,
				c.fail(n.args[1], "field %s is %s: %s is not one of its values", col.field.Name, col.typeName(),
					list.value.List[i].String())
		}
		values = append(values, c.narrowed(col.field, v))
	}
	s := c.oneOf(col, values)
	if n.op == opNotIn {
		return notStep{s}, nil
	}
	return s, nil
}

func (c *checker) oneOf(col *column, values []Value) step {
	switch {
	case len(values) == 0:
		return constantStep(false)
	case col.json():
		return &jsonTest{column: col, test: setTest(values)}
	case col.index >= 0:
		return &elementTest{column: col, test: setTest(values)}
	case col.kind() == Text:
		return newTextSet(col.field, values)
	case col.kind() == Float:
		return newFloatSet(col.field, values)
	}
	return newIntSet(col.field, values)
}

func (c *checker) like(n *node) (step, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	col := o.column
	if col == nil || col.kind() != Text && !col.json() {
		return nil, c.fail(n.args[0], "expected a string field before like, found %s: %s", o.kindName(),
			c.source(n.args[0]))
	}
	p, err := c.operand(n.args[1])
	if err != nil {
		return nil, err
	}
	if p.value == nil || p.value.Kind != Text {
		return nil, c.fail(n.args[1], "expected a string after like, found %s", c.source(n.args[1]))
	}
	match, err := likeTester(p.value.Text, c.schema.Release)
	if err != nil {
		return nil, c.fail(n.args[1], "%v", err)
	}
	test := func(v *Value) (bool, bool) { return v.Kind == Text && match(v.Text), v.Kind == Text }
	switch {
	case col.json():
		return &jsonTest{column: col, test: test}, nil
	case col.index >= 0:
		return &elementTest{column: col, test: test}, nil
	}
	return &textTest{field: col.field, test: match}, nil
}

func (c *checker) exists(n *node) (step, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	col := o.column
	switch {
	case col == nil || !col.json():
		return nil,
			c.fail(n.args[0], "exists takes a key of a JSON field, found %s: %s", o.kindName(), c.source(n.args[0]))
	case len(col.path) == 0:
		return nil, c.fail(n.args[0], "exists takes a key of a JSON field, found the whole field: %s",
			c.source(n.args[0]))
	}
	return &existsTest{column: col, empty: c.schema.Release.before(6)}, nil
}

// null returns the step that tests a field for null. A null test of a key tests whether the key exists, as in
// parser_visitor.go.
func (c *checker) null(n *node) (step, error) {
	col, err := c.column(n.args[0])
	if err != nil {
		return nil, err
	}
	if len(col.path) == 0 {
		return &nullTest{field: col.field, valid: n.op == opValid}, nil
	}
	if !col.json() {
		return nil, c.fail(n, "an element of an array is not tested for null")
	}
	s := &existsTest{column: col, empty: c.schema.Release.before(6)}
	if n.op == opNull {
		return notStep{s}, nil
	}
	return s, nil
}

// contains returns the step that tests whether an array, or an array in JSON, contains some elements.
func (c *checker) contains(n *node) (step, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	col := o.column
	if col == nil || !col.json() && !col.whole() {
		return nil,
			c.fail(n.args[0], "%s takes an array or JSON, found %s: %s", n.op, o.kindName(), c.source(n.args[0]))
	}
	v, err := c.operand(n.args[1])
	if err != nil {
		return nil, err
	}
	if v.value == nil {
		return nil, c.fail(n.args[1], "expected a constant, found %s", c.source(n.args[1]))
	}
	values := []Value{*v.value}
	if !strings.HasSuffix(n.op, "_contains") {
		if v.value.Kind != List {
			return nil, c.fail(n.args[1], "%s takes a list, found %s", n.op, v.value.String())
		}
		values = v.value.List
	}
	every := strings.HasSuffix(n.op, "_all")
	for i := range values {
		if col.json() {
			continue
		}
		element := kindOf(col.field.Element)
		if !comparableKinds(element, values[i].Kind) ||
			element == Int && values[i].Kind == Float && len(values) == 1 && !every {
			return nil,
				c.fail(n.args[1], "field %s is %s: it cannot contain %s", col.field.Name, col.typeName(),
					values[i].String())
		}
	}
	return &containsTest{column: col, values: values, every: every}, nil
}

// length returns the length of an array as an operand.
func (c *checker) length(n *node) (*operand, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	if col := o.column; col != nil && (col.json() || col.field.Type == binlog.Array && col.index < 0) {
		return &operand{sum: &sum{op: "length", column: col}}, nil
	}
	return nil,
		c.fail(n.args[0], "array_length takes an array or JSON, found %s: %s", o.kindName(), c.source(n.args[0]))
}

// call returns the step of a function that the grammar leaves to the server. Two are supported: empty and
// starts_with (exec/expression/function, 2.5).
func (c *checker) call(n *node) (step, error) {
	function := strings.ToLower(n.tok.text)
	var args []*operand
	for _, a := range n.args {
		o, err := c.operand(a)
		if err != nil {
			return nil, err
		}
		args = append(args, o)
	}
	texts := func(o *operand) bool { return o.column != nil && o.column.kind() == Text && o.column.index < 0 }
	switch {
	case function == "empty" && len(args) == 1 && texts(args[0]):
		return &textTest{field: args[0].column.field, test: func(s string) bool { return s == "" }}, nil
	case function == "starts_with" && len(args) == 2 && texts(args[0]) && args[1].value != nil &&
		args[1].value.Kind == Text:
		start := args[1].value.Text
		return &textTest{field: args[0].column.field, test: func(s string) bool { return strings.HasPrefix(s, start) }},
			nil
	case function == "empty" || function == "starts_with":
		return nil, c.fail(n, "%s takes a string field, and starts_with also a constant string", function)
	}
	return nil,
		c.failHint(n, "functions are empty, starts_with, array_length and those with contains in their names",
			"no function %s", quoteShort(n.tok.text))
}
