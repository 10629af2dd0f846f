package expr

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/binlog"
)

// checker turns a tree into a plan.
type checker struct {
	text   string
	schema *Schema
	used   []int64
}

// operand is the meaning of a node. Exactly one of its fields is set.
type operand struct {
	value  *Value
	column *column
	sum    *sum
	step   step
}

// sum is an operation on a column and a constant, or the length of an array if op is "length".
type sum struct {
	op       string
	column   *column
	constant Value
}

func (c *checker) fail(n *node, format string, a ...any) error {
	return &Error{Expr: c.text, At: n.at, Text: fmt.Sprintf(format, a...)}
}

func (c *checker) failHint(n *node, hint, format string, a ...any) error {
	return &Error{Expr: c.text, At: n.at, Text: fmt.Sprintf(format, a...), Hint: hint}
}

func (c *checker) source(n *node) string { return quoteShort(c.text[n.at:min(n.end, len(c.text))]) }

func (o *operand) kindName() string {
	switch {
	case o.value != nil:
		return o.value.Kind.String()
	case o.column != nil:
		return o.column.typeName()
	case o.sum != nil:
		return "a number"
	}
	return "a condition"
}

// Parse returns the plan of an expression whose {names} are already filled (see Fill). The error is an *Error.
// An empty expression matches all rows.
func Parse(text string, s *Schema) (*Plan, error) {
	p := &Plan{Text: text}
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &checker{text: text, schema: s}
	p.root, err = c.predicate(tree)
	if err != nil {
		return nil, err
	}
	slices.Sort(c.used)
	p.fields = slices.Compact(c.used)
	return p, nil
}

// predicate returns the step of a node, which must be a condition.
func (c *checker) predicate(n *node) (step, error) {
	o, err := c.operand(n)
	if err != nil {
		return nil, err
	}
	if s, ok := o.condition(); ok {
		return s, nil
	}
	hint := ""
	if o.column != nil && o.column.kind() == Bool {
		hint = "write " + c.text[n.at:min(n.end, len(c.text))] + " == true"
	}
	return nil, c.failHint(n, hint, "expected a condition, found %s: %s", o.kindName(), c.source(n))
}

// condition returns the step of an operand and reports whether it is a condition. A comparison of two constants
// is a condition; the literals true and false are not.
func (o *operand) condition() (step, bool) { return o.step, o.step != nil }

func (c *checker) operand(n *node) (*operand, error) {
	switch n.op {
	case opValue:
		v, err := literal(n.tok)
		if err != nil {
			return nil, c.fail(n, "%v", err)
		}
		return &operand{value: &v}, nil
	case opParam:
		return nil, c.failHint(n, noParam, "no value for {%s}", n.tok.text)
	case opList:
		return c.list(n)
	case opField:
		col, err := c.column(n)
		return &operand{column: col}, err
	case "and", "or":
		return c.junction(n)
	case opNot, opNegate, opPlus, opBitNot:
		return c.prefixed(n)
	case "array_length":
		return c.length(n)
	case "+", "-", "*", "/", "%", "**":
		return c.arithmetic(n)
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	}
	s, err := c.test(n)
	return &operand{step: s}, err
}

// test returns the step of a node that is always a condition.
func (c *checker) test(n *node) (step, error) {
	switch n.op {
	case opRange:
		return c.between(n)
	case "in", opNotIn:
		return c.membership(n)
	case "like":
		return c.like(n)
	case "exists":
		return c.exists(n)
	case opNull, opValid:
		return c.null(n)
	case opCall:
		return c.call(n)
	case "&", "|", "^", "<<", ">>":
		return nil, c.fail(n, "the operator %s is in Milvus's grammar, but no server evaluates it", n.op)
	case "=~", "!~":
		return nil,
			c.failHint(n, "use like, or give the ids that pass as a list",
				"regular expressions (%s, 3.0) are not evaluated", n.op)
	}
	return c.contains(n)
}

func (c *checker) list(n *node) (*operand, error) {
	v := Value{Kind: List, List: make([]Value, 0, len(n.args))}
	for _, a := range n.args {
		o, err := c.operand(a)
		if err != nil {
			return nil, err
		}
		if o.value == nil {
			return nil, c.fail(a, "expected a constant in a list, found %s", c.source(a))
		}
		v.List = append(v.List, *o.value)
	}
	return &operand{value: &v}, nil
}

