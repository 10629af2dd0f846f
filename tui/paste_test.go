package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/paste/pastetest"
)

// TestCopiedCommandsInAShell: a real shell runs one program of a command that is copied, whatever the objects and files in it are called.
func TestCopiedCommandsInAShell(t *testing.T) {
	shell := pastetest.New(t)
	m := New(testConfig())
	for _, name := range []string{"a;id&b", "$(id)", "`id`", "it's; id '", "-;id&$(id)'\"`id`\\\n\rid", "a\nid", "a\x1b[201~\rid", "x>y", "a|id", "{a,b}"} {
		for kind, command := range map[string]string{
			"tree":     (&treePage{word: name}).command(m),
			"balance":  (&balancePage{word: name, by: balance.ByCost}).command(m),
			"compare":  (&benchPage{words: []string{name, "new"}}).command(m),
			"judge":    (&judgePage{words: []string{name}}).command(m),
			"replay":   (&replayPage{words: []string{"run", name}}).command(m),
			"describe": (&detailPage{ref: model.Ref{Resource: "collections", ID: name}}).command(m),
			"grep":     "get nodes | " + (&term{text: []byte(name)}).grep().String(),
		} {
			c := m.copyCommand(command)
			if c == nil {
				t.Fatalf("%s: %q is not copied", kind, command)
			}
			copied := fmt.Sprint(c())
			words, err := shell.Words(t, copied)
			if err != nil {
				t.Errorf("%s: %q: %v", kind, copied, err)
			}
			if kind != "grep" && !slices.ContainsFunc(words, func(w string) bool {
				return strings.HasPrefix(w, name[:1]) && strings.Contains(w, strings.Trim(name[len(name)-1:], "\n\r"))
			}) {
				t.Errorf("%s: %q is read as %q", kind, copied, words)
			}
		}
	}
}
