package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// port is where a process of the lab listens: grpc, and metrics with healthz.
type port struct{ grpc, metrics int }

// ports are those of ../shared/milvus/ports.env.
var ports = map[string]port{
	"rootcoord": {20100, 20101}, "datacoord": {20110, 20111}, "querycoord": {20120, 20121}, "proxy": {20130, 20131},
	"datanode": {20140, 20141}, "indexnode": {20150, 20151},
	"querynode1": {20160, 20161}, "querynode2": {20170, 20171}, "querynode3": {20180, 20181}, "querynode4": {20190, 20191},
}

const (
	etcdAddress  = "127.0.0.1:20379"
	proxyAddress = "127.0.0.1:20130"
	kafkaAddress = "127.0.0.1:20092"
	source       = "etcd://" + etcdAddress + "/by-dev"
)

// session is what a process wrote into etcd of itself.
type session struct {
	Key     string
	ID      int64  `json:"ServerID"`
	Role    string `json:"ServerName"`
	Address string `json:"Address"`
	Lease   int64  `json:"LeaseID"`
	Raw     string `json:"-"`
}

// Lab is the running cluster.
type Lab struct {
	home, scripts, here string            // the lab's files, ../shared/milvus, tools/e2e/chaos
	out                 string            // where this round writes
	kitescope           string            // the binary
	known               map[string]string // session names and addresses of processes, as the round found them: "querynode1" to "querynode-5"
	address             map[string]string
	undo                []func() error // what a fault needs to have taken back even if its round ends early
	background          []*exec.Cmd
}

func (l *Lab) run() string    { return filepath.Join(l.home, "run") }
func (l *Lab) data() string   { return filepath.Join(l.run(), "data") }
func (l *Lab) python() string { return filepath.Join(l.home, "v235", "bin", "python") }

// env is all that a process of the lab gets: Milvus takes every variable for a setting.
func (l *Lab) env(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LAB=" + l.home, "STORAGE=local", "ETCDCTL_API=3", "PYTHONDONTWRITEBYTECODE=1"}, more...)
}

// output runs a command in a group of its own and gives what it wrote; the end of ctx ends all of the group.
func (l *Lab) output(ctx context.Context, name string, words ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := l.command(ctx, name, words...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s %s: %w: %.300s", filepath.Base(name), strings.Join(words, " "), err, lastLine(errs.String()))
	}
	return out.Bytes(), nil
}

func (l *Lab) command(ctx context.Context, name string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, words...)
	cmd.Env = l.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// client runs client.py against the proxy.
func (l *Lab) client(ctx context.Context, limit time.Duration, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := l.output(ctx, l.python(), append([]string{"-W", "ignore", filepath.Join(l.here, "client.py"), proxyAddress}, words...)...)
	return err
}

// beside starts client.py and leaves it running until the round is over.
func (l *Lab) beside(ctx context.Context, words ...string) error {
	cmd := l.command(ctx, l.python(), append([]string{"-W", "ignore", filepath.Join(l.here, "client.py"), proxyAddress}, words...)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	l.background = append(l.background, cmd)
	return nil
}

// endBackground ends what runs beside, or waits for it.
func (l *Lab) endBackground(wait bool) {
	for _, cmd := range l.background {
		if !wait {
			_ = cmd.Cancel()
		}
		_ = cmd.Wait()
	}
	l.background = nil
}

func (l *Lab) etcdctl(ctx context.Context, words ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return l.output(ctx, "etcdctl", append([]string{"--endpoints", etcdAddress, "--command-timeout=8s"}, words...)...)
}

// sessions reads who is registered, by the role and address that a process of the lab has.
func (l *Lab) sessions(ctx context.Context) (map[string]session, error) {
	text, err := l.etcdctl(ctx, "get", "--prefix", "by-dev/meta/session/")
	if err != nil {
		return nil, err
	}
	found := map[string]session{}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		var s session
		if json.Unmarshal([]byte(lines[i+1]), &s) != nil || s.Role == "" || s.Role == "indexcoord" {
			continue
		}
		s.Key, s.Raw = lines[i], lines[i+1]
		for process, p := range ports {
			here := s.Address == fmt.Sprintf("127.0.0.1:%d", p.grpc) || process == "proxy" && s.Address == "127.0.0.1:20132"
			if s.Role == roleOf(process) && (here || l.address[process] == s.Address) {
				found[process] = s
			}
		}
	}
	return found, nil
}

