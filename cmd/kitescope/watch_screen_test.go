package main

import (
	"strings"
	"testing"
)

// TestWatchFrame: each line replaces the one before it, no more of them than the terminal has, none wider than it.
func TestWatchFrame(t *testing.T) {
	text := "ID  ROLE\n" + strings.Repeat("12  querynode\n", 9)
	got := watchFrame(text, "9 nodes · ctrl+c ends", 10, 6)
	if want := "\x1b[HID  ROLE\x1b[m\x1b[K\n" + strings.Repeat("12  query…\x1b[m\x1b[K\n", 2) + "… 7 more …\x1b[m\x1b[K\n9 nodes · …\x1b[m\x1b[K\n\x1b[J"; got != strings.Replace(want, "9 nodes · …", "9 nodes ·…", 1) {
		t.Errorf("got %q", got)
	}
	if got, want := watchFrame("ID\n1\n", "1 node", 80, 24), "\x1b[HID\x1b[m\x1b[K\n1\x1b[m\x1b[K\n1 node\x1b[m\x1b[K\n\x1b[J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
