package words

import (
	"math"
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0), "0"},
		{Number(999), "999"},
		{Number(-1000), "-1,000"},
		{Number(int64(1234567)), "1,234,567"},
		{Plural(1, "segment"), "1 segment"},
		{Plural(0, "segment"), "0 segments"},
		{Plural(2, "process"), "2 processes"},
		{Plural(2, "prefix"), "2 prefixes"},
		{Count(int64(12345), "query", "queries"), "12,345 queries"},
		{Percent(0), "0%"},
		{Percent(0.04), "<0.1%"},
		{Percent(-0.04), "<0.1%"},
		{Percent(28.34), "28.3%"},
		{Percent(99.97), "99.9%"},
		{Percent(100 * 0.1 / 0.3 * 3), "100%"},
		{Percent(-28.34), "-28.3%"},
		{Percent(math.NaN()), "?"},
		{Share(0.353), "35.3%"},
		{Bytes(0), "0 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1258291), "1.2 MiB"},
		{Bytes(1023 << 10), "1.0 MiB"},
		{ThreeDigits(0.6421), "0.642"},
		{ThreeDigits(9.996), "10.0"},
		{ThreeDigits(1234), "1,234"},
		{ThreeDigits(math.Inf(1)), "?"},
		{Setting(2), "2"},
		{Setting(0.5), "0.5"},
		{Span(-time.Second), "0 s"},
		{Span(13 * time.Second), "13 s"},
		{Span(210 * time.Minute), "3.5 h"},
		{Span(100 * time.Hour), "4 d"},
		{Age(192 * time.Second), "3m12s"},
		{Age(76 * time.Hour), "3d4h"},
		{Latency(642*time.Microsecond, false), "642 µs"},
		{Latency(642*time.Microsecond, true), "642 us"},
		{Latency(999600*time.Nanosecond, false), "1.00 ms"},
		{Latency(-1, false), "?"},
		{Summarize(nil), "none"},
		{Summarize([]string{"a"}), "a"},
		{Summarize([]string{"a", "b"}), "a and b"},
		{Summarize([]string{"a", "b", "c", "d", "e"}), "a, b, c and 2 more"},
		{FirstOf([]string{"a", "b"}, 2, "; "), "a; b"},
		{FirstOf([]string{"a", "b", "c"}, 2, "; "), "a; b and 1 more"},
		{OneLine(" a\n\tb  c "), "a b c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
