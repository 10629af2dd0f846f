package tui

import (
	"testing"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/internal/words"
	"kitescope/tui/tuitest"
)

// TestGrepInAShell: a real shell runs one program of a filter that is copied as grep, whatever was typed.
func TestGrepInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		tuitest.IsRun(t, shell, "kitescope get nodes | "+(&term{text: []byte(words.Harmless(name))}).grep().String(), "")
	}
}
