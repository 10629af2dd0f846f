package table

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// value is one parsed operand. The column's Kind determines which fields are set.
type value struct {
	text    string
	glob    *glob          // of texts with a wildcard
	pattern *regexp.Regexp // of ~ and !~
	// from and to are a half-open interval: [n, n+1) for an exact number, the whole day for a date.
	from, to int64
	when     When    // of times; replaces from and to if it depends on the current time
	number   float64 // of kinds that use Float
	absent   bool    // "column="
	named    bool    // of a NamedID column: the operand is a name, not an id
}

func parseValues(c *Column, op operator, entry bool, text string) ([]value, error) {
	if op == like || op == unlike {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("bad pattern: %w", err)
		}
		return []value{{text: text, pattern: re}}, nil
	}
	if text == "" {
		if op != equal && op != unequal {
			return nil, errors.New("no value after the operator")
		}
		return []value{{absent: true}}, nil
	}
	if op != equal && op != unequal {
		if !ordered(c.Kind) {
			return nil, fmt.Errorf("%s cannot be compared with < and >; use =, !=, ~ or !~", c.Name)
		}
		v, err := parseValue(c, text)
		if v.named {
			err = fmt.Errorf("%s is compared by id: %q is not a whole number", c.Name, text)
		}
		return []value{v}, err
	}
	var values []value
	parts := splitList(text)
	if thousands.MatchString(text) && (c.Kind == Int || c.Kind == Bytes) {
		parts = []string{text}
	}
	for _, part := range parts {
		kind := *c
		if entry {
			kind.Kind = Text
		}
		v, err := parseValue(&kind, part)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func ordered(k Kind) bool {
	switch k {
	case ID, NamedID, Int, Bytes, Percent, Time, Duration, Number, Exact, Findings:
		return true
	default:
		return false
	}
}

// splitList splits at commas outside double quotes. Quoted values keep their quotes.
func splitList(text string) []string {
	var parts []string
	quoted, start := false, 0
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// Quote quotes a value that contains a comma, an asterisk or a double quote, so that a selection reads it
// literally. It drops double quotes.
func Quote(s string) string {
	if strings.ContainsAny(s, `,*"`) {
		return `"` + strings.ReplaceAll(s, `"`, "") + `"`
	}
	return s
}

func parseValue(c *Column, text string) (value, error) {
	v := value{text: text}
	switch c.Kind {
	case Text, State, List, Pairs, NamedIDs, NamedPairs, NamedText:
		return parseText(text), nil
	case NamedID:
		v = parseText(text)
		n, err := strconv.ParseInt(v.text, 10, 64)
		v.from, v.to = interval(n)
		v.named = err != nil
		return v, nil
	case ID:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return v, fmt.Errorf("%s is an id: %q is not a whole number", c.Name, text)
		}
		v.from, v.to = interval(n)
		return v, nil
	case Int, Bytes, Findings:
		n, err := ParseNumber(text)
		if err != nil {
			return v, fmt.Errorf("%s is a number such as 1500, 10k, 1e6 or 1GiB: %w", c.Name, err)
		}
		v.from, v.to = interval(n)
		return v, nil
	case Number, Exact, Percent:
		return parseReal(c, text)
	case Duration:
		d, err := ParseDuration(text)
		if err != nil {
			return v, fmt.Errorf("%s is a duration such as 90s, 5m, 2h30m or 3d: %w", c.Name, err)
		}
		v.from, v.to = interval(int64(d))
		return v, nil
	case Time:
		when, err := ParseWhen(text)
		if err != nil {
			return v, fmt.Errorf("%s: %w", c.Name, err)
		}
		if v.when = when; !when.FromNow() {
			from, to := when.In(time.Time{})
			v.from, v.to = from.UnixNano(), to.UnixNano()
		}
		return v, nil
	case Bool:
		b, err := parseBool(text)
		if err != nil {
			return v, fmt.Errorf("%s is true or false: %w", c.Name, err)
		}
		v.from, v.to = interval(b)
		return v, nil
	}
	return v, fmt.Errorf("rows cannot be selected by %s", c.Name)
}

// parseReal parses a number for a column of floats. Percentages can end with a percent sign.
func parseReal(c *Column, text string) (value, error) {
	digits, form := text, "a number such as 0.25 or 1e6"
	if c.Kind == Percent {
		digits, form = strings.TrimSuffix(text, "%"), "a percentage such as 50%"
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(n) {
		return value{text: text}, fmt.Errorf("%s must be %s, not %q", c.Name, form, text)
	}
	return value{text: text, number: n}, nil
}

func parseText(text string) value {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return value{text: text[1 : len(text)-1]}
	}
	v := value{text: text}
	if strings.Contains(text, "*") {
		v.glob = newGlob(text)
	}
	return v
}

// interval returns [n, n+1), or [n, n] for the greatest integer because n+1 would overflow.
func interval(n int64) (from, to int64) {
	if n == math.MaxInt64 {
		return n, n
	}
	return n, n + 1
}

var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// thousands matches a number with thousands separators, e.g. "1,500".
var thousands = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// ParseNumber parses an integer such as "1500", "1,500", "1_500", "1.5e6", "10k" or "1GiB". The units k, M, G and
// T are powers of 1000; Ki, KiB and so on are powers of 1024. It rounds fractions to the nearest integer.
func ParseNumber(text string) (int64, error) {
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil {
		return n, nil
	}
	end := len(text)
	for end > 0 && (text[end-1] >= 'a' && text[end-1] <= 'z' || text[end-1] >= 'A' && text[end-1] <= 'Z') {
		end--
	}
	scale, ok := units[strings.ToLower(text[end:])]
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text[:end]), "_", ""), 64)
	if !ok || err != nil || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	n = math.Round(n * scale)
	if n >= math.MaxInt64 || n <= math.MinInt64 {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return int64(n), nil
}

// ParseDuration parses a Go duration with leading weeks and days ("1d12h", "2w"), or a number of seconds ("90").
func ParseDuration(text string) (time.Duration, error) {
	rest, sum := text, time.Duration(0)
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		before, after, ok := strings.Cut(rest, unit.letter)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(before, 64)
		if err != nil || math.IsNaN(n) || math.Abs(n) > 1e5 {
			return 0, fmt.Errorf("%q is not a duration", text)
		}
		sum += time.Duration(n * float64(unit.length))
		rest = after
	}
	if rest == "" && text != "" {
		return sum, nil
	}
	if n, err := strconv.ParseFloat(rest, 64); err == nil && math.Abs(n) < 1e9 {
		return sum + time.Duration(n*float64(time.Second)), nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return sum + d, nil
}

func parseBool(text string) (int64, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "1", "on":
		return 1, nil
	case "false", "no", "0", "off":
		return 0, nil
	}
	return 0, fmt.Errorf("%q is neither", text)
}

// Like reports whether text matches pattern, in which * matches any text.
func Like(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	return newGlob(pattern).match(text)
}

// glob is a pattern with * as wildcards, split at the wildcards.
type glob struct{ parts []string }

func newGlob(text string) *glob { return &glob{strings.Split(text, "*")} }

func (g *glob) match(s string) bool {
	first, last := g.parts[0], g.parts[len(g.parts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range g.parts[1 : len(g.parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}
