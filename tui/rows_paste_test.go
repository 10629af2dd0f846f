package tui

import (
	"testing"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/internal/words"
	"kitescope/tui/tuitest"
)

// TestGrepInAShell checks that a real shell runs exactly one program for a filter copied as grep, whatever the
// user typed.
func TestGrepInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		tuitest.IsRun(t, shell, "kitescope get nodes | "+(&term{text: []byte(words.Sanitize(name))}).grep().String(),
			"")
	}
}
