package check

import (
	"testing"
	"time"

	"kitescope/inspect/check/facts"
)

func TestTexts(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{facts.Number(0), "0"},
		{facts.Number(999), "999"},
		{facts.Number(6974), "6,974"},
		{facts.Number(int64(1234567)), "1,234,567"},
		{facts.Number(-12345), "-12,345"},
		{facts.Plural(1, "segment"), "1 segment"},
		{facts.Plural(0, "segment"), "0 segments"},
		{facts.Plural(3000, "row"), "3,000 rows"},
		{facts.Percent(0), "0 %"},
		{facts.Percent(0.004), "0.4 %"},
		{facts.Percent(0.0994), "9.9 %"},
		{facts.Percent(0.28), "28 %"},
		{facts.Percent(0.29), "29 %"},
		{facts.Percent(0.06186), "6.2 %"},
		{facts.Percent(0.38649), "38.6 %"},
		{facts.Percent(0.9997), "99.9 %"},
		{facts.Percent(0.0002), "<0.1 %"},
		{facts.Percent(0.1 + 0.2 + 0.7), "100 %"},
		{facts.Plural(2, "process"), "2 processes"},
		{facts.Percent(1), "100 %"},
		{facts.Span(-time.Second), "0 s"},
		{facts.Span(250 * time.Millisecond), "250 ms"},
		{facts.Span(13 * time.Second), "13 s"},
		{facts.Span(119 * time.Second), "119 s"},
		{facts.Span(29 * time.Minute), "29 min"},
		{facts.Span(90 * time.Minute), "90 min"},
		{facts.Span(2 * time.Hour), "2 h"},
		{facts.Span(210 * time.Minute), "3.5 h"},
		{facts.Span(26 * time.Hour), "26 h"},
		{facts.Span(100 * time.Hour), "4 d"},
		{facts.Few(nil), "none"},
		{facts.Few([]string{"a"}), "a"},
		{facts.Few([]string{"a", "b", "c"}), "a, b and c"},
		{facts.Few([]string{"a", "b", "c", "d", "e"}), "a, b, c and 2 more"},
	} {
		if x.got != x.want {
			t.Errorf("%q; want %q", x.got, x.want)
		}
	}
}

// TestVersionTime: QueryCoord's versions are nanoseconds; what is not is no time.
func TestVersionTime(t *testing.T) {
	if got := facts.VersionTime(1795165562704480305); got.Format(time.RFC3339) != "2026-11-20T09:06:02Z" {
		t.Errorf("a version of the recorded cluster is %s", got)
	}
	for _, version := range []int64{0, 1, 7, -5, 470591881275768840, 1 << 62} {
		if got := facts.VersionTime(version); !got.IsZero() {
			t.Errorf("%d is %s", version, got)
		}
	}
}
