package expr

// primary reads a value, a field, a function, a list, a parenthesized expression, or a prefix operator with its
// operand.
func (p *parser) primary() (*node, error) {
	t, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case integer, float, boolean, text:
		return join(opValue, p.take()), nil
	case emptyList:
		return join(opList, p.take()), nil
	case name, path:
		return p.named(p.take())
	case keyword:
		return p.function(t)
	case operator:
		return p.sign(t)
	case end:
	}
	return nil, p.fail(t.at, "", "expected a field, a value or \"(\", found %s", t.describe())
}

// prefix returns the prefix operator of a token, or "" if t is not one.
func prefix(t token) string {
	switch {
	case t.is(operator, "-"):
		return opNegate
	case t.is(operator, "+"):
		return opPlus
	case t.is(operator, "!"), t.is(keyword, "not"):
		return opNot
	case t.is(operator, "~"):
		return opBitNot
	}
	return ""
}

func (p *parser) sign(t token) (*node, error) {
	if op := prefix(t); op != "" {
		return p.prefixed(op, precUnary)
	}
	switch t.text {
	case "(":
		p.take()
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		closing, err := p.expect(")")
		if err != nil {
			return nil, err
		}
		grouped := *n // a parenthesized expression is not extended as a chain
		grouped.at, grouped.end, grouped.depth = t.at, closing.at+1, n.depth+1
		if n.op == "and" || n.op == "or" {
			grouped.tok.kind = text
		}
		return &grouped, nil
	case "[":
		p.take()
		args, closing, err := p.list("]")
		if err != nil {
			return nil, err
		}
		n := join(opList, t, args...)
		n.end = closing.at + 1
		return n, nil
	case "{":
		p.take()
		n, err := p.peek(0)
		if err != nil {
			return nil, err
		}
		if n.kind != name {
			return nil, p.fail(n.at, "", "expected the name of a value after \"{\", found %s", n.describe())
		}
		param := join(opParam, p.take())
		_, err = p.expect("}")
		return param, err
	case "=":
		return nil, p.fail(t.at, "equal is ==", "unexpected \"=\"")
	}
	return nil, p.fail(t.at, "", "expected a field, a value or \"(\", found %s", t.describe())
}

func (p *parser) prefixed(op string, prec int) (*node, error) {
	t := p.take()
	n, err := p.expression(prec)
	if err != nil {
		return nil, err
	}
	return join(op, t, n), nil
}

// list reads expressions separated by commas, an optional trailing comma, and the closing operator.
func (p *parser) list(closing string) (args []*node, last token, err error) {
	for {
		t, err := p.peek(0)
		if err != nil {
			return nil, t, err
		}
		if t.is(operator, closing) {
			return args, p.take(), nil
		}
		if len(args) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, t, err
			}
			if t, err = p.peek(0); err != nil {
				return nil, t, err
			}
			if t.is(operator, closing) {
				return args, p.take(), nil
			}
		}
		n, err := p.expression(0)
		if err != nil {
			return nil, t, err
		}
		args = append(args, n)
	}
}

// named reads a field, a null test of a field, or a function that is not a keyword.
func (p *parser) named(t token) (*node, error) {
	next, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	switch {
	case next.is(keyword, opNull), next.is(keyword, opValid):
		p.take()
		return join(next.text, next, join(opField, t)), nil
	case t.kind == name && next.is(operator, "("):
		return p.call(opCall, t)
	}
	return join(opField, t), nil
}

// call reads the arguments of a function whose name is already taken.
func (p *parser) call(op string, t token) (*node, error) {
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	args, closing, err := p.list(")")
	if err != nil {
		return nil, err
	}
	n := join(op, t, args...)
	n.end = closing.at + 1
	return n, nil
}

// unsupportedFunctions holds the functions of the grammar that cannot be evaluated from the logs, and the reason.
var unsupportedFunctions = map[string]string{
	"text_match":    "it needs the words of an analyzer, from a text index",
	"phrase_match":  "it needs the words of an analyzer, from a text index",
	"random_sample": "its rows are random", "element_filter": "it filters elements of structs",
	"iso":      "times with zones are not compared",
	"interval": "times with zones are not compared",
}

func (p *parser) function(t token) (*node, error) {
	switch t.text {
	case "not":
		return p.prefixed(opNot, precUnary)
	case "exists":
		return p.prefixed("exists", precExists)
	case "json_contains", "json_contains_all", "json_contains_any", "array_contains", "array_contains_all",
		"array_contains_any", "array_length":
		p.take()
		n, err := p.call(t.text, t)
		if err != nil {
			return nil, err
		}
		want := 2
		if t.text == "array_length" {
			want = 1
		}
		if len(n.args) != want {
			return nil, p.fail(t.at, "", "%s takes %d arguments, found %d", t.text, want, len(n.args))
		}
		return n, nil
	}
	why := unsupportedFunctions[t.text]
	switch {
	case why != "":
	case len(t.text) > 3 && t.text[:3] == "st_":
		why = "geometries are not compared"
	case len(t.text) > 6 && t.text[:6] == "match_":
		why = "it filters elements of structs"
	default:
		return nil, p.fail(t.at, "", "expected a field, a value or \"(\", found %s", t.describe())
	}
	return nil,
		p.fail(t.at, "leave it out, or give the ids that pass as a list", "%s cannot be evaluated from logs: %s",
			t.text, why)
}
