package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeep(t *testing.T) {
	const most = 1 << 10
	for name, text := range map[string]string{
		"short": "a", "empty": "", "as long as may be": strings.Repeat("x", most), "one more": strings.Repeat("x", most+1),
		"runes": strings.Repeat("\u20ac", 1<<20), "broken": strings.Repeat("\xff", most+7),
	} {
		got := Keep(text, most)
		if len(got) > most || len(text) <= most && got != text || len(text) > most && !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %.80q", name, len(got), got)
		}
	}
	ends := strings.Repeat("e", most)
	if Keep(ends+"a"+ends, most) == Keep(ends+"b"+ends, most) {
		t.Error("texts that differ in the middle became one")
	}
}