// column returns the column that a name, with or without keys, refers to.
func (c *checker) column(n *node) (*column, error) {
	s := n.tok.text
	base, keys, _ := strings.Cut(s, "[")
	f, dynamic := c.field(base)
	if f == nil {
		return nil, c.failHint(n, c.names(), "no field %s in the collection, and no dynamic field", quoteShort(base))
	}
	if kindOf(f.Type) == Int && f.Type >= binlog.BinaryVector || f.Type == binlog.None {
		return nil, c.fail(n, "field %s is %v: it cannot be compared", f.Name, f.Type)
	}
	if f.Type == binlog.Geometry || f.Type == binlog.Text {
		return nil, c.fail(n, "field %s is %v: it cannot be compared from logs", f.Name, f.Type)
	}
	col := &column{field: f, index: -1}
	if dynamic {
		col.path = append(col.path, base)
	}
	for keys != "" {
		key, rest, err := cutKey(keys)
		if err != nil {
			return nil, c.fail(n, "%s: %v", quoteShort(s), err)
		}
		col.path = append(col.path, key.Text)
		if f.Type == binlog.Array {
			if key.Kind != Int {
				return nil, c.fail(n, "field %s is an array: expected an index, as in %s[0]", f.Name, f.Name)
			}
			if col.index < 0 { // only the first of several counts
				col.index = int(min(key.Int, 1<<31-1))
			}
		}
		keys = rest
	}
	if len(col.path) > 0 && f.Type != binlog.JSON && f.Type != binlog.Array {
		return nil, c.fail(n, "field %s is %v: it has no keys", f.Name, f.Type)
	}
	c.used = append(c.used, f.ID)
	return col, nil
}

// cutKey reads the key after a [. The lexer has already checked its form.
func cutKey(s string) (key Value, rest string, err error) {
	if s[0] == '"' || s[0] == '\'' {
		l := lexer{s: s}
		n, err := l.quoted(0)
		if err != nil {
			return key, "", err
		}
		if key.Text, err = unquote(s[:n]); err != nil {
			return key, "", err
		}
		if key.Text == "" {
			return key, "", errors.New("a key is empty")
		}
		key.Kind = Text
		s = s[n:]
	} else {
		n := run(s, 0, digit)
		key.Kind, key.Text = Int, s[:n]
		if key.Int, err = strconv.ParseInt(key.Text, 10, 64); err != nil {
			return key, "", fmt.Errorf("the index %s is too large", quoteShort(key.Text))
		}
		s = s[n:]
	}
	s = strings.TrimPrefix(s, "]")
	return key, strings.TrimPrefix(s, "["), nil
}

// field returns the field with a name, or else the dynamic field.
func (c *checker) field(name string) (f *Field, dynamic bool) {
	for i := range c.schema.Fields {
		if c.schema.Fields[i].Name == name {
			return &c.schema.Fields[i], false
		}
	}
	for i := range c.schema.Fields {
		if c.schema.Fields[i].Dynamic {
			return &c.schema.Fields[i], name != "$meta"
		}
	}
	return nil, false
}

// names returns a hint that lists the fields of the collection.
func (c *checker) names() string {
	var names []string
	for i := range c.schema.Fields {
		if f := &c.schema.Fields[i]; f.ID >= 100 && (f.Type < binlog.BinaryVector || f.Type == binlog.None) {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	const most = 12
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return "fields: " + strings.Join(names, ", ") + more
}

func (c *checker) junction(n *node) (*operand, error) {
	steps := make([]step, 0, len(n.args))
	for _, a := range n.args {
		o, err := c.operand(a)
		if err != nil {
			return nil, err
		}
		s, ok := o.condition()
		if !ok {
			return nil, c.fail(a, "expected conditions around %s, found %s: %s", n.op, o.kindName(), c.source(a))
		}
		steps = append(steps, s)
	}
	if n.op == "and" {
		return &operand{step: andStep(steps)}, nil
	}
	return &operand{step: orStep(steps)}, nil
}

func (c *checker) prefixed(n *node) (*operand, error) {
	o, err := c.operand(n.args[0])
	if err != nil {
		return nil, err
	}
	switch {
	case n.op == opNot && o.step != nil:
		return &operand{step: notStep{o.step}}, nil
	case n.op == opNot && o.value != nil && o.value.Kind == Bool:
		v := boolValue(!o.value.Bool)
		return &operand{value: &v}, nil
	case n.op == opNot:
		return nil,
			c.failHint(n, "put what it negates in parentheses: not (a > 0)", "not takes a condition, found %s: %s",
				o.kindName(), c.source(n.args[0]))
	case n.op == opBitNot:
		return nil, c.fail(n, "the operator ~ is in Milvus's grammar, but no server evaluates it")
	case n.op == opPlus && (o.value != nil || o.step == nil):
		return o, nil
	case o.value != nil && o.value.Kind == Int:
		v := intValue(-o.value.Int)
		return &operand{value: &v}, nil
	case o.value != nil && o.value.Kind == Float:
		v := floatValue(-o.value.Float)
		return &operand{value: &v}, nil
	}
	return nil, c.fail(n, "%s takes a constant number, found %s", n.tok.text, o.kindName())
}
