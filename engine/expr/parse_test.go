package expr

import (
	"strings"
	"testing"
)

// form formats a tree with all its parentheses.
func form(n *node) string {
	var args []string
	for _, a := range n.args {
		args = append(args, form(a))
	}
	switch n.op {
	case opValue, opField:
		return n.tok.text
	case opParam:
		return "{" + n.tok.text + "}"
	case opRange:
		return "(range " + n.tok.text + " " + strings.Join(args, " ") + ")"
	case opCall:
		return "(" + n.tok.text + " " + strings.Join(args, " ") + ")"
	}
	return strings.TrimSpace("("+n.op+" "+strings.Join(args, " ")) + ")"
}

func TestPrecedence(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"a > 1 and b > 2 or c > 3", "(or (and (> a 1) (> b 2)) (> c 3))"},
		{"a > 1 or b > 2 and c > 3", "(or (> a 1) (and (> b 2) (> c 3)))"},
		{"a > 1 and b > 2 and c > 3", "(and (> a 1) (> b 2) (> c 3))"},
		{"a > 1 and (b > 2 and c > 3) and d", "(and (> a 1) (and (> b 2) (> c 3)) d)"},
		{"(a > 1 and b > 2) and c > 3", "(and (and (> a 1) (> b 2)) (> c 3))"},
		{"not a > 1", "(> (not a) 1)"},
		{"not (a > 1)", "(not (> a 1))"},
		{"!a == true", "(== (not a) true)"},
		{"1 + 2 * 3", "(+ 1 (* 2 3))"},
		{"2 * 3 ** 2 ** 1", "(* 2 (** (** 3 2) 1))"},
		{"-2 ** 2", "(negate (** 2 2))"},
		{"-2 * 3", "(* (negate 2) 3)"},
		{"2 ** -1", "(** 2 (negate 1))"},
		{"a - -3", "(- a (negate 3))"},
		{"1 < a < 2", "(range < < 1 a 2)"},
		{"1 <= a < 2 + 3", "(range <= < 1 a (+ 2 3))"},
		{"5 > a >= 2", "(range > >= 5 a 2)"},
		{"1 < a == true", "(== (< 1 a) true)"},
		{"1 < 2 < a", "(< (< 1 2) a)"},
		{"1 < a > 2", "(> (< 1 a) 2)"},
		{"1 < a < 3 and b > 1", "(and (range < < 1 a 3) (> b 1))"},
		{"a + 1 == 2", "(== (+ a 1) 2)"},
		{"a in [1, 2,]", "(in a (list 1 2))"},
		{"a not in []", "(not in a (list))"},
		{"a in [1] == true", "(== (in a (list 1)) true)"},
		{"a + 1 in [1]", "(in (+ a 1) (list 1))"},
		{"a < b in c", "(< a (in b c))"},
		{"a like \"x%\" or b", "(or (like a \"x%\") b)"},
		{"exists j[\"a\"] and b", "(and (exists j[\"a\"]) b)"},
		{"not exists a", "(not (exists a))"},
		{"json_contains(j['x'], [1, 2])", "(json_contains j['x'] (list 1 2))"},
		{"ARRAY_LENGTH(a) == 1", "(== (array_length a) 1)"},
		{"a is null and b IS NOT NULL", "(and (is null a) (is not null b))"},
		{"a & 1 == 1", "(& a (== 1 1))"},
		{"a >> 1 + 2", "(>> a (+ 1 2))"},
		{"f(a, 1)", "(f a 1)"},
		{"a == {x}", "(== a {x})"},
		{"$meta['k'] == 0x1F", "(== $meta['k'] 0x1F)"},
		{"a==.5||b==5.", "(or (== a .5) (== b 5.))"},
		{"a == 0x1p3", "(== a 0x1p3)"},
		{"a == 1e3", "(== a 1e3)"},
		{"android == oreo", "(== android oreo)"},
		{"j[\"a b\"][0]['c'] == 1", "(== j[\"a b\"][0]['c'] 1)"},
		{"a AND b OR NOT c", "(or (and a b) (not c))"},
		{"a\n and\tb", "(and a b)"},
	} {
		n, err := parse(x.text)
		if err != nil {
			t.Errorf("%s: %v", x.text, err)
			continue
		}
		if got := form(n); got != x.want {
			t.Errorf("%s: %s, expected %s", x.text, got, x.want)
		}
	}
}
