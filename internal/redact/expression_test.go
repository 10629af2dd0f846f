package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kitescope/internal/redact"
)

func TestExpression(t *testing.T) {
	for in, want := range map[string]string{
		``: ``,
		`email == "ada@example.com" and year > 1999`:               `email == ? and year > ?`,
		`id in [71234, 71235, 71236]`:                              `id in [? x3]`,
		`id in[1,2]`:                                               `id in[? x2]`,
		`id in ["a]", 'b\'c']`:                                     `id in [? x2]`,
		`id in [7]`:                                                `id in [?]`,
		`id in []`:                                                 `id in []`,
		`meta["city"] == 'Ulm'`:                                    `meta["city"] == ?`,
		`meta["a"]["b"] > -1.5e-7`:                                 `meta["a"]["b"] > -?`,
		`meta["ada@example.com"] == 1`:                             `meta[?] == ?`,
		`tags[0] == "x"`:                                           `tags[?] == ?`,
		`json_contains_any(meta["tags"], ["x", 1])`:                `json_contains_any(meta["tags"], [? x2])`,
		`name like "Ada%" or not(age1 <= 0x1F)`:                    `name like ? or not(age1 <= ?)`,
		`id in {ids} && ok == true`:                                `id in {ids} && ok == true`,
		`field2 == r"raw" and größe == 3`:                          `field2 == ? and größe == ?`,
		`ts > ISO '2026-01-01T00:00:00Z'`:                          `ts > ISO ?`,
		`a == "never closed and 1`:                                 `a == ?`,
		`[[1, 2], [3]] == x`:                                       `[[? x2], [?]] == x`,
		`id in [1, x, 3]`:                                          `id in [?, x, ?]`,
		`$meta["k"] == .5`:                                         `$meta["k"] == ?`,
		`text_match(body, 'secret words', minimum_should_match=2)`: `text_match(body, ?, minimum_should_match=?)`,
	} {
		if got := redact.Expression(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// FuzzExpression checks that Expression removes every quoted value and that a second pass changes nothing.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`a == "b" and id in [1, 2]`, `meta["a"]['b'] < 1e5`, `x["`, "[", `r"`, "\xff[\"\xff\"]", `a["b"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.Expression(text)
		if again := redact.Expression(got); again != got {
			t.Errorf("%q becomes %q, and that %q", text, got, again)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
		const planted = `0sentinel value0`
		if quoted := redact.Expression(`a == "` + strings.Map(noQuote, text) + planted + `"`); strings.Contains(quoted,
			planted) {
			t.Errorf("a value is left: %q", quoted)
		}
	})
}

func noQuote(r rune) rune {
	if r == '"' || r == '\\' {
		return -1
	}
	return r
}
