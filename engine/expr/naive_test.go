package expr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
)

// A second evaluator, which shares no code with the plan. It works row by row on the tree as written. Values
// are those of Go, JSON is parsed by encoding/json, patterns by regexp, and a condition is (pass, known).

type naive struct {
	schema *Schema
	row    map[string]any // nil is null; JSON is decoded by encoding/json, arrays are []any
}

type missing struct{}

func (x *naive) field(s string) (v any, null bool) {
	base, keys, _ := strings.Cut(s, "[")
	v = x.row[base]
	if v == nil {
		return nil, true
	}
	for keys != "" {
		key, rest, _ := strings.Cut(keys, "]")
		keys = strings.TrimPrefix(rest, "[")
		key = strings.Trim(key, `"'`)
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[key]
			if !ok {
				return missing{}, false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return missing{}, false
			}
			v = in[i]
		default:
			return missing{}, false
		}
	}
	return v, false
}

func (x *naive) constant(n *node) any {
	switch n.op {
	case opValue:
		v, err := literal(n.tok)
		if err != nil {
			panic(err)
		}
		switch v.Kind {
		case Bool:
			return v.Bool
		case Int:
			return v.Int
		case Float:
			return v.Float
		default:
			return v.Text
		}
	case opNegate:
		switch v := x.constant(n.args[0]).(type) {
		case int64:
			return -v
		case float64:
			return -v
		}
	case opList:
		list := []any{}
		for _, a := range n.args {
			list = append(list, x.constant(a))
		}
		return list
	}
	panic("no constant: " + n.op)
}

func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case float32:
		return float64(v), true
	}
	return 0, false
}

// order compares two values. ok is false if their kinds differ.
func order(a, b any) (less, equal, ok bool) {
	if f, single := a.(float32); single { // in a 32-bit field the constant is rounded
		y, ok := numeric(b)
		return f < float32(y), f == float32(y), ok
	}
	if x, whole := a.(int64); whole {
		if y, whole := b.(int64); whole {
			return x < y, x == y, true
		}
	}
	if x, ok := numeric(a); ok {
		y, ok := numeric(b)
		return x < y, x == y, ok
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return x < y, x == y, ok
	case bool:
		y, ok := b.(bool)
		return !x && y, x == y, ok
	}
	return false, false, false
}

func holds(op string, a, b any) bool {
	less, equal, ok := order(a, b)
	x, _ := numeric(a)
	y, _ := numeric(b)
	unordered := math.IsNaN(x) || math.IsNaN(y)
	switch {
	case !ok:
		return op == "!="
	case op == "==":
		return equal
	case op == "!=":
		return !equal
	case unordered:
		return false
	case op == "<":
		return less
	case op == "<=":
		return less || equal
	case op == ">":
		return !less && !equal
	}
	return !less
}

func (x *naive) eval(n *node) (pass, known bool) {
	switch n.op {
	case "and", "or":
		for i, a := range n.args {
			p, k := x.eval(a)
			switch {
			case i == 0:
				pass, known = p, k
			case n.op == "and":
				pass = pass && p
			default:
				pass = pass || p
			}
		}
		return pass, known
	case opNot:
		p, k := x.eval(n.args[0])
		return !p && k, k
	case opNull:
		_, null := x.field(n.args[0].tok.text)
		return null, true
	case opValid:
		_, null := x.field(n.args[0].tok.text)
		return !null, true
	}
	at := n.args[0]
	if n.op == opRange {
		at = n.args[1]
	}
	sum := at
	if at.op != opField {
		at = at.args[0]
	}
	v, null := x.field(at.tok.text)
	if null && (n.op != "in" || len(n.args[1].args) > 0) && (n.op != opNotIn || len(n.args[1].args) > 0) {
		return false, false
	}
	_, gone := v.(missing)
	inArray := strings.HasPrefix(at.tok.text, "a[") || strings.HasPrefix(at.tok.text, "t[")
	switch n.op {
	case "==", "!=", "<", "<=", ">", ">=":
		if sum.op == "array_length" {
			list, _ := v.([]any)
			return holds(n.op, int64(len(list)), x.constant(n.args[1])), true
		}
		if gone && inArray {
			return false, true
		}
		c := x.constant(n.args[1])
		if sum.op != opField {
			v = x.compute(sum.op, v, x.constant(sum.args[1]))
		}
		if list, ok := c.([]any); ok {
			have, ok := v.([]any)
			return ok && sameList(have, list) == (n.op == "=="), true
		}
		return holds(n.op, v, c), true
	case opRange:
		ops := strings.Fields(n.tok.text)
		_, _, ok := order(v, x.constant(n.args[0]))
		return ok && !gone && holds(mirrored(ops[0]), v, x.constant(n.args[0])) &&
			holds(ops[1], v, x.constant(n.args[2])), true
	case "in", opNotIn:
		in := false
		for _, c := range x.constant(n.args[1]).([]any) {
			in = in || holds("==", v, c)
		}
		return in == (n.op == "in"), true
	case "like":
		s, ok := v.(string)
		return ok && likeRegexp(latin(x.constant(n.args[1]).(string))).MatchString(latin(s)), true
	case "exists":
		return !gone && !isEmptyJSON(v), true
	}
	list, ok := v.([]any)
	if !ok {
		return false, true
	}
	want := []any{x.constant(n.args[1])}
	if !strings.HasSuffix(n.op, "_contains") {
		want = want[0].([]any)
	}
	found := 0
	for _, w := range want {
		for _, have := range list {
			if strictEqual(have, w) {
				found++
				break
			}
		}
	}
	if strings.HasSuffix(n.op, "_all") {
		return found == len(want), true
	}
	return found > 0, true
}

