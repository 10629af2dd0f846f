package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"kitescope/inspect/check/rules"
)

// TestCommandsOfFixesAreValid checks that the kitescope commands in the fixes of the fault library use
// commands, flags, columns and values that exist.
func TestCommandsOfFixesAreValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../inspect/check/rules/testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	checks := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		id, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		checks[id] = true
		if err := validateCommand(command); err != nil {
			t.Errorf("%s: %s: %v", id, command, err)
		}
	}
	if len(checks) < 50 {
		t.Errorf("only %d checks say a command", len(checks))
	}
}

// TestCommandsOfChecksAreValid checks the same of the kitescope commands in the documentation of checks.
func TestCommandsOfChecksAreValid(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile("`(kitescope [^`]*)`")
	said := 0
	for _, x := range rules.All() {
		for _, m := range command.FindAllStringSubmatch(x.Doc+x.Remedy, -1) {
			said++
			if err := validateCommand(m[1]); err != nil {
				t.Errorf("%s: %s: %v", x.ID, m[1], err)
			}
		}
	}
	if said < 30 {
		t.Errorf("only %d commands in the documentation of checks", said)
	}
}
