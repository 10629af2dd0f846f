//go:build linux

package terminal

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestSequenceLengths checks the lengths of complete and incomplete control sequences.
func TestSequenceLengths(t *testing.T) {
	for text, want := range map[string]int{
		"\x1b[31mred":        5,
		"\x1b[":              0,
		"\x1b":               0,
		"\x1b]11;?\x07x":     7,
		"\x1b]11;?\x1b\\x":   8,
		"\x1b]11;":           0,
		"\x1bP+q544e\x1b\\x": 10,
		"\x1b(Bx":            3,
		"\x1b7x":             2,
	} {
		if got := sequence([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestTerminalRespondsToQueries checks that queries of a program are answered and that it sees the
// size.
func TestTerminalRespondsToQueries(t *testing.T) {
	// The shell queries the device attributes and the background, in two writes that split a sequence, and
	// shows the answers.
	script := `stty raw -echo; printf '\033[c'; dd bs=1 count=9 2>/dev/null | tr '\033' E
printf '\033]11;'; sleep 0.1; printf '?\007'; dd bs=1 count=24 2>/dev/null | tr '\033' E; stty size; printf done; sleep 5`
	term, err := Start(exec.CommandContext(context.Background(), "/bin/sh", "-c", script), 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.WaitText("done", 10*time.Second); err != nil {
		t.Fatalf("%v\n%q", err, term.Text())
	}
	for _, want := range []string{"E[?62;22c", "E]11;rgb:1e1e/1e1e/1e1e", "40 120"} {
		if !strings.Contains(term.Text(), want) {
			t.Errorf("%q is not in %q", want, term.Text())
		}
	}
}

// TestKeysAreTimed checks the time from a key to the output, the number of bytes and the memory.
func TestKeysAreTimed(t *testing.T) {
	term, err := Start(exec.CommandContext(context.Background(), "/bin/sh", "-c",
		`stty raw -echo; printf ready; dd bs=1 count=1 >/dev/null 2>&1; sleep 0.05; printf pressed; sleep 5`), 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.WaitText("ready", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := term.WaitQuiet(50*time.Millisecond, time.Second); err != nil {
		t.Fatal(err)
	}
	before := term.Bytes()
	pressed, err := term.Send("x")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := term.WaitOutput(pressed, 1, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if took := shown.Sub(pressed); took < 50*time.Millisecond || took > 5*time.Second {
		t.Errorf("answer after %v, want a little over 50 ms", took)
	}
	if n := term.Bytes() - before; n != int64(len("pressed")) {
		t.Errorf("%d bytes written, want %d", n, len("pressed"))
	}
	if now, peak, err := Memory(term.PID()); err != nil || now == 0 || peak < now {
		t.Errorf("memory %d, at most %d, %v", now, peak, err)
	}
}
