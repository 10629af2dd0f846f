package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// PID returns the process id that a process of the lab was started with, or 0 if it was never started.
func (l *Lab) PID(process string) int {
	text, err := os.ReadFile(filepath.Join(l.Run(), "pid", process+".pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// State returns the state letter of a process in /proc, or "" if it is gone or a zombie.
func (l *Lab) State(process string) string {
	pid := l.PID(process)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if pid == 0 || err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	if rest == "" || rest[0] == 'Z' {
		return ""
	}
	return rest[:1]
}

// Signal sends a signal to a process.
func (l *Lab) Signal(process string, s syscall.Signal) error {
	pid := l.PID(process)
	if pid == 0 {
		return errors.New("no process id of " + process)
	}
	return syscall.Kill(pid, s)
}

// Start starts a process of Milvus as node.sh does, with extra settings. The port is grpc, or the process's
// own if grpc is 0.
func (l *Lab) Start(process string, grpc int, settings ...string) error {
	role := RoleOf(process)
	p := Ports[process]
	if grpc == 0 {
		grpc = p.GRPC
	}
	work := filepath.Join(l.Run(), "work", process)
	if err := os.MkdirAll(filepath.Join(work, "run"), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(l.Run(), "log", process+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	bin := filepath.Join(l.Home, "bin235")
	upper := strings.ToUpper(role)
	cmd := exec.Command(filepath.Join(bin, "milvus"), "run", role) //nolint:noctx // it outlives the round
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = l.Env("MILVUSCONF="+filepath.Join(l.Run(), "conf"), "DEPLOY_MODE=DISTRIBUTED",
		fmt.Sprintf("METRICS_PORT=%d", p.Metrics),
		"MILVUS_RUN_DIR="+filepath.Join(work, "run"), "LD_LIBRARY_PATH="+bin, upper+"_IP=127.0.0.1",
		fmt.Sprintf("%s_PORT=%d", upper, grpc),
		"PROXY_INTERNALPORT=20132", "MALLOC_CONF=background_thread:true")
	cmd.Env = append(cmd.Env, settings...)
	if err := cmd.Start(); err != nil {
		return err
	}
	l.Address[process] = fmt.Sprintf("127.0.0.1:%d", grpc)
	l.setPriority(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }()
	return os.WriteFile(filepath.Join(l.Run(), "pid", process+".pid"), fmt.Appendln(nil, cmd.Process.Pid), 0o644)
}

// Healthz returns the response time of a process's health check. It returns an error if the process is not
// healthy.
func (l *Lab) Healthz(ctx context.Context, process string, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("http://127.0.0.1:%d/healthz", Ports[process].Metrics), http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s returned %s", process, answer.Status)
	}
	return time.Since(began), nil
}

// Wait calls is once a second until it returns true. It returns an error after limit.
func Wait(ctx context.Context, limit time.Duration, what string, is func() bool) error {
	end := time.Now().Add(limit)
	for !is() {
		if time.Now().After(end) {
			return fmt.Errorf("%s: not within %s", what, limit)
		}
		if err := Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// Sleep waits for the duration d. If ctx ends first, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// EnsureRunning starts those of the processes that do not run or are not healthy, and waits until all are healthy.
func (l *Lab) EnsureRunning(ctx context.Context, processes ...string) error {
	for _, p := range processes {
		if l.State(p) == "T" {
			if err := l.Signal(p, syscall.SIGCONT); err != nil {
				return err
			}
		}
		_, err := l.Healthz(ctx, p, 3*time.Second)
		if l.State(p) == "" || err != nil {
			// A process that lost its session ends by itself or hangs.
			_ = l.Signal(p, syscall.SIGKILL)
			delete(l.Address, p)
			if err := Wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.State(p) == "" }); err != nil {
				return err
			}
			if err := l.Start(p, 0); err != nil {
				return err
			}
		}
	}
	for _, p := range processes {
		if err := Wait(ctx, 150*time.Second, p+" is healthy",
			func() bool { _, err := l.Healthz(ctx, p, 3*time.Second); return err == nil }); err != nil {
			return err
		}
	}
	return nil
}

// StopGracefully stops a process with SIGTERM and waits until it has handed over its segments and ended.
func (l *Lab) StopGracefully(ctx context.Context, process string) error {
	if err := l.Signal(process, syscall.SIGTERM); err != nil {
		return err
	}
	return Wait(ctx, 90*time.Second, "end of "+process, func() bool { return l.State(process) == "" })
}

// Listens reports whether an address accepts connections.
func Listens(address string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// RoleOf returns the role of a process of the lab.
func RoleOf(process string) string { return strings.TrimRight(process, "0123456789") }

// DutyCycle stops a process for a percentage of each period until it is taken back.
func (l *Lab) DutyCycle(ctx context.Context, process string, period time.Duration, percent int) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	off := period * time.Duration(percent) / 100
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = l.Signal(process, syscall.SIGSTOP)
			_ = Sleep(ctx, off)
			_ = l.Signal(process, syscall.SIGCONT)
			_ = Sleep(ctx, period-off)
		}
	}()
	l.Undo(func() error { end(); <-done; return nil })
}

// SetPriority sets the CPU priority of this program and the cluster relative to other work on the machine. It also
// applies to processes of the cluster that are started later. Linux divides CPU time between sessions, each
// of which has a weight (sched(7), autogroup). SetPriority needs root and has no effect if the kernel does not
// support this.
func (l *Lab) SetPriority(nice int) {
	l.Nice = nice
	l.setPriority(os.Getpid())
	for _, p := range append([]string{"etcd", "kafka"}, AllProcesses...) {
		if l.State(p) != "" {
			l.setPriority(l.PID(p))
		}
	}
}

func (l *Lab) setPriority(pid int) {
	if l.Nice != 0 {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(l.Nice)), 0o644)
	}
}
