package cluster

import (
	"testing"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsInAShell: a real shell runs one program of the command that is copied, whatever the collection is called.
func TestCopiedCommandsInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		tuitest.IsRun(t, shell, "kitescope "+(&balancePage{word: name}).Command(nil), name)
	}
}
