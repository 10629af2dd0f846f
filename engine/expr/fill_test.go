package expr

import (
	"math"
	"testing"
)

// TestFill checks that values are written as literals and parse back to the same values.
func TestFill(t *testing.T) {
	values := map[string]Value{
		"i": intValue(7), "n": intValue(-7), "least": intValue(math.MinInt64), "f": floatValue(2),
		"g": floatValue(-1e-7), "b": boolValue(true),
		"s": {Kind: Text, Text: "it's {i} \"中\"\n\\"},
		"l": {Kind: List, List: []Value{intValue(-1), floatValue(0.5), {Kind: Text, Text: "a"}}}, "none": {Kind: List},
	}
	for _, x := range []struct{ text, want string }{
		{"i > 1", "i > 1"},
		{"i > {i}", "i > 7"},
		{"i in {l} and s == {s}", `i in [(-1), 0.5, "a"] and s == "it's {i} \"中\"\n\\"`},
		{`s == "{i}" and d < { f }`, `s == "{i}" and d < 2.0`},
		{"{g}<d and i in {none}", "(-1e-07)<d and i in []"},
	} {
		got, err := Fill(x.text, values)
		if err != nil || got != x.want {
			t.Errorf("%s: %s, %v; expected %s", x.text, got, err, x.want)
		}
	}
	for key, v := range values {
		text, err := Fill("{"+key+"}", values)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c := checker{text: text, schema: &Schema{}}
		o, err := c.operand(n)
		if err != nil || o.value == nil || o.value.Kind != v.Kind || o.value.String() != v.String() {
			t.Errorf("{%s}: %s became %+v, %v", key, text, o, err)
		}
	}
	for _, text := range []string{"i > {nosuch}", "i > {", "i > {1}", "i > {i"} {
		if got, err := Fill(text, values); err == nil {
			t.Errorf("%s: %s, expected to be refused", text, got)
		}
	}
}