// strictEqual reports whether an element equals a constant. An integer equals only an element written as an
// integer.
func strictEqual(have, want any) bool {
	if w, ok := want.(int64); ok {
		h, ok := have.(int64)
		return ok && h == w
	}
	_, equal, ok := order(have, want)
	return ok && equal
}

func sameList(have, want []any) bool {
	if len(have) != len(want) {
		return false
	}
	for i := range have {
		if !strictEqual(have[i], want[i]) {
			return false
		}
	}
	return true
}

func (x *naive) compute(op string, v, by any) any {
	if f, ok := v.(float32); ok {
		y, _ := numeric(by)
		switch b := float32(y); op {
		case "+":
			return f + b
		case "-":
			return f - b
		case "*":
			return f * b
		default:
			return f / b
		}
	}
	a, whole := v.(int64)
	b, wholeBy := by.(int64)
	if whole && wholeBy {
		switch op {
		case "+":
			return a + b
		case "-":
			return a - b
		case "*":
			return a * b
		case "/":
			return a / b
		default:
			return a % b
		}
	}
	p, ok := numeric(v)
	if !ok {
		return missing{}
	}
	q, _ := numeric(by)
	switch op {
	case "+":
		return p + q
	case "-":
		return p - q
	case "*":
		return p * q
	case "/":
		return p / q
	default:
		return math.Mod(p, q)
	}
}

func isEmptyJSON(v any) bool {
	switch v := v.(type) {
	case null:
		return true
	case map[string]any:
		for _, e := range v {
			if !isEmptyJSON(e) {
				return false
			}
		}
		return true
	case []any:
		for _, e := range v {
			if !isEmptyJSON(e) {
				return false
			}
		}
		return true
	}
	return false
}

