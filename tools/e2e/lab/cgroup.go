package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limit limits a process to a number of cores until it is taken back, with the CPU quota of a control group
// (version 1 or 2). It needs root.
func (l *Lab) Limit(process string, cores float64) error {
	const period = 100_000 // microseconds, the kernel's own
	quota := strconv.Itoa(int(cores * period))
	settings := map[string]string{"cpu.cfs_period_us": strconv.Itoa(period), "cpu.cfs_quota_us": quota}
	if !version1("cpu") {
		settings = map[string]string{"cpu.max": fmt.Sprintf("%s %d", quota, period)}
	}
	return l.Group("cpu", process, settings)
}

func version1(controller string) bool {
	_, err := os.Stat("/sys/fs/cgroup/" + controller)
	return err == nil
}

// Group moves a process into a control group of its own with these settings until it is taken back. In
// version 1 the group belongs to the controller. It needs root.
func (l *Lab) Group(controller, process string, settings map[string]string) error {
	pid := l.PID(process)
	if pid == 0 || l.State(process) == "" {
		return fmt.Errorf("limit %s: not running", process)
	}
	root := "/sys/fs/cgroup"
	if version1(controller) {
		root = filepath.Join(root, controller)
	}
	group := filepath.Join(root, "kitescope-"+process)
	if err := os.MkdirAll(group, 0o755); err != nil {
		return fmt.Errorf("limit %s: %w", process, err)
	}
	l.Undo(func() error { return removeGroup(root, group) })
	for name, value := range settings {
		if err := os.WriteFile(filepath.Join(group, name), []byte(value), 0o644); err != nil {
			return fmt.Errorf("limit %s: %w", process, err)
		}
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return fmt.Errorf("limit %s: %w", process, err)
	}
	return nil
}

// removeGroup moves the processes of a control group back to root and removes the group. Processes that end
// leave the group by themselves after a moment, so it retries for two seconds.
func removeGroup(root, group string) error {
	var err error
	for range 20 {
		pids, readErr := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		if errors.Is(readErr, os.ErrNotExist) {
			return nil
		}
		for pid := range strings.FieldsSeq(string(pids)) {
			_ = os.WriteFile(filepath.Join(root, "cgroup.procs"), []byte(pid), 0o644)
		}
		if err = os.Remove(group); err == nil {
			return nil
		}
		_ = Sleep(context.Background(), 100*time.Millisecond)
	}
	return err
}
