package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTextFits(t *testing.T) {
	for _, s := range []string{
		"", "short", "by-dev-rootcoord-dml_0_470590760625897534v0", "图像向量检索库图像向量检索库", "a图b像c", strings.Repeat("é", 50),
		"\x1b[1mbold and long enough\x1b[m",
	} {
		for w := range 40 {
			if got := ansi.StringWidth(Fit(s, w)); got != w {
				t.Errorf("fit(%q, %d) is %d cells", s, w, got)
			}
			if got := ansi.StringWidth(FitRight(s, w)); got != w {
				t.Errorf("fitRight(%q, %d) is %d cells", s, w, got)
			}
			if got := ansi.StringWidth(CutName(s, w)); got > w {
				t.Errorf("cutName(%q, %d) is %d cells", s, w, got)
			}
		}
	}
	if got, want := CutName("by-dev-rootcoord-dml_0_470590760625897534v0", 20), "by-dev-rootc…97534v0"; got != want {
		t.Errorf("cutName keeps %q, want %q", got, want)
	}
}

// TestOverlay checks that a text laid over a line keeps the width of the line, even if it cuts wide characters in two.
func TestOverlay(t *testing.T) {
	for _, line := range []string{"", "plain and long enough", "图像向量检索库图像向量检索库", "a图b像c向d量e", "\x1b[1mbold 图像\x1b[m"} {
		for at := range 12 {
			n := ansi.StringWidth(line)
			got := Overlay(line, "[box]", at)
			if w := ansi.StringWidth(got); w != max(n, at+5) {
				t.Errorf("[box] over %q at %d: %q is %d cells", line, at, got, w)
			}
			plain := ansi.Strip(got)
			if before, _, ok := strings.Cut(plain, "[box]"); !ok || ansi.StringWidth(before) != at {
				t.Errorf("[box] over %q at %d: %q", line, at, plain)
			}
		}
	}
}
