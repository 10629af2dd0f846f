//go:build unix

package trial

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// inGroup makes a program the leader of a process group, which is asked to end as a whole.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
}

// askGroup asks all of a process group to end.
func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // gone if it was

// endGroup ends what is left of a process group whose leader has ended: it is asked to, has the grace to do it, and is
// ended. What was used by those that became our children (adopt) is told, and whether one had to be ended.
func endGroup(cmd *exec.Cmd, grace time.Duration) (cpu time.Duration, left bool) {
	const pause = 2 * time.Millisecond
	pid := cmd.Process.Pid
	bury := func() {
		for {
			var use syscall.Rusage
			switch n, err := syscall.Wait4(-pid, nil, syscall.WNOHANG, &use); {
			case errors.Is(err, syscall.EINTR):
			case err != nil || n <= 0:
				return
			default:
				cpu += time.Duration(use.Utime.Nano() + use.Stime.Nano())
			}
		}
	}
	gone := func() bool {
		bury()
		return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH)
	}
	if gone() {
		return cpu, false
	}
	if grace > 0 {
		askGroup(cmd)
		for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(pause) {
			if gone() {
				return cpu, false
			}
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // gone if it was
	// Who cannot be ended waits for a disk; who is dead and not ours waits for its parent.
	for range 100 {
		if gone() {
			break
		}
		time.Sleep(pause)
	}
	return cpu, true
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

const lockFile = ".lock"

// lock keeps a second kitescope out of a trial that goes on; the kernel lets go of it when the process ends.
func (f folder) lock() (unlock func(), err error) {
	file, err := os.OpenFile(f.path(lockFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the trial's folder: %w", err)
	}
	for range 3 {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = file.Close()
		return nil, planError("wait for it, or name another folder with -O", "another kitescope is at work on the trial in %s", f)
	}
	// A file system without locks keeps nobody out, and nobody from working.
	return func() { _ = file.Close() }, nil
}
