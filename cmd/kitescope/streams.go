package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"kitescope/inspect/model"
)

// streams is the process as a command sees it; tests make their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// inTTY, outTTY, errTTY say which of them are terminals.
	inTTY, outTTY, errTTY bool
	// size returns the terminal's columns and rows, 0 if out is none.
	size   func() (width, height int)
	getenv func(string) string
	now    func() time.Time
	// readPassword prompts on the controlling terminal until ctx ends.
	readPassword func(ctx context.Context, prompt string) (string, error)
	collector    *collector
	// loads is nil in a process. Tests that show one cluster in many ways keep it there: it returns what was read of a
	// place before, all of it, or reads it.
	loads func(place string, read func() (*model.Cluster, error)) (*model.Cluster, error)
	// transient is the line about progress, nil without a terminal on stderr.
	transient *transient
}

// processStreams are those of this process.
func processStreams() *streams {
	return &streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		outTTY: term.IsTerminal(int(os.Stdout.Fd())),
		errTTY: term.IsTerminal(int(os.Stderr.Fd())),
		size: func() (int, int) {
			w, h, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0, 0
			}
			return w, h
		},
		getenv:       os.Getenv,
		now:          time.Now,
		readPassword: promptTTY,
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
