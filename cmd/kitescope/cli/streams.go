package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"kitescope/cmd/kitescope/collect"
	"kitescope/inspect/model"
	"kitescope/render"
)

// Streams is the process as a command sees it; tests make their own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// inTTY, outTTY, errTTY say which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Size returns the terminal's columns and rows, 0 if out is none.
	Size   func() (width, height int)
	Getenv func(string) string
	Now    func() time.Time
	// ReadPassword prompts on the controlling terminal until ctx ends.
	ReadPassword func(ctx context.Context, prompt string) (string, error)
	Collector    *collect.Collector
	// Loads is nil in a process. Tests that show one cluster in many ways keep it there: it returns what was read of a
	// place before, all of it, or reads it.
	Loads func(place string, read func() (*model.Cluster, error)) (*model.Cluster, error)
	// Glyphs are the characters that messages for people may have.
	Glyphs render.Glyphs
	// Transient is the line about progress, nil without a terminal on stderr.
	Transient *Transient
}

// ProcessStreams are those of this process.
func ProcessStreams() *Streams {
	return &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Size: func() (int, int) {
			w, h, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0, 0
			}
			return w, h
		},
		Getenv:       os.Getenv,
		Now:          time.Now,
		ReadPassword: promptTTY,
	}
}

// promptTTY asks on the controlling terminal, so that it works while standard
// input is a pipe and never echoes. An interrupt ends it at once: the key that sends
// one is no part of a password.
func promptTTY(ctx context.Context, prompt string) (string, error) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONIN$"
	}
	tty, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer tty.Close()
	// What ReadPassword would put back itself, had it come to its end.
	state, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(os.Stderr, prompt); err != nil {
		return "", err
	}
	type answer struct {
		password []byte
		err      error
	}
	typed := make(chan answer, 1)
	go func() {
		password, err := term.ReadPassword(int(tty.Fd()))
		typed <- answer{password, err}
	}()
	defer func() { _, _ = io.WriteString(os.Stderr, "\n") }()
	select {
	case a := <-typed:
		return string(a.password), a.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(int(tty.Fd()), state))
	}
}
