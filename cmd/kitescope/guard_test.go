package main

import (
	"bytes"
	"context"
	"io"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// run runs one command line as the process does and returns the exit code.
func run(ctx context.Context, s *cli.Streams, args []string) int { return newProgram(s).run(ctx, args) }

// TestOpensUI checks opensUI, and that calling it does not change the result of the command line.
func TestOpensUI(t *testing.T) {
	for _, test := range []struct {
		args []string
		want bool
	}{
		{nil, true},
		{[]string{"--from", "x.kite"}, true},
		{[]string{"ui"}, true},
		{[]string{"--from", "x.kite", "ui", "segments"}, true},
		{[]string{"demo"}, true},
		{[]string{"profile", "top", "a.pb.gz", "--ui"}, true},
		{[]string{"profile", "top", "--ui=false", "nothing.pb.gz"}, true}, // an unneeded child does no harm
		{[]string{"get", "nodes", "--from", "nothing.kite"}, false},
		{[]string{"--quiet", "explain", "node-idle"}, false},
		{[]string{"get", "--help"}, false},
		{[]string{"segments"}, true},
		{[]string{"engine", "bild"}, false},
	} {
		outputs := [2]string{}
		for i := range outputs {
			var out bytes.Buffer
			p := newProgram(scriptStreams(&out, io.Discard, nil))
			if i == 0 {
				if got := p.opensUI(test.args); got != test.want {
					t.Errorf("%v: %t", test.args, got)
				}
			}
			code := p.run(t.Context(), test.args)
			outputs[i] = out.String() + string(rune('0'+code))
		}
		if outputs[0] != outputs[1] {
			t.Errorf("%v: after it was asked whether it opens the UI it ends %q, else %q", test.args, outputs[0],
				outputs[1])
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for b.Loop() {
		newProgram(scriptStreams(io.Discard, io.Discard, nil))
	}
}
