package check

import (
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{number(0), "0"},
		{number(999), "999"},
		{number(6974), "6,974"},
		{number(int64(1234567)), "1,234,567"},
		{number(-12345), "-12,345"},
		{plural(1, "segment"), "1 segment"},
		{plural(0, "segment"), "0 segments"},
		{plural(3000, "row"), "3,000 rows"},
		{percent(0), "0 %"},
		{percent(0.004), "0.4 %"},
		{percent(0.0994), "9.9 %"},
		{percent(0.28), "28 %"},
		{percent(0.29), "29 %"},
		{percent(0.06186), "6.2 %"},
		{percent(0.38649), "38.6 %"},
		{percent(0.9997), "99.9 %"},
		{percent(0.0002), "<0.1 %"},
		{percent(0.1 + 0.2 + 0.7), "100 %"},
		{plural(2, "process"), "2 processes"},
		{percent(1), "100 %"},
		{span(-time.Second), "0 s"},
		{span(250 * time.Millisecond), "250 ms"},
		{span(13 * time.Second), "13 s"},
		{span(119 * time.Second), "119 s"},
		{span(29 * time.Minute), "29 min"},
		{span(90 * time.Minute), "90 min"},
		{span(2 * time.Hour), "2 h"},
		{span(210 * time.Minute), "3.5 h"},
		{span(26 * time.Hour), "26 h"},
		{span(100 * time.Hour), "4 d"},
		{few(nil), "none"},
		{few([]string{"a"}), "a"},
		{few([]string{"a", "b", "c"}), "a, b and c"},
		{few([]string{"a", "b", "c", "d", "e"}), "a, b, c and 2 more"},
	} {
		if x.got != x.want {
			t.Errorf("%q; want %q", x.got, x.want)
		}
	}
}

// TestVersionTime: QueryCoord's versions are nanoseconds; what is not is no time.
func TestVersionTime(t *testing.T) {
	if got := versionTime(1795165562704480305); got.Format(time.RFC3339) != "2026-11-20T09:06:02Z" {
		t.Errorf("a version of the recorded cluster is %s", got)
	}
	for _, version := range []int64{0, 1, 7, -5, 470591881275768840, 1 << 62} {
		if got := versionTime(version); !got.IsZero() {
			t.Errorf("%d is %s", version, got)
		}
	}
}
