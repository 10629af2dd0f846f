//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// runInFront runs a command in the foreground of the terminal: ctrl+c ends it, as with "kubectl logs -f", and not the UI that waits.
func runInFront(cmd *exec.Cmd) error {
	tty, ok := cmd.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		return cmd.Run()
	}
	own, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return cmd.Run()
	}
	// Who takes the foreground back from behind is stopped by this signal otherwise.
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: int(tty.Fd())}
	err = cmd.Run()
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, own)
	return err
}
