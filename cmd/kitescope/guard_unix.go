//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/words"
)

// A panic in a goroutine of a library cannot be recovered, and neither can a fault of the runtime: the process is gone, with
// the terminal as the UI had it. So a command that opens the UI runs in a child, and its parent does nothing but wait, and
// put the terminal back if the child did not end in order. Both are in one process group, so that the terminal's job
// control goes on as it would with one process.

// guardedVariable tells a child that it is one, by the process id of its parent. Any other value means that there is no
// guard: a benchmark that measures the process it started wants none.
const guardedVariable = "KITESCOPE_GUARDED"

// The files that a child has beside the standard streams: where the runtime writes why it crashed, and a pipe that ends
// with the parent.
const (
	crashFile  = 3
	parentFile = 4
)

// maxCrash is how much of a crash's report is told.
const maxCrash = 64 << 10

// guard runs this command line in a child if it opens the UI on a terminal; done is false if the caller has to run it.
func (p *program) guard(args []string) (code int, done bool) {
	s := p.Streams
	if os.Getenv(guardedVariable) != "" || !s.OutTTY || !p.opensUI(args) {
		return 0, false
	}
	tty := int(os.Stdout.Fd())
	state, err := term.GetState(tty)
	if err != nil {
		return 0, false
	}
	ended, crash, err := runChild()
	if err != nil {
		return 0, false // it was not started
	}
	signaled := ended.Signaled()
	if len(crash) == 0 && !signaled {
		return ended.ExitStatus(), true
	}
	signal.Ignore(syscall.SIGTTOU) // a shell may have the terminal by now
	_ = term.Restore(tty, state)
	_, _ = io.WriteString(s.Out, leaveUI)
	if len(crash) > 0 {
		_, _ = fmt.Fprintf(s.Err, "%s\n", harmlessLines(crash))
		_, _ = fmt.Fprintln(s.Err, "kitescope: the UI ended by a fault of its own")
		_, _ = fmt.Fprintln(s.Err, "hint: please report the lines above; kitescope get and diagnose show the same without the UI")
		return cli.ExitFailed, true
	}
	_, _ = fmt.Fprintf(s.Err, "kitescope: the UI was ended: %s\n", ended.Signal())
	return 128 + int(ended.Signal()), true
}

// leaveUI takes back what the UI asks of a terminal: output held back, keyboard and paste modes, the mouse, the alternate screen, the
// hidden cursor, colours.
const leaveUI = "\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[m"

// runChild runs the same command line again, hands on the signals that are meant for it, and returns how it ended and what
// its runtime wrote of a crash.
func runChild() (ended syscall.WaitStatus, crash []byte, err error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	crashR, crashW, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer crashR.Close()
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		return 0, nil, errors.Join(err, crashW.Close())
	}
	defer lifeW.Close()
	child := &exec.Cmd{
		Path: exe, Args: os.Args, Env: append(os.Environ(), guardedVariable+"="+strconv.Itoa(os.Getpid())),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{crashW, lifeR},
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	err = child.Start()
	_, _ = crashW.Close(), lifeR.Close() // the child has its own
	if err != nil {
		return 0, nil, err
	}
	gone := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() { handOn(child.Process, signals, gone) })
	working.Go(func() {
		crash, _ = io.ReadAll(io.LimitReader(crashR, maxCrash))
		_, _ = io.Copy(io.Discard, crashR)
	})
	_ = child.Wait() // how it ended is in its state
	close(gone)
	working.Wait()
	status, _ := child.ProcessState.Sys().(syscall.WaitStatus)
	return status, crash, nil
}

// groupDelay is how long a signal is held back: one that the terminal sent has reached the child as well, and a second one
// would end it without order.
const groupDelay = 300 * time.Millisecond

func handOn(child *os.Process, signals <-chan os.Signal, gone <-chan struct{}) {
	for {
		select {
		case <-gone:
			return
		case sig := <-signals:
			select {
			case <-gone:
				return
			case <-time.After(groupDelay):
				_ = child.Signal(sig) // it may have ended just now
			}
		}
	}
}

// guarded makes the process a child as guard wants it, where it is one. ctx ends with the parent.
func guarded(ctx context.Context) context.Context {
	if os.Getenv(guardedVariable) != strconv.Itoa(os.Getppid()) {
		return ctx
	}
	_ = os.Unsetenv(guardedVariable) // its own children are none
	unix.CloseOnExec(crashFile)
	unix.CloseOnExec(parentFile)
	crash := os.NewFile(crashFile, "crash")
	_ = debug.SetCrashOutput(crash, debug.CrashOptions{}) // without it the report goes to the screen that is left
	_ = crash.Close()
	ctx, cancel := context.WithCancel(ctx)
	parent := os.NewFile(parentFile, "parent")
	go func() {
		_, _ = io.Copy(io.Discard, parent)
		cancel()
	}()
	return ctx
}

// harmlessLines are the lines of a report without what a terminal would obey.
func harmlessLines(b []byte) string {
	var lines []string
	for line := range strings.Lines(string(bytes.TrimSpace(b))) {
		lines = append(lines, words.Harmless(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}