// latin converts each byte to a character, because the patterns of segcore match bytes.
func latin(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func likeRegexp(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile(b.String() + `\z`)
}

// null is JSON's null, which is a value.
type null struct{}

// decoded converts JSON to the values of the naive evaluator, with integers as int64.
func decoded(v any) any {
	switch v := v.(type) {
	case nil:
		return null{}
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k, e := range v {
			v[k] = decoded(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = decoded(e)
		}
		return v
	}
	return v
}

// randomRows returns random rows, as columns and as Go values.
func randomRows(r *rand.Rand, rows int) (*Columns, []map[string]any) {
	c := &Columns{Rows: rows, Fields: map[int64]*binlog.Column{}}
	list := make([]map[string]any, rows)
	for i := range list {
		list[i] = map[string]any{}
	}
	for _, f := range testSchema().Fields {
		if f.Type == binlog.FloatVector {
			continue
		}
		col := &binlog.Column{Descriptor: binlog.Descriptor{Field: f.ID, Type: f.Type}, Rows: rows}
		if f.Nullable {
			col.Valid = engine.NewBitset(rows)
		}
		for i := range rows {
			valid := !f.Nullable || r.IntN(5) > 0
			if valid && f.Nullable {
				col.Valid.Set(i)
			}
			v := fill(r, col, &f, i, valid)
			if valid {
				list[i][f.Name] = v
			}
		}
		c.Fields[f.ID] = col
	}
	return c, list
}

var words = []string{"", "a", "ab", "abc", "b", "ba", "a%b", "a_b", "x y", "10", "中"}

// fill appends a value of a field to a column, or zero if it is null.
func fill(r *rand.Rand, col *binlog.Column, f *Field, i int, valid bool) any {
	n := int64(r.IntN(9) - 4)
	switch kindOf(f.Type) {
	case Bool:
		col.Int64s = append(col.Int64s, n&1)
		return n&1 == 1
	case Float:
		x := []float64{
			float64(n), float64(n) / 2, 0.1 * float64(n), math.NaN(), math.Inf(1), math.Copysign(0, -1),
		}[r.IntN(6)]
		if f.Type == binlog.Float {
			x = float64(float32(x))
		}
		col.Floats = append(col.Floats, x)
		if f.Type == binlog.Float {
			return float32(x)
		}
		return x
	case Text:
		s := words[r.IntN(len(words))]
		col.Strings = append(col.Strings, s)
		return s
	case NoValue:
		text := randomJSON(r, 0)
		if !valid {
			text = ""
		}
		col.Strings = append(col.Strings, text)
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		_ = d.Decode(&v)
		return decoded(v)
	case List:
		elements, cell := []any{}, []byte(nil)
		for range r.IntN(4) {
			if f.Element == binlog.VarChar {
				s := words[r.IntN(len(words))]
				cell = append(binary.AppendUvarint(append(cell, 1<<3|2), uint64(len(s))), s...)
				elements = append(elements, s)
				continue
			}
			e := int64(r.IntN(9) - 4)
			cell = binary.AppendUvarint(append(cell, 1<<3), uint64(e))
			elements = append(elements, e)
		}
		field := byte(2<<3 | 2)
		if f.Element == binlog.VarChar {
			field = 6<<3 | 2
		}
		whole := append(binary.AppendUvarint([]byte{field}, uint64(len(cell))), cell...)
		if !valid {
			whole = nil
		}
		col.Strings = append(col.Strings, string(whole))
		return elements
	default:
		if i%13 == 0 {
			n = math.MaxInt8
		}
		col.Int64s = append(col.Int64s, n)
		return n
	}
}

func randomJSON(r *rand.Rand, depth int) string {
	scalar := func() string {
		return []string{
			"1", "-2", "0.5", "2.0", "3", `"a"`, `"ab"`, `"x\ty"`, "true", "false", "null", "9007199254740993", `""`,
			"1e2",
		}[r.IntN(14)]
	}
	var b bytes.Buffer
	switch k := r.IntN(5); {
	case depth > 0 && (k < 3 || depth > 3):
		return scalar()
	case depth > 0 && k == 3:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteString(" , ")
			}
			b.WriteString(randomJSON(r, depth+1))
		}
		b.WriteByte(']')
	default:
		b.WriteString("{ ")
		for i, key := range []string{"k", "l", "x y", "0"}[r.IntN(3):] {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q :%s", key, randomJSON(r, depth+1))
		}
		b.WriteByte('}')
	}
	return b.String()
}

