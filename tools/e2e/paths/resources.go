package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// groupFile returns a file of the control group of a process: see lab.Group.
func groupFile(controller, process, name string) string {
	for _, dir := range []string{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup"} {
		if file := filepath.Join(dir, "kitescope-"+process, name); exists(file) {
			return file
		}
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// counter reads a number that follows a word in a file of a control group, or stands alone in it.
func counter(controller, process, name, word string) int {
	text, err := os.ReadFile(groupFile(controller, process, name))
	if err != nil {
		return -1
	}
	fields := strings.Fields(string(text))
	for i, f := range fields {
		if word == "" || f == word && i+1 < len(fields) {
			if word != "" {
				f = fields[i+1]
			}
			n, err := strconv.Atoi(f)
			if err != nil {
				return -1
			}
			return n
		}
	}
	return -1
}

func drawCPU(d *dice) *Action {
	process, cores := pick(d, processes()), math.Round(d.between(0.01, 0.3)*1000)/1000
	return &Action{
		Components: []string{process}, Args: fmt.Sprintf("%g cores", cores),
		inject: func(_ context.Context, l *Lab, _ *Action) error { return l.Limit(process, cores) },
		effect: func(context.Context, *Lab) (bool, string) {
			n := counter("cpu", process, "cpu.stat", "nr_throttled")
			return n > 0, fmt.Sprintf("throttled %d times", n)
		},
	}
}

// drawMemory starts a process again within a part of the memory it used, and again each time that it dies, as an
// orchestrator does.
func drawMemory(d *dice) *Action {
	process, percent := pick(d, lab.AllProcesses), 30+d.IntN(60)
	var starts atomic.Int32
	return &Action{
		Components: []string{process}, Args: fmt.Sprintf("%d%% of what it used", percent),
		inject: func(ctx context.Context, l *Lab, _ *Action) error {
			used, err := resident(l.PID(process))
			if err != nil {
				return err
			}
			file, limit := "memory.limit_in_bytes", strconv.Itoa(used*percent/100)
			if !exists("/sys/fs/cgroup/memory") {
				file = "memory.max"
			}
			if err := l.stopAndStart(ctx, process); err != nil {
				return err
			}
			if err := l.Group("memory", process, map[string]string{file: limit}); err != nil {
				return err
			}
			starts.Add(1)
			l.runInBackground(ctx, func(ctx context.Context) {
				for lab.Sleep(ctx, time.Second) == nil {
					if l.State(process) == "" && l.Start(process, 0) == nil {
						_ = os.WriteFile(groupFile("memory", process, "cgroup.procs"),
							[]byte(strconv.Itoa(l.PID(process))), 0o644)
						starts.Add(1)
					}
				}
			})
			return nil
		},
		effect: func(context.Context, *Lab) (bool, string) {
			n := max(counter("memory", process, "memory.failcnt", ""),
				counter("memory", process, "memory.events", "max"))
			return n > 0, fmt.Sprintf("reached its limit %d times, started %d times", n, starts.Load())
		},
	}
}

// resident returns the bytes of memory that a process has.
func resident(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize(), err
}

// drawThreads lets a process have only few more threads than it has.
func drawThreads(d *dice) *Action {
	process, more := pick(d, processes()), d.IntN(4)
	return &Action{
		Components: []string{process}, Args: fmt.Sprintf("%d more", more),
		inject: func(_ context.Context, l *Lab, _ *Action) error {
			if err := l.Group("pids", process, nil); err != nil {
				return err
			}
			now := counter("pids", process, "pids.current", "")
			return os.WriteFile(groupFile("pids", process, "pids.max"), []byte(strconv.Itoa(now+more)), 0o644)
		},
		effect: func(context.Context, *Lab) (bool, string) {
			n := counter("pids", process, "pids.events", "max")
			return n > 0, fmt.Sprintf("%d threads refused", n)
		},
	}
}

// drawFiles lets a process open only few more files than it has, or fewer.
func drawFiles(d *dice) *Action {
	process, more, limit := pick(d, processes()), d.IntN(30)-20, 0
	return &Action{
		Components: []string{process}, Args: fmt.Sprintf("%+d", more),
		inject: func(ctx context.Context, l *Lab, _ *Action) error {
			pid := strconv.Itoa(l.PID(process))
			old, err := l.Output(ctx, "prlimit", "--pid", pid, "--nofile", "--noheadings", "--output", "SOFT,HARD")
			if err != nil {
				return err
			}
			l.Undo(func() error {
				_, err := l.Output(context.WithoutCancel(ctx), "prlimit", "--pid", pid,
					"--nofile="+strings.Join(strings.Fields(string(old)), ":"))
				return err
			})
			limit = max(10, l.open(process)+more)
			_, err = l.Output(ctx, "prlimit", "--pid", pid, fmt.Sprintf("--nofile=%d:", limit))
			return err
		},
		effect: func(_ context.Context, l *Lab) (bool, string) {
			n := l.open(process)
			return n >= limit-1 || l.State(process) == "", fmt.Sprintf("%d open files, limit %d", n, limit)
		},
	}
}

func (l *Lab) open(process string) int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.PID(process)))
	return len(files)
}

func drawSignal(d *dice) *Action {
	process, how := pick(d, processes()), pick(d, []string{"stopped", "killed", "duty", "restarts"})
	period, percent := time.Duration(d.between(100, 3000))*time.Millisecond, 50+d.IntN(49)
	a := &Action{Components: []string{process}, Args: how}
	a.effect = func(_ context.Context, l *Lab) (bool, string) {
		return true, "state " + strconv.Quote(l.State(process))
	}
	switch how {
	case "stopped":
		a.inject = func(_ context.Context, l *Lab, _ *Action) error {
			l.Undo(func() error { return l.Signal(process, syscall.SIGCONT) })
			return l.Signal(process, syscall.SIGSTOP)
		}
	case "killed":
		a.inject = func(_ context.Context, l *Lab, _ *Action) error { return l.Signal(process, syscall.SIGKILL) }
	case "duty":
		a.Args = fmt.Sprintf("stopped %d%% of each %s", percent, period)
		a.inject = func(ctx context.Context, l *Lab, _ *Action) error {
			l.DutyCycle(ctx, process, period, percent)
			return nil
		}
	case "restarts":
		every := 3*time.Second + 4*period
		a.Args = fmt.Sprintf("killed every %s and started again", every)
		a.inject = func(ctx context.Context, l *Lab, _ *Action) error {
			l.runInBackground(ctx, func(ctx context.Context) {
				for ctx.Err() == nil {
					_ = l.restart(ctx, process)
					_ = lab.Sleep(ctx, every)
				}
			})
			return nil
		}
	}
	return a
}

// drawHost has other programs take the processors.
func drawHost(d *dice) *Action {
	n := int(d.between(8, 80))
	return &Action{
		Components: []string{"host"}, Args: fmt.Sprintf("%d busy programs", n),
		inject: func(ctx context.Context, l *Lab, _ *Action) error { return l.startBurners(ctx, n) },
		effect: func(context.Context, *Lab) (bool, string) {
			text, err := os.ReadFile("/proc/loadavg")
			return err == nil, "load " + strings.TrimSpace(string(text))
		},
	}
}

// startBurners starts programs that only compute, each in a session of its own, so that the kernel gives each as much
// as one of the cluster.
func (l *Lab) startBurners(ctx context.Context, n int) error {
	for range n {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		l.Undo(func() error { _ = cmd.Process.Kill(); return cmd.Wait() })
	}
	return nil
}
