package tui

import (
	"strings"
	"testing"

	"kitescope/tui/draw"
)

// TestBarTitle: what the bars of query nodes mean stands above them whole, in whatever room they have.
func TestBarTitle(t *testing.T) {
	for room := 6; room <= 40; room++ {
		if got := barTitle(room); strings.Contains(got, "…") || !strings.Contains(got, "█") || !strings.Contains(got, "░") || draw.Width(got) != room {
			t.Errorf("%d cells: %q", room, got)
		}
	}
}
