package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// StartEtcd starts etcd as cluster.sh does, with extra flags, and waits until it responds.
func (l *Lab) StartEtcd(ctx context.Context, flags ...string) error {
	log, err := os.OpenFile(filepath.Join(l.Run(), "log", "etcd.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("etcd", append([]string{ //nolint:noctx // it outlives the round
		"--name", "lab", "--data-dir", filepath.Join(l.Run(), "etcd"), "--listen-client-urls", "http://" + EtcdAddress,
		"--advertise-client-urls", "http://" + EtcdAddress, "--listen-peer-urls", "http://127.0.0.1:20380",
		"--initial-advertise-peer-urls", "http://127.0.0.1:20380", "--initial-cluster", "lab=http://127.0.0.1:20380",
		"--auto-compaction-mode=revision", "--auto-compaction-retention=1000",
	}, flags...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = l.Env(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	if err := os.WriteFile(filepath.Join(l.Run(), "pid", "etcd.pid"), fmt.Appendln(nil, cmd.Process.Pid), 0o644); err !=
		nil {
		return err
	}
	return Wait(ctx, 30*time.Second, "etcd responds", func() bool { return l.PingEtcd(ctx) == nil })
}

// StopEtcd kills etcd.
func (l *Lab) StopEtcd(ctx context.Context) error {
	if err := l.Signal("etcd", syscall.SIGKILL); err != nil {
		return err
	}
	return Wait(ctx, 10*time.Second, "end of etcd", func() bool { return l.State("etcd") == "" })
}

// PingEtcd returns an error unless etcd responds to a read.
func (l *Lab) PingEtcd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := l.Output(ctx, "etcdctl", "--endpoints", EtcdAddress, "--command-timeout=3s", "get",
		"by-dev/meta/session/id")
	return err
}

// KafkaTool runs a command-line tool of Kafka.
func (l *Lab) KafkaTool(ctx context.Context, class string, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	libs := filepath.Join(l.Home, "kafka", "libs", "*")
	out, err := l.Output(ctx, "java",
		append([]string{"-Xmx128m", "-cp", libs, class, "--bootstrap-server", KafkaAddress}, words...)...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(string(out)))
	}
	return nil
}
