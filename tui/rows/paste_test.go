package rows

import (
	"testing"

	"kitescope/paste/pastetest"
	"kitescope/tui/tuitest"
	"kitescope/words"
)

// TestGrepInAShell: a real shell runs one program of a filter that is copied as grep, whatever was typed.
func TestGrepInAShell(t *testing.T) {
	shell := pastetest.New(t)
	for _, name := range tuitest.HostileWords() {
		tuitest.IsRun(t, shell, "kitescope get nodes | "+(&term{text: []byte(words.Harmless(name))}).grep().String(), "")
	}
}
