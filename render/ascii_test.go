package render

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestGlyphs checks that replacements have the same width, and that ASCII output contains only ASCII.
func TestGlyphs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                          "plain",
		"✓ ok ▲ warn ✖ bad • note":       "+ ok ! warn x bad - note",
		"overview › nodes · 3 … → more":  "overview > nodes - 3 ~ > more",
		"├─ a\n└─ b":                     "|- a\n+- b",
		"▁▂▃▄▅▆▇█":                       "_.--==##",
		"\x1b[1mrow ↑\x1b[m │":           "\x1b[1mrow ^\x1b[m |",
		"图像 é e\u0301 x":                 "???? ? e x",
		"\u2800\u2801\u28ff":             " .#",
		"bad \xff byte, zero\u200bwidth": "bad ? byte, zerowidth",
	} {
		got := ASCIIGlyphs.Text(text)
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if !isASCII(got) {
			t.Errorf("%q has other bytes", got)
		}
	}
	for _, g := range []Glyphs{ConsoleGlyphs, ASCIIGlyphs} {
		for r := rune(0xa1); r < 0x3000; r++ {
			if n, m := ansi.StringWidth(string(r)), ansi.StringWidth(g.Text(string(r))); n != m {
				t.Errorf("%c has %d cells, what stands for it %d", r, n, m)
			}
		}
	}
	for text, want := range map[string]string{
		"╭─╮ ▲✖◆ █░ µ · …": "┌─┐ !x* █░ µ · ~", "▇▇▒ ▃▆ ▊▍": "██▒ ▄█ █▌", "图像 é": "图像 é",
	} {
		if got := ConsoleGlyphs.Text(text); got != want {
			t.Errorf("%q is %q on a console, want %q", text, got, want)
		}
	}
	if got := AllGlyphs.Text("✓ 图"); got != "✓ 图" {
		t.Error(got)
	}
}
