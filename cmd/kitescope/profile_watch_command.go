package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/usage"
)

// watchedCommand is a command that runs while processes are watched.
type watchedCommand struct {
	cmd   *exec.Cmd
	began time.Time
	done  chan struct{}
	wall  time.Duration
}

// commandPatience is how long a command may take to end when it is asked to.
const commandPatience = 5 * time.Second

// interruptPatience is how long the ^C of a terminal has to end a command.
const interruptPatience = 2 * time.Second

// start runs a command, and calls ended when it has. Its output goes to standard error, above the curves if there are any.
func (w *watching) start(ctx context.Context, line []string, screen *usageScreen, ended func()) error {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...) //nolint:gosec // to run what the user names is the purpose
	c := &watchedCommand{cmd: cmd, began: w.Now(), done: make(chan struct{})}
	cmd.Cancel = func() error { return c.interrupt(w.InTTY) }
	cmd.WaitDelay = commandPatience
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.In, w.App.Err, w.App.Err
	if screen.on {
		cmd.Stdout, cmd.Stderr = screen, screen
	}
	if err := cmd.Start(); err != nil {
		return cli.Usage(fmt.Errorf("run %s: %w", line[0], plainExec(err)), "the command after -- runs without a shell; for a pipe or a builtin: -- sh -c '...'")
	}
	w.command = c
	// Nobody waits for it yet: it cannot be gone.
	p, err := usage.OpenProcess(cmd.Process.Pid, true, w.Now)
	switch {
	case err == nil:
		w.own, w.targets = len(w.targets), append(w.targets, p)
	case len(w.targets) == 0:
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return err
	default:
		w.Warn("the command itself is not measured: %v", err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in its state
		c.wall = w.Now().Sub(c.began)
		close(c.done)
		ended()
	}()
	return nil
}

// interrupt asks the command to end. What ^C of a terminal sends reaches it anyway, and many programs take a second one
// for an order to drop everything: there it comes only where the first has not helped.
func (c *watchedCommand) interrupt(terminal bool) error {
	const look = 20 * time.Millisecond
	for waited := time.Duration(0); terminal && waited < interruptPatience; waited += look {
		if err := c.cmd.Process.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) {
			return err
		}
		time.Sleep(look)
	}
	return c.cmd.Process.Signal(os.Interrupt)
}

// plainExec is an error without the name that exec puts in front of it.
func plainExec(err error) error {
	if own, ok := errors.AsType[*exec.Error](err); ok {
		return own.Err
	}
	if own, ok := errors.AsType[*os.PathError](err); ok {
		return own.Err
	}
	return err
}

// wait is how the command ended, and what the kernel counted for it.
func (c *watchedCommand) wait() *usage.Command {
	<-c.done
	u := &usage.Command{Name: filepath.Base(c.cmd.Path), Wall: c.wall, ExitCode: -1, State: "unknown", User: -1, System: -1, RSS: -1, Voluntary: -1, Involuntary: -1}
	if s := c.cmd.ProcessState; s != nil {
		u.ExitCode, u.State = s.ExitCode(), s.String()
		u.User, u.System = s.UserTime(), s.SystemTime()
		countResources(u, s)
	}
	return u
}
