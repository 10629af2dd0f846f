package main

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"
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
	// readPassword prompts on the controlling terminal.
	readPassword func(prompt string) (string, error)
}

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
// input is a pipe and never echoes.
func promptTTY(prompt string) (string, error) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONIN$"
	}
	tty, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer tty.Close()
	if _, err := io.WriteString(os.Stderr, prompt); err != nil {
		return "", err
	}
	password, err := term.ReadPassword(int(tty.Fd()))
	_, _ = io.WriteString(os.Stderr, "\n")
	return string(password), err
}
