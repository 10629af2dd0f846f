package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMessagesAreShort checks that Message limits the length of messages, which can be of any length.
func TestMessagesAreShort(t *testing.T) {
	for name, text := range map[string]string{
		"letters": strings.Repeat("x", 10<<20),
		"runes":   strings.Repeat("\u20ac", 4<<20),
		"broken":  strings.Repeat("\xff", 4<<20),
		"escapes": strings.Repeat("\x1b[2J", 1<<20),
	} {
		got := Message("read segment 4701: " + text + ": no such file")
		if len(got) > 6*maxMessage || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\n") {
			t.Errorf("%s: %d bytes: %.100q", name, len(got), got)
		}
		if !strings.HasPrefix(got, "read segment 4701: ") || !strings.HasSuffix(got, ": no such file") ||
			!strings.Contains(got, " bytes) ... ") {
			t.Errorf("%s: %.100q", name, got)
		}
	}
	if got := Message("a\n b\t c"); got != "a b c" {
		t.Errorf("%q", got)
	}
}
