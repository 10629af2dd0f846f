package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	const most = 1 << 10
	for name, text := range map[string]string{
		"short": "a", "empty": "", "as long as may be": strings.Repeat("x", most),
		"one more": strings.Repeat("x", most+1),
		"runes":    strings.Repeat("\u20ac", 1<<20), "broken": strings.Repeat("\xff", most+7),
	} {
		got := Truncate(text, most)
		if len(got) > most || len(text) <= most && got != text || len(text) > most && !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %.80q", name, len(got), got)
		}
	}
	ends := strings.Repeat("e", most)
	if Truncate(ends+"a"+ends, most) == Truncate(ends+"b"+ends, most) {
		t.Error("texts that differ in the middle became one")
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"auto-balance is off": "Auto-balance is off", "querynode-19 serves nothing": "querynode-19 serves nothing",
		"docs: 3 rows":        "docs: 3 rows",
		"dataCoord.gc is off": "dataCoord.gc is off", "docs has no index": "docs has no index", "no nodes": "No nodes",
		"": "", "since": "Since", "3 nodes": "3 nodes",
	} {
		if got := Sentence(in, "docs"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
