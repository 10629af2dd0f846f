package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// startEtcd starts etcd as cluster.sh does, with flags of its own.
func (l *Lab) startEtcd(ctx context.Context, flags ...string) error {
	log, err := os.OpenFile(filepath.Join(l.run(), "log", "etcd.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("etcd", append([]string{ //nolint:noctx // it outlives the round
		"--name", "lab", "--data-dir", filepath.Join(l.run(), "etcd"), "--listen-client-urls", "http://" + etcdAddress,
		"--advertise-client-urls", "http://" + etcdAddress, "--listen-peer-urls", "http://127.0.0.1:20380",
		"--initial-advertise-peer-urls", "http://127.0.0.1:20380", "--initial-cluster", "lab=http://127.0.0.1:20380",
		"--auto-compaction-mode=revision", "--auto-compaction-retention=1000",
	}, flags...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = l.env(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	if err := os.WriteFile(filepath.Join(l.run(), "pid", "etcd.pid"), fmt.Appendln(nil, cmd.Process.Pid), 0o644); err != nil {
		return err
	}
	return wait(ctx, 30*time.Second, "etcd answers", func() bool { return l.etcdAnswers(ctx) == nil })
}

func (l *Lab) stopEtcd(ctx context.Context) error {
	if err := l.signal("etcd", syscall.SIGKILL); err != nil {
		return err
	}
	return wait(ctx, 10*time.Second, "end of etcd", func() bool { return l.state("etcd") == "" })
}

func (l *Lab) etcdAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := l.output(ctx, "etcdctl", "--endpoints", etcdAddress, "--command-timeout=3s", "get", "by-dev/meta/session/id")
	return err
}

// kafkaTool runs a tool of Kafka.
func (l *Lab) kafkaTool(ctx context.Context, class string, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	libs := filepath.Join(l.home, "kafka", "libs", "*")
	_, err := l.output(ctx, "java", append([]string{"-Xmx128m", "-cp", libs, class, "--bootstrap-server", kafkaAddress}, words...)...)
	return err
}

func (l *Lab) startKafka(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "bash", "./kafka.sh")
	cmd.Dir, cmd.Env = l.scripts, l.env()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start kafka: %w", err)
	}
	return wait(ctx, 60*time.Second, "kafka listens", func() bool { return listens(kafkaAddress) })
}

// fresh ends everything and starts a new cluster with the data of client.py.
func (l *Lab) fresh(ctx context.Context) error {
	l.endBackground(false)
	for _, p := range append([]string{"etcd", "kafka", "minio", "querynode4"}, everybody...) {
		if l.pid(p) > 0 && l.state(p) != "" {
			_ = l.signal(p, syscall.SIGKILL)
		}
	}
	clear(l.address)
	if err := sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	log, err := os.Create(filepath.Join(l.out, "cluster.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, "setsid", "bash", "./cluster.sh")
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.scripts, log, log
	cmd.Env = l.env("FRESH=1", "SEGMAX=2", "AUTOBALANCE=true")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	return l.client(ctx, 6*time.Minute, "seed")
}
