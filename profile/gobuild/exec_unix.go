//go:build unix

package gobuild

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// group puts the command and all that it starts into a process group, which ends as a whole when the
// command is cancelled: the go command starts compilers and linkers.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// awaitGroup waits until a group that was killed writes no files any more. Where nobody collects dead processes it
// looks as if they went on, so that there is an end to it.
func awaitGroup(cmd *exec.Cmd) {
	for end := time.Now().Add(time.Second); cmd.Process != nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := syscall.Kill(-cmd.Process.Pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
	}
}
