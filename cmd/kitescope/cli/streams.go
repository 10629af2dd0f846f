package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"kitescope/cmd/kitescope/gctune"
	"kitescope/inspect/model"
	"kitescope/render"
)

// Streams is the process environment of a command. Tests make their own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY report which streams are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Size returns the columns and rows of the terminal, or 0 if Out is not a terminal.
	Size   func() (width, height int)
	Getenv func(string) string
	Now    func() time.Time
	// ReadPassword prompts on the controlling terminal until ctx ends.
	ReadPassword func(ctx context.Context, prompt string) (string, error)
	Collector    *gctune.Collector
	// Loads is nil outside tests. Tests that show one cluster in many ways cache it there: Loads returns the
	// complete cluster read from place before, or calls read.
	Loads func(place string, read func() (*model.Cluster, error)) (*model.Cluster, error)
	// Glyphs are the characters allowed in messages for people.
	Glyphs render.Glyphs
	// Transient is the progress line, or nil if stderr is not a terminal.
	Transient *Transient
}

// ProcessStreams returns the streams of this process.
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

// promptTTY reads a password from the controlling terminal without echo, so that it works while standard input
// is a pipe. It returns immediately when ctx ends, because the interrupt key is not part of a password.
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
	// Restored if ctx ends: term.ReadPassword would restore it only on return.
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
