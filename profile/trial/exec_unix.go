//go:build unix

package trial

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// inGroup makes a program the leader of a process group, which is asked to end as a whole.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
}

// askGroup asks all of a process group to end.
func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // gone if it was

// endGroup ends what is left of a process group whose leader has ended: it is asked to, has the grace to do so, and is
// then killed.
func endGroup(cmd *exec.Cmd, grace time.Duration) {
	const pause = 2 * time.Millisecond
	gone := func() bool { return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) }
	if gone() {
		return
	}
	if grace > 0 {
		askGroup(cmd)
		for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(pause) {
			if gone() {
				return
			}
		}
	}
	forceGroup(cmd)
	// A process that cannot be ended waits for a disk; a dead one that is not ours waits for its parent.
	for i := 0; i < 100 && !gone(); i++ {
		time.Sleep(pause)
	}
}

// forceGroup ends all of a process group.
func forceGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // gone if it was

// used is what wait4(2) tells of a program that has ended: its own use and that of all children that it waited for.
func used(s *os.ProcessState) resources {
	if s == nil {
		return resources{rss: -1}
	}
	u := resources{known: true, cpu: s.UserTime() + s.SystemTime(), rss: -1}
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return u
	}
	// A process begins with the high water mark of the one that started it, which is us (Linux: setmax_mm_hiwater_rss in
	// kernel/exit.c, with the mm that vfork shares until exec). What is no more than that says nothing.
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && r.Maxrss > own.Maxrss {
		u.rss = int64(r.Maxrss)       //nolint:unconvert // 32 bits elsewhere
		if runtime.GOOS != "darwin" { // bytes there, and KiB elsewhere
			u.rss <<= 10
		}
	}
	return u
}
