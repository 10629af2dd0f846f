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

// A panic in a library's goroutine cannot be recovered, and neither can a fatal error of the runtime. Both end
// the process and leave the terminal in the state that the UI had set. Therefore a command that opens the UI runs
// in a child process. The parent only waits, and restores the terminal if the child did not exit normally. Both
// are in one process group, so that job control works as it does with one process.

// guardedVariable is an environment variable that holds the process id of the parent and so marks the child. Any other
// value disables the guard, e.g. for a benchmark that measures the process it started.
const guardedVariable = "KITESCOPE_GUARDED"

// File descriptors of the child in addition to the standard streams: the file to which the runtime writes its
// crash report, and a pipe that is closed when the parent exits.
const (
	crashFile  = 3
	parentFile = 4
)

// maxCrash is the maximum number of bytes printed of a crash report.
const maxCrash = 64 << 10

// guard runs this command line in a child process if it opens the UI on a terminal, and returns the exit code.
// It returns done == false if the caller has to run the command line itself.
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
		return 0, false // the child did not start
	}
	signaled := ended.Signaled()
	if len(crash) == 0 && !signaled {
		return ended.ExitStatus(), true
	}
	signal.Ignore(syscall.SIGTTOU) // a shell may own the terminal by now
	_ = term.Restore(tty, state)
	_, _ = io.WriteString(s.Out, leaveUI)
	if len(crash) > 0 {
		_, _ = fmt.Fprintf(s.Err, "%s\n", sanitizeLines(crash))
		_, _ = fmt.Fprintln(s.Err, "kitescope: the UI crashed")
		_, _ = fmt.Fprintln(s.Err,
			"hint: please report the lines above; kitescope get and diagnose show the same without the UI")
		return cli.ExitFailed, true
	}
	_, _ = fmt.Fprintf(s.Err, "kitescope: the UI was ended: %s\n", ended.Signal())
	return 128 + int(ended.Signal()), true
}

// leaveUI is the escape sequence that resets all terminal modes set by the UI: synchronized output, keyboard and paste
// modes, mouse, alternate screen, hidden cursor and colors.
const leaveUI = "\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[m"

// runChild runs the same command line in a child process and forwards signals to it. It returns the child's wait
// status and the crash report of its runtime, at most maxCrash bytes.
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
	_, _ = crashW.Close(), lifeR.Close() // the child has its own copies
	if err != nil {
		return 0, nil, err
	}
	gone := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() { forwardSignals(child.Process, signals, gone) })
	working.Go(func() {
		crash, _ = io.ReadAll(io.LimitReader(crashR, maxCrash))
		_, _ = io.Copy(io.Discard, crashR)
	})
	_ = child.Wait() // the status is in ProcessState
	close(gone)
	working.Wait()
	status, _ := child.ProcessState.Sys().(syscall.WaitStatus)
	return status, crash, nil
}

// forwardDelay is the delay before a signal is forwarded. A signal from the terminal has reached the child as well, and
// a second one would kill it before it has cleaned up.
const forwardDelay = 300 * time.Millisecond

func forwardSignals(child *os.Process, signals <-chan os.Signal, exited <-chan struct{}) {
	for {
		select {
		case <-exited:
			return
		case sig := <-signals:
			select {
			case <-exited:
				return
			case <-time.After(forwardDelay):
				_ = child.Signal(sig) // fails if the child has just exited
			}
		}
	}
}

// guarded sets up crash reporting if this process was started by guard. The returned context is canceled when the
// parent exits. In any other process guarded returns ctx.
func guarded(ctx context.Context) context.Context {
	if os.Getenv(guardedVariable) != strconv.Itoa(os.Getppid()) {
		return ctx
	}
	_ = os.Unsetenv(guardedVariable) // not inherited by further children
	unix.CloseOnExec(crashFile)
	unix.CloseOnExec(parentFile)
	crash := os.NewFile(crashFile, "crash")
	_ = debug.SetCrashOutput(crash, debug.CrashOptions{}) // otherwise the report goes to the alternate screen
	_ = crash.Close()
	ctx, cancel := context.WithCancel(ctx)
	parent := os.NewFile(parentFile, "parent")
	go func() {
		_, _ = io.Copy(io.Discard, parent)
		cancel()
	}()
	return ctx
}

// sanitizeLines returns the lines of a crash report without terminal control characters, and with tabs expanded.
func sanitizeLines(b []byte) string {
	var lines []string
	for line := range strings.Lines(string(bytes.TrimSpace(b))) {
		lines = append(lines, words.Sanitize(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}
