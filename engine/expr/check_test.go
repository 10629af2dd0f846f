package expr

import (
	"errors"
	"strings"
	"testing"

	"kitescope/engine/binlog"
)

func testSchema() *Schema {
	return &Schema{Fields: []Field{
		{ID: 100, Name: "id", Type: binlog.Int64},
		{ID: 101, Name: "vec", Type: binlog.FloatVector},
		{ID: 102, Name: "b", Type: binlog.Bool},
		{ID: 103, Name: "i", Type: binlog.Int8, Nullable: true},
		{ID: 104, Name: "f", Type: binlog.Float, Nullable: true},
		{ID: 105, Name: "d", Type: binlog.Double},
		{ID: 106, Name: "s", Type: binlog.VarChar, Nullable: true},
		{ID: 107, Name: "j", Type: binlog.JSON, Nullable: true},
		{ID: 108, Name: "a", Type: binlog.Array, Element: binlog.Int32, Nullable: true},
		{ID: 109, Name: "t", Type: binlog.Array, Element: binlog.VarChar},
		{ID: 110, Name: "n", Type: binlog.Int64},
	}}
}

// TestRefused checks the position and the text of errors, one line each.
func TestRefused(t *testing.T) {
	for _, x := range []struct {
		text   string
		column int
		words  string
	}{
		{"i >", 4, "expected a field, a value"},
		{"i = 1", 3, `unexpected "="`},
		{"i === 1", 5, `unexpected "="`},
		{"(i > 1", 7, `expected ")"`},
		{"i > 1)", 6, "expected an operator or the end"},
		{"i > 1 and", 10, "expected a field"},
		{"nosuch > 1", 1, `no field "nosuch"`},
		{"i > 1 and nosuch == 2", 11, "no field"},
		{`s == "a`, 6, "without its closing"},
		{`s like "a\%b"`, 10, "is not an escape"},
		{`s == "\x4"`, 6, "an invalid escape"},
		{"i @ 1", 3, "unexpected character '@'"},
		{"s == \"中\" ü", 10, "unexpected character 'ü'"},
		{"i == 1.5", 1, "it cannot be compared with 1.5"},
		{`i == "1"`, 1, "it cannot be compared with a string"},
		{"i in [1, 'a']", 6, "is not one of its values"},
		{"i in 1", 6, "expected a list"},
		{"i == 99999999999999999999", 6, "does not fit in 64 bits"},
		{"d == 1e999", 6, "does not fit in a double"},
		{"i", 1, "expected a condition"},
		{"b", 1, "expected a condition"},
		{"true", 1, "expected a condition"},
		{"not i > 1", 1, "not takes a condition"},
		{"i / 0 == 1", 1, "division by zero"},
		{"f % 2 == 1", 1, "takes whole numbers"},
		{"i + id == 3", 1, "two fields"},
		{"i + 1 + 2 == 3", 1, "one operation"},
		{"1 - i == 3", 1, "write the field first"},
		{"i & 1 == 1", 1, "no server evaluates"},
		{"5 < i < 3", 1, "the range is empty"},
		{"i < 5 < 3", 1, "found a condition"},
		{"vec == 1", 1, "cannot be compared"},
		{"a > 1", 1, "it cannot be compared"},
		{`a["x"] == 1`, 1, "expected an index"},
		{"i[0] == 1", 1, "has no keys"},
		{`j[""] == 1`, 1, "a key is empty"},
		{"j['a'] == j['b']", 1, "neither is JSON"},
		{"array_length(i) == 1", 14, "takes an array"},
		{"array_contains(a, 'x')", 19, "cannot contain"},
		{"array_contains_all(a, 1)", 23, "takes a list"},
		{"array_contains(a)", 1, "takes 2 arguments"},
		{"exists i", 8, "exists takes a key"},
		{"text_match(s, 'x')", 1, "an analyzer"},
		{"random_sample(0.1)", 1, "random"},
		{"st_within(g, 'POINT')", 1, "geometries"},
		{"i == {x}", 7, "no value for {x}"},
		{"nosuch(s)", 1, "no function"},
		{strings.Repeat("(", 5000), 0, "nested deeper"},
		{strings.Repeat("not ", 5000) + "b", 0, "nested deeper"},
		{"i == " + strings.Repeat("1 + ", 5000) + "1", 0, "nested deeper"},
	} {
		_, err := Parse(x.text, testSchema())
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%.60s: %v, expected to be refused", x.text, err)
			continue
		}
		if x.column != 0 && e.Column() != x.column || !strings.Contains(e.Text, x.words) ||
			strings.Contains(e.Error()+e.Hint, "\n") {
			t.Errorf("%.60s: %v (hint %q), expected column %d and %q", x.text, err, e.Hint, x.column, x.words)
		}
	}
}
