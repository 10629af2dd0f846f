package pgocmd

import (
	"bytes"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/trial"
)

// TestTrialShowsProgress checks the progress output: on a terminal, without one, and with --quiet.
func TestTrialShowsProgress(t *testing.T) {
	var out bytes.Buffer
	a := &cli.App{
		Streams: &cli.Streams{Err: &out, Transient: &cli.Transient{W: &out}, Size: func() (int, int) { return 50, 24 }},
	}
	showTrial(a, trialEvent(7, "run 3 of 40, with PGO, \x1b]0;x\x07 and so much more than fits", ""))
	showTrial(a, trialEvent(7, "", "run 3 ended badly"))
	showTrial(a, trialEvent(7, "run 4 of 40", ""))
	a.Transient.Clear()
	text := out.String()
	if strings.Contains(text, "\x1b]0;") {
		t.Errorf("a name moves the terminal: %q", text)
	}
	for _, want := range []string{
		"step 7 of 8: run 3 of 40, with PGO", "kitescope: run 3 ended badly\n  | \\x1b[2J out\n", "run 4 of 40\r\x1b[K",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "\r\x1b[K"), "\r")
	if len(first) >= 50 {
		t.Errorf("a line of %d cells on 50", len(first))
	}

	out.Reset()
	a.Transient = nil
	showTrial(a, trialEvent(7, "run 3 of 40", ""))
	if out.Len() > 0 {
		t.Errorf("progress where there is no terminal: %q", out.String())
	}
	a.Flags.Quiet = true
	showTrial(a, trialEvent(7, "", "run 3 ended badly"))
	if out.Len() > 0 {
		t.Errorf("--quiet says %q", out.String())
	}
}

func trialEvent(step int, what, remark string) trial.Event {
	e := trial.Event{Step: step, What: what, Remark: remark}
	if remark != "" {
		e.Output = "\x1b[2J out\n"
	}
	return e
}
