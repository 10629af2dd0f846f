package cli

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestNotesFromManyClusters checks that concurrent notes are written once each and that their lines do not mix.
func TestNotesFromManyClusters(t *testing.T) {
	var shown bytes.Buffer
	a := &App{Streams: &Streams{Err: &shown}}
	said := a.Hold()
	var working sync.WaitGroup
	const clusters, rounds = 16, 200
	for i := range clusters {
		working.Go(func() {
			for range rounds {
				a.Note("recording cluster %d", i)
				a.Note("the same of all")
			}
		})
	}
	working.Wait()
	said()
	lines := strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n")
	counts := map[string]int{}
	for _, line := range lines {
		counts[line]++
	}
	if len(lines) != clusters+1 || counts["kitescope: the same of all"] != 1 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for i := range clusters {
		if line := fmt.Sprintf("kitescope: recording cluster %d", i); counts[line] != 1 {
			t.Errorf("%q was said %d times", line, counts[line])
		}
	}
}

// TestNotesBreakBetweenWords checks that notes wrap between words on a narrow terminal.
func TestNotesBreakBetweenWords(t *testing.T) {
	var shown bytes.Buffer
	a := &App{Streams: &Streams{Err: &shown, ErrTTY: true, Size: func() (int, int) { return 30, 24 }}}
	a.Warn("the same in all rows: ANSWER=answered, VERSION=2.3.5")
	if want := "kitescope: the same in all\nrows: ANSWER=answered,\nVERSION=2.3.5\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
}