// randomText returns a random expression that Parse accepts most of the time.
func randomText(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth > 0 {
		switch r.IntN(5) {
		case 0:
			return pick("not ", "!", "NOT ") + "(" + randomText(r, depth-1) + ")"
		case 1, 2:
			return "(" + randomText(r, depth-1) + pick(") and (", ") || (") + randomText(r, depth-1) + ")"
		case 3:
			return randomText(r, depth-1) + pick(" and ", " or ", " && ") + randomText(r, depth-1)
		}
	}
	whole := func() string { return strconv.Itoa(r.IntN(9) - 4) }
	number := func() string { return pick(whole(), pick("0.5", "-1.5", "0.1", ".2", "2.0", "1e2")) }
	word := func() string { return strconv.Quote(words[r.IntN(len(words))]) }
	field, value := "i", whole
	switch r.IntN(9) {
	case 0:
		field = pick("id", "n", "i")
	case 1:
		field, value = pick("f", "d"), number
	case 2:
		field, value = "s", word
	case 3:
		field = pick("a[0]", "a[2]")
	case 4:
		field, value = pick("t[0]", "t[1]"), word
	case 5, 6, 7:
		field = pick(`j["k"]`, `j['l']`, `j["x y"]`, `j["k"]["l"]`, `j["k"][0]`, `j["l"]["0"]`)
		value = []func() string{whole, number, word}[r.IntN(3)]
	}
	list := func() string {
		all := []string{value()}
		for range r.IntN(7) {
			all = append(all, value())
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	switch r.IntN(10) {
	case 0:
		return field + pick(" in ", " not in ") + list()
	case 1:
		return fmt.Sprintf("%s %s %s %s %s", value(), pick("<", "<="), field, pick("<", "<="), value())
	case 2:
		return fmt.Sprintf("%s %s %s", pick("s", "t[0]", `j["k"]`), "like",
			strconv.Quote(pick("a%", "%b", "%a%", "a_b", "_", "%", "a%b", "a\\%b", "", "%%", "__%", "a\\_%")))
	case 3:
		return pick("i", "s", "j", "f", "a", "id") + pick(" is null", " is not null")
	case 4:
		return pick(`exists j["k"]`, `exists j["l"]`, `json_contains(j["k"], `+value()+")",
			`json_contains_any(j["k"], `+list()+")", `json_contains_all(j["l"], `+list()+")",
			"array_contains(a, "+whole()+")", "array_contains_all(a, ["+whole()+","+whole()+"])",
			"array_contains_any(t, ["+word()+", "+word()+"])")
	case 5:
		return pick("array_length(a)", "array_length(t)", `array_length(j["k"])`) + pick(" == ", " != ", " > ", "<=") +
			strconv.Itoa(r.IntN(4))
	case 6:
		return fmt.Sprintf("%s %s %s %s %s", pick("i", "n", "a[1]", `j["k"]`, "f", "d"), pick("+", "-", "*", "/", "%"),
			pick(whole(), number()), pick("==", "!=", "<", ">="), value())
	}
	return field + pick(" == ", "!=", " < ", "<=", ">", " >= ") + value()
}

// TestNaive compares plans with the naive evaluator on random rows and expressions.
func TestNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	schema := testSchema()
	compared := 0
	for range 40 {
		c, list := randomRows(r, 1+r.IntN(200))
		for range 100 {
			text := randomText(r, r.IntN(4))
			p, err := Parse(text, schema)
			if err != nil {
				continue
			}
			left, err := p.Excluded(c)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			tree, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			passing := 0
			for i, row := range list {
				x := &naive{schema, row}
				want, _ := x.eval(tree)
				if want {
					passing++
				}
				if left.Has(i) == want {
					t.Fatalf("%s: row %d %v: left out %v, expected %v", text, i, row, left.Has(i), !want)
				}
			}
			if left.Count() != c.Rows-passing {
				t.Fatalf("%s: %d rows left out, expected %d", text, left.Count(), c.Rows-passing)
			}
		}
	}
	if compared < 2500 {
		t.Errorf("%d expressions compared: the others were refused", compared)
	}
}

// FuzzParse searches for expressions that panic when they are parsed or evaluated.
func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f.Add(randomText(r, 3))
	}
	for _, s := range []string{
		`j["a"][0] == {x}`, "i + 1 == 2 ** 3", "\"", "i in [", "((", "a[99999999999999999999] == 1", "s like \"\\\\\"",
		"\xff", "$", "1 < i < \xf0", "5 % -1 == i", "\"\\\r", "'\\\xff'",
		"i == 9223372036854775807 + 1 and d < -1e308 * 10",
	} {
		f.Add(s)
	}
	c, _ := randomRows(r, 70)
	schema := testSchema()
	schema.Fields = append(schema.Fields, Field{
		ID: 120, Name: "$meta", Type: binlog.JSON, Dynamic: true, Default: &Value{Kind: Text, Text: "{}"},
	})
	f.Fuzz(func(t *testing.T, text string) {
		for _, release := range []Release{{}, {2, 2}, {2, 3}} {
			s := *schema
			s.Release = release
			p, err := Parse(text, &s)
			if err != nil {
				if line := err.Error(); strings.ContainsAny(line, "\n\r") {
					t.Errorf("%q: an error of several lines: %q", text, line)
				}
				continue
			}
			left, err := p.Excluded(c)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if left.Count() > c.Rows {
				t.Errorf("%q: %d of %d rows left out", text, left.Count(), c.Rows)
			}
		}
	})
}

// FuzzCells searches for JSON texts and array cells that cause a panic.
func FuzzCells(f *testing.F) {
	for _, s := range []string{
		`{"k":1}`, `{"k":[1,{"l":"\u4e2d"}]}`, `{"k":`, `{"k" 1}`, `[`, `{"k":"\`, "\x12\x02\x0a\x00",
		"\x32\x05\x0a\x03abc", "\x12\xff\xff\xff\xff\x0f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		schema := testSchema()
		c := &Columns{Rows: 1, Fields: map[int64]*binlog.Column{}}
		for _, id := range []int64{107, 108, 109} {
			c.Fields[id] = &binlog.Column{Rows: 1, Strings: []string{cell}}
		}
		for _, text := range []string{
			`j["k"] == 1`, `j["k"][0]["l"] like "a%"`, `exists j["k"]["l"]`, `json_contains_any(j["k"], [1, "a", [1]])`,
			`j["k"] == [1, 2]`, `array_length(j["k"]) == 1`, "a[0] == 1", "t[0] == 'a'",
			"array_contains_all(t, ['a'])", "array_length(a) == 2",
		} {
			p, err := Parse(text, schema)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = p.Excluded(c) // a cell that is not an array yields an error
		}
	})
}
