package main

import (
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestGrace: commands that keep what they have when they are interrupted are not cut short.
func TestGrace(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"": 900 * time.Millisecond, "get nodes": 900 * time.Millisecond, "--from x record -O y": time.Minute, "record -O y": time.Minute,
		"profile pull --seconds 3": time.Minute, "snapshot info x": 900 * time.Millisecond, "snapshot save x.kite": time.Minute,
	} {
		p := newProgram(&cli.Streams{})
		args := strings.Fields(line)
		p.tree.Prepare(args)
		if got := p.grace(args); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
