// Package lab controls a real Milvus cluster of separate processes, as ../shared/milvus starts it. It starts,
// stops, signals and limits single processes, runs clients and etcdctl, and undoes the changes of a run.
// Processes have the names used there: "querynode1", "proxy", "kafka".
package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Port holds the ports of a process: gRPC, and HTTP for metrics and healthz.
type Port struct{ GRPC, Metrics int }

// Ports holds the ports of ../shared/milvus/ports.env.
var Ports = map[string]Port{
	"rootcoord": {20100, 20101}, "datacoord": {20110, 20111}, "querycoord": {20120, 20121}, "proxy": {20130, 20131},
	"datanode": {20140, 20141}, "indexnode": {20150, 20151},
	"querynode1": {20160, 20161}, "querynode2": {20170, 20171}, "querynode3": {20180, 20181},
	"querynode4": {20190, 20191},
}

// Processes of Milvus, without querynode4, which is started only on demand.
var (
	Coordinators = []string{"rootcoord", "datacoord", "querycoord"}
	QueryNodes   = []string{"querynode1", "querynode2", "querynode3"}
	Workers      = []string{"datanode", "indexnode", "proxy"}
	AllProcesses = slices.Concat(Coordinators, Workers, QueryNodes)
)

// Addresses that do not change.
const (
	EtcdAddress  = "127.0.0.1:20379"
	ProxyAddress = "127.0.0.1:20130"
	KafkaAddress = "127.0.0.1:20092"
	Source       = "etcd://" + EtcdAddress + "/by-dev"
)

// Session is the session that a process wrote into etcd.
type Session struct {
	Key     string
	ID      int64  `json:"ServerID"`
	Role    string `json:"ServerName"`
	Address string `json:"Address"`
	Lease   int64  `json:"LeaseID"`
	Raw     string `json:"-"`
}

// Lab is the running cluster.
type Lab struct {
	Home    string            // the lab's files: $LAB
	Scripts string            // ../shared/milvus
	Tools   string            // folder of state.py
	Script  string            // client that Client and StartClient run
	Out     string            // folder for the output of commands
	Address map[string]string // addresses of processes that differ from Ports
	// priority of the cluster relative to other work on the machine, negative: higher; see SetPriority
	Nice int

	undo       []func() error
	background []*exec.Cmd
}

// Open returns the lab. here is the folder of the calling program, two levels below the repository's tools,
// and client is the script in it that Client runs. Output is kept in out, or in a temporary folder if out is
// empty.
func Open(here, client, out string) (*Lab, error) {
	here, err := filepath.Abs(here)
	if err != nil {
		return nil, err
	}
	home := os.Getenv("LAB")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		home = filepath.Join(cache, "milvus-lab")
	}
	if out == "" {
		if out, err = os.MkdirTemp("", "lab"); err != nil {
			return nil, err
		}
	}
	l := &Lab{
		Home: home, Scripts: filepath.Join(here, "..", "..", "..", "..", "shared", "milvus"), Tools: filepath.Dir(here),
		Script: filepath.Join(here, client), Out: out, Address: map[string]string{},
	}
	return l, os.MkdirAll(out, 0o755)
}

// Run returns the folder of the running cluster.
func (l *Lab) Run() string { return filepath.Join(l.Home, "run") }

// Data returns the folder of Milvus's object store.
func (l *Lab) Data() string { return filepath.Join(l.Run(), "data") }

// Python returns the path of the interpreter that has pymilvus.
func (l *Lab) Python() string { return filepath.Join(l.Home, "v235", "bin", "python") }

// Env returns the complete environment of a process of the lab. Other variables are left out, because Milvus
// treats every variable as a setting.
func (l *Lab) Env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LAB=" + l.Home, "STORAGE=local", "ETCDCTL_API=3",
		"PYTHONDONTWRITEBYTECODE=1",
	}, more...)
}

