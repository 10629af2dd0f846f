package check

import (
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/internal/words"
)

func TestTexts(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{words.Number(0), "0"},
		{words.Number(999), "999"},
		{words.Number(6974), "6,974"},
		{words.Number(int64(1234567)), "1,234,567"},
		{words.Number(-12345), "-12,345"},
		{words.Plural(1, "segment"), "1 segment"},
		{words.Plural(0, "segment"), "0 segments"},
		{words.Plural(3000, "row"), "3,000 rows"},
		{words.Share(0), "0%"},
		{words.Share(0.004), "0.4%"},
		{words.Share(0.0994), "9.9%"},
		{words.Share(0.28), "28%"},
		{words.Share(0.29), "29%"},
		{words.Share(0.06186), "6.2%"},
		{words.Share(0.38649), "38.6%"},
		{words.Share(0.9997), "99.9%"},
		{words.Share(0.0002), "<0.1%"},
		{words.Share(0.1 + 0.2 + 0.7), "100%"},
		{words.Plural(2, "process"), "2 processes"},
		{words.Share(1), "100%"},
		{words.Span(-time.Second), "0 s"},
		{words.Span(250 * time.Millisecond), "250 ms"},
		{words.Span(13 * time.Second), "13 s"},
		{words.Span(119 * time.Second), "119 s"},
		{words.Span(29 * time.Minute), "29 min"},
		{words.Span(90 * time.Minute), "90 min"},
		{words.Span(2 * time.Hour), "2 h"},
		{words.Span(210 * time.Minute), "3.5 h"},
		{words.Span(26 * time.Hour), "26 h"},
		{words.Span(100 * time.Hour), "4 d"},
		{words.Few(nil), "none"},
		{words.Few([]string{"a"}), "a"},
		{words.Few([]string{"a", "b", "c"}), "a, b and c"},
		{words.Few([]string{"a", "b", "c", "d", "e"}), "a, b, c and 2 more"},
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
