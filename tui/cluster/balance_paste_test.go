package cluster

import (
	"testing"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsInAShell checks that a real shell runs a copied command as one program, for hostile collection
// names.
func TestCopiedCommandsInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		tuitest.IsRun(t, shell, "kitescope "+(&balancePage{word: name}).Command(nil), name)
	}
}