// Output runs a command in its own process group and returns its standard output. The end of ctx kills the
// group.
func (l *Lab) Output(ctx context.Context, name string, words ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := l.Command(ctx, name, words...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		short := slices.Clone(words) // without the folders of this machine
		for i, w := range short {
			if filepath.IsAbs(w) {
				short[i] = filepath.Base(w)
			}
		}
		return out.Bytes(),
			fmt.Errorf("%s %s: %w: %.300s", filepath.Base(name), strings.Join(short, " "), err, lastLine(errs.String()))
	}
	return out.Bytes(), nil
}

// Command returns a command in its own process group, with the environment of the lab. The end of ctx kills
// the group.
func (l *Lab) Command(ctx context.Context, name string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, words...)
	cmd.Env = l.Env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Client runs the client against the proxy.
func (l *Lab) Client(ctx context.Context, limit time.Duration, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := l.Output(ctx, l.Python(), append([]string{"-W", "ignore", l.Script, ProxyAddress}, words...)...)
	return err
}

// ClientStarted is like Client, and returns the time when the client was connected and began. The client takes
// seconds to start.
func (l *Lab) ClientStarted(ctx context.Context, limit time.Duration, words ...string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := l.Output(ctx, l.Python(), append([]string{"-W", "ignore", l.Script, ProxyAddress}, words...)...)
	if err != nil {
		return time.Time{}, err
	}
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "began "); ok {
			seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return time.UnixMicro(int64(seconds * 1e6)).UTC(), err
		}
	}
	return time.Time{}, fmt.Errorf("no start time in the output of the client: %.200s", out)
}

// StartClient starts the client in the background until EndBackground.
func (l *Lab) StartClient(ctx context.Context, words ...string) error {
	cmd := l.Command(ctx, l.Python(), append([]string{"-W", "ignore", l.Script, ProxyAddress}, words...)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	l.background = append(l.background, cmd)
	return nil
}

// EndBackground waits for the clients in the background. Unless wait is set, it kills them first.
func (l *Lab) EndBackground(wait bool) {
	for _, cmd := range l.background {
		if !wait {
			_ = cmd.Cancel()
		}
		_ = cmd.Wait()
	}
	l.background = nil
}

// Etcdctl runs etcdctl against the cluster's etcd.
func (l *Lab) Etcdctl(ctx context.Context, words ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return l.Output(ctx, "etcdctl", append([]string{"--endpoints", EtcdAddress, "--command-timeout=8s"}, words...)...)
}

// Sessions returns the registered sessions by process, matched by role and address.
func (l *Lab) Sessions(ctx context.Context) (map[string]Session, error) {
	text, err := l.Etcdctl(ctx, "get", "--prefix", "by-dev/meta/session/")
	if err != nil {
		return nil, err
	}
	found := map[string]Session{}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		var s Session
		if json.Unmarshal([]byte(lines[i+1]), &s) != nil || s.Role == "" || s.Role == "indexcoord" {
			continue
		}
		s.Key, s.Raw = lines[i], lines[i+1]
		for process, p := range Ports {
			here := s.Address == fmt.Sprintf("127.0.0.1:%d", p.GRPC) ||
				process == "proxy" && s.Address == "127.0.0.1:20132"
			if s.Role == RoleOf(process) && (here || l.Address[process] == s.Address) {
				found[process] = s
			}
		}
	}
	return found, nil
}

// Undo registers a function that UndoAll calls. The last one is called first.
func (l *Lab) Undo(f func() error) { l.undo = append(l.undo, f) }

// UndoAll undoes the changes to files, mounts, limits and listeners.
func (l *Lab) UndoAll() { l.UndoTo(0) }

// UndoCount returns the number of changes that can be taken back.
func (l *Lab) UndoCount() int { return len(l.undo) }

// UndoTo takes back changes until n are left.
func (l *Lab) UndoTo(n int) {
	for len(l.undo) > n {
		last := l.undo[len(l.undo)-1]
		l.undo = l.undo[:len(l.undo)-1]
		_ = last()
	}
}
