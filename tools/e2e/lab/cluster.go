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

// StartKafka starts Kafka with its existing data and waits until it listens.
func (l *Lab) StartKafka(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "bash", "./kafka.sh")
	cmd.Dir, cmd.Env = l.Scripts, l.Env()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start kafka: %w", err)
	}
	return Wait(ctx, 60*time.Second, "kafka listens", func() bool { return Listens(KafkaAddress) })
}

// Stop kills all processes of the lab.
func (l *Lab) Stop() {
	l.EndBackground(false)
	for _, p := range append([]string{"etcd", "kafka", "minio", "querynode4"}, AllProcesses...) {
		if l.PID(p) > 0 && l.State(p) != "" {
			_ = l.Signal(p, syscall.SIGKILL)
		}
	}
	clear(l.Address)
}

// Recreate stops everything and starts a new, empty cluster with the given settings of cluster.sh and Milvus.
func (l *Lab) Recreate(ctx context.Context, settings ...string) error {
	l.Stop()
	if err := Sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	log, err := os.Create(filepath.Join(l.Out, "cluster.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, "setsid", "bash", "./cluster.sh")
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.Scripts, log, log
	cmd.Env = l.Env(append([]string{"FRESH=1"}, settings...)...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	return nil
}
