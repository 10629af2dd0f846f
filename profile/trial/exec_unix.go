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

// setGroup makes a program the leader of a process group. Its Cancel sends SIGTERM to the whole group.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
}

// terminateGroup sends SIGTERM to a process group. It does nothing if the group has ended.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// endGroup ends the rest of a process group whose leader has exited. With a grace period, it first sends
// SIGTERM and waits. Then it sends SIGKILL.
func endGroup(cmd *exec.Cmd, gracePeriod time.Duration) {
	const pause = 2 * time.Millisecond
	gone := func() bool { return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) }
	if gone() {
		return
	}
	if gracePeriod > 0 {
		terminateGroup(cmd)
		for end := time.Now().Add(gracePeriod); time.Now().Before(end); time.Sleep(pause) {
			if gone() {
				return
			}
		}
	}
	killGroup(cmd)
	// The rest may not end at once: an unkillable process waits for a disk, and a zombie of another parent
	// waits for that parent.
	for i := 0; i < 100 && !gone(); i++ {
		time.Sleep(pause)
	}
}

// killGroup sends SIGKILL to a process group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // fails if the group has ended

// resourcesOf returns the resources that wait4(2) reports for an exited program: its own and those of all children
// that it waited for.
func resourcesOf(s *os.ProcessState) resources {
	if s == nil {
		return resources{rss: -1}
	}
	u := resources{known: true, cpu: s.UserTime() + s.SystemTime(), rss: -1}
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return u
	}
	// A process inherits the high-water mark of its parent, which is kitescope (Linux: setmax_mm_hiwater_rss in
	// kernel/exit.c, with the mm that vfork shares until exec). A value that does not exceed kitescope's own is
	// therefore meaningless.
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && r.Maxrss > own.Maxrss {
		u.rss = int64(r.Maxrss)       //nolint:unconvert // 32 bits elsewhere
		if runtime.GOOS != "darwin" { // bytes on darwin, KiB elsewhere
			u.rss <<= 10
		}
	}
	return u
}