func (l *Lab) pid(process string) int {
	text, err := os.ReadFile(filepath.Join(l.run(), "pid", process+".pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// state is a process's letter in /proc, "" if it is gone or a zombie.
func (l *Lab) state(process string) string {
	pid := l.pid(process)
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

func (l *Lab) signal(process string, s syscall.Signal) error {
	pid := l.pid(process)
	if pid == 0 {
		return errors.New("no process id of " + process)
	}
	return syscall.Kill(pid, s)
}

// start starts a process of Milvus as node.sh does, on its own port or on another, with settings
// of its own.
func (l *Lab) start(process string, grpc int, settings ...string) error {
	role := roleOf(process)
	p := ports[process]
	if grpc == 0 {
		grpc = p.grpc
	}
	work := filepath.Join(l.run(), "work", process)
	if err := os.MkdirAll(filepath.Join(work, "run"), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(l.run(), "log", process+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	bin := filepath.Join(l.home, "bin235")
	upper := strings.ToUpper(role)
	cmd := exec.Command(filepath.Join(bin, "milvus"), "run", role) //nolint:noctx // it outlives the round
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = l.env("MILVUSCONF="+filepath.Join(l.run(), "conf"), "DEPLOY_MODE=DISTRIBUTED", fmt.Sprintf("METRICS_PORT=%d", p.metrics),
		"MILVUS_RUN_DIR="+filepath.Join(work, "run"), "LD_LIBRARY_PATH="+bin, upper+"_IP=127.0.0.1", fmt.Sprintf("%s_PORT=%d", upper, grpc),
		"PROXY_INTERNALPORT=20132", "MALLOC_CONF=background_thread:true")
	cmd.Env = append(cmd.Env, settings...)
	if err := cmd.Start(); err != nil {
		return err
	}
	l.address[process] = fmt.Sprintf("127.0.0.1:%d", grpc)
	go func() { _ = cmd.Wait() }()
	return os.WriteFile(filepath.Join(l.run(), "pid", process+".pid"), fmt.Appendln(nil, cmd.Process.Pid), 0o644)
}

// healthz says how long a process took to say that it is well; an error if it did not.
func (l *Lab) healthz(ctx context.Context, process string, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", ports[process].metrics), http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s says %s", process, answer.Status)
	}
	return time.Since(began), nil
}

// wait asks once a second until something is so.
func wait(ctx context.Context, limit time.Duration, what string, is func() bool) error {
	end := time.Now().Add(limit)
	for !is() {
		if time.Now().After(end) {
			return fmt.Errorf("%s: not after %s", what, limit)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// bring starts what is not running of the lab's processes and waits until all are well.
func (l *Lab) bring(ctx context.Context, processes ...string) error {
	for _, p := range processes {
		if l.state(p) == "T" {
			if err := l.signal(p, syscall.SIGCONT); err != nil {
				return err
			}
		}
		_, err := l.healthz(ctx, p, 3*time.Second)
		if l.state(p) == "" || err != nil {
			// A process that lost its session ends by itself, or hangs half dead.
			_ = l.signal(p, syscall.SIGKILL)
			delete(l.address, p)
			if err := wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.state(p) == "" }); err != nil {
				return err
			}
			if err := l.start(p, 0); err != nil {
				return err
			}
		}
	}
	for _, p := range processes {
		if err := wait(ctx, 150*time.Second, p+" is well", func() bool { _, err := l.healthz(ctx, p, 3*time.Second); return err == nil }); err != nil {
			return err
		}
	}
	return nil
}
