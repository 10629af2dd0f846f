package tui

import (
	"fmt"
	"testing"

	"kitescope/inspect/model"
	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsInAShell checks that a real shell runs exactly one program for a copied command, whatever
// the names of objects and files are.
func TestCopiedCommandsInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	m := New(testConfig())
	for _, name := range tuitest.HostileWords() {
		for kind, command := range map[string]string{
			"tree":     (&treePage{word: name}).Command(m),
			"describe": (&detailPage{ref: model.Ref{Resource: "collections", ID: name}}).Command(m),
		} {
			c := m.copyCommand(command)
			if c == nil {
				t.Fatalf("%s: %q is not copied", kind, command)
			}
			copied := fmt.Sprint(c())
			tuitest.IsRun(t, shell, copied, name)
		}
	}
}
