package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestWatchFrame checks that each line overwrites the line before, and that a frame is neither taller nor
// wider than the terminal.
func TestWatchFrame(t *testing.T) {
	text := "ID  ROLE\n" + strings.Repeat("12  querynode\n", 9)
	got := watchFrame(text, []string{"9 nodes · ctrl+c quits"}, 10, 6)
	if want := "\x1b[HID  ROLE\x1b[m\x1b[K\n" + strings.Repeat("12  query…\x1b[m\x1b[K\n", 2) +
		"… 7 more …\x1b[m\x1b[K\n9 nodes · …\x1b[m\x1b[K\n\x1b[J"; got != strings.Replace(want, "9 nodes · …",
		"9 nodes ·…", 1) {
		t.Errorf("got %q", got)
	}
	if got, want := watchFrame("ID\n1\n", []string{"1 node"}, 80, 24),
		"\x1b[HID\x1b[m\x1b[K\n1\x1b[m\x1b[K\n1 node\x1b[m\x1b[K\n\x1b[J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWatchFrameKeepsTheTable checks that the notes below the table take at most half of the screen, and that
// the last note is always shown.
func TestWatchFrameKeepsTheTable(t *testing.T) {
	below := []string{"first", "second", "third", "4 nodes · ctrl+c quits"}
	got := watchFrame("ID\n1\n2\n3\n", below, 80, 6)
	containsAll(t, got, "ID\x1b[m", "… 2 more rows", "first", "4 nodes · ctrl+c quits")
	if strings.Contains(got, "second") || strings.Count(got, "\n") > 5 {
		t.Errorf("got %q", got)
	}
}

// TestWatchScreenListsMissingData checks that a redrawn table lists data that could not be read, and that
// --strict then ends the watch.
func TestWatchScreenListsMissingData(t *testing.T) {
	t.Parallel() // it waits
	demo, client := demoClient(t)
	if _, err := client.Put(t.Context(), "by-dev/meta/session/querynode-99", "{torn"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
	defer stop()
	var out, errs syncBuffer
	s := scriptStreams(&out, &errs, nil)
	s.OutTTY, s.Size = true, func() (int, int) { return 80, 24 }
	code := run(ctx, s, []string{
		"get", "nodes", "--watch", "--strict", "--color", "never", "--live=false", "--from", demo.from(),
	})
	if code != cli.ExitIncomplete {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	containsAll(t, out.String(), "\x1b[H", "could not be decoded", "ctrl+c quits")
}
