package expr

// node is a part of an expression as written.
type node struct {
	op    string // the operator, the function, or one of the constants below
	args  []*node
	tok   token
	at    int // offset of the first byte; end is the offset after the last
	end   int
	depth int
}

// The kinds of nodes that are neither an operator nor a function.
const (
	opValue  = "value"
	opField  = "field" // a name, with or without keys
	opList   = "list"
	opParam  = "{}"
	opRange  = "range" // args: lower, field, upper; the text of tok has both comparisons
	opNull   = "is null"
	opValid  = "is not null"
	opNotIn  = "not in"
	opCall   = "call"
	opNegate = "negate" // prefixes: -, +, not, ~
	opPlus   = "plus"
	opNot    = "not"
	opBitNot = "~"
)

// maxDepth limits the nesting of an expression, because each level takes stack. It is more than anyone writes.
const maxDepth = 400

// The precedences, in the order of the alternatives in Plan.g4.
const (
	precOr = 1 + iota
	precAnd
	precBitOr
	precBitXor
	precBitAnd
	precEqual
	precRelation
	precRange
	precIn
	precShift
	precAdd
	precMultiply
	precUnary
	precPower
	precLike
	precExists
)

// infix returns the binary operator of a token and its precedence, or "" if t is not one. All operators are
// left-associative.
func infix(t token) (op string, prec int) {
	if t.kind == keyword {
		switch t.text {
		case "or":
			return "or", precOr
		case "and":
			return "and", precAnd
		case "in":
			return "in", precIn
		case "like":
			return "like", precLike
		}
		return "", 0
	}
	if t.kind != operator {
		return "", 0
	}
	switch t.text {
	case "||":
		return "or", precOr
	case "&&":
		return "and", precAnd
	case "|":
		return "|", precBitOr
	case "^":
		return "^", precBitXor
	case "&":
		return "&", precBitAnd
	case "==", "!=":
		return t.text, precEqual
	case "<", "<=", ">", ">=":
		return t.text, precRelation
	case "<<", ">>":
		return t.text, precShift
	case "+", "-":
		return t.text, precAdd
	case "*", "/", "%":
		return t.text, precMultiply
	case "**":
		return "**", precPower
	case "=~", "!~":
		return t.text, precLike
	}
	return "", 0
}

// parser builds a tree from tokens. It looks up to two tokens beyond the current one.
type parser struct {
	lexer

	ahead []token
	depth int
}

func parse(s string) (*node, error) {
	p := &parser{lexer: lexer{s: s}}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	t, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	switch {
	case t.is(operator, "="):
		return nil, p.fail(t.at, "equal is ==", "unexpected \"=\"")
	case t.kind != end:
		return nil, p.fail(t.at, "", "expected an operator or the end, found %s", t.describe())
	}
	return n, nil
}

func (p *parser) peek(i int) (token, error) {
	for len(p.ahead) <= i {
		t, err := p.next()
		if err != nil {
			return token{}, err
		}
		p.ahead = append(p.ahead, t)
	}
	return p.ahead[i], nil
}

// take removes and returns the current token, which must have been peeked at.
func (p *parser) take() token {
	t := p.ahead[0]
	p.ahead = append(p.ahead[:0], p.ahead[1:]...)
	return t
}

// expect takes the operator sign. It returns an error if the current token is something different.
func (p *parser) expect(sign string) (token, error) {
	t, err := p.peek(0)
	if err != nil {
		return t, err
	}
	if !t.is(operator, sign) {
		return t, p.fail(t.at, "", "expected %q, found %s", sign, t.describe())
	}
	return p.take(), nil
}

// expression reads an expression whose operators have a precedence of at least minPrec.
func (p *parser) expression(minPrec int) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.at, "", "nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.primary()
	if err != nil {
		return nil, err
	}
	for {
		next, err := p.operation(left, minPrec)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return left, nil
		}
		if left = next; left.depth > maxDepth {
			return nil, p.fail(left.at, "", "nested deeper than %d levels", maxDepth)
		}
	}
}

// operation extends left with the operator that follows. It returns nil if the precedence of the operator is below
// minPrec, or if no operator follows.
func (p *parser) operation(left *node, minPrec int) (*node, error) {
	t, err := p.peek(0)
	if err != nil {
		return nil, err
	}
	op, prec := infix(t)
	if t.is(keyword, "not") || t.is(operator, "!") {
		in, err := p.peek(1)
		if err != nil {
			return nil, err
		}
		if in.is(keyword, "in") {
			op, prec = opNotIn, precIn
		}
	}
	if op == "" {
		return nil, nil
	}
	if prec == precRelation && minPrec <= precRange {
		if n, err := p.interval(left, t); n != nil || err != nil {
			return n, err
		}
	}
	if prec < minPrec {
		return nil, nil
	}
	p.take()
	if op == opNotIn {
		p.take()
	}
	right, err := p.expression(prec + 1)
	if err != nil {
		return nil, err
	}
	if (op == "and" || op == "or") && left.op == op && left.tok.kind != text {
		left.args, left.end = append(left.args, right), right.end // a long chain is a single node
		left.depth = max(left.depth, right.depth+1)
		return left, nil
	}
	return join(op, t, left, right), nil
}

// join returns a node with the given arguments.
func join(op string, t token, args ...*node) *node {
	n := &node{op: op, args: args, tok: t, at: t.at, end: t.at + len(t.text)}
	for _, a := range args {
		n.at, n.end, n.depth = min(n.at, a.at), max(n.end, a.end), max(n.depth, a.depth+1)
	}
	return n
}

// interval reads the rest of a range such as 1 < field < 2, whose comparisons point in the same direction. It
// returns nil if this is not a range.
func (p *parser) interval(left *node, first token) (*node, error) {
	field, err := p.peek(1)
	if err != nil || field.kind != name && field.kind != path {
		return nil, err
	}
	second, err := p.peek(2)
	if err != nil || second.kind != operator || second.text[0] != first.text[0] {
		return nil, err
	}
	if second.text != "<" && second.text != "<=" && second.text != ">" && second.text != ">=" {
		return nil, nil
	}
	p.take()
	p.take()
	p.take()
	right, err := p.expression(precRange + 1)
	if err != nil {
		return nil, err
	}
	n := join(opRange, first, left, join(opField, field), right)
	n.tok.text = first.text + " " + second.text
	return n, nil
}
