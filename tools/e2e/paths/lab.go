package main

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// Lab is the running cluster, and the names that its processes have had in this round.
type Lab struct {
	*lab.Lab
	kitescope *lab.Kitescope
	known     map[string][]string
}

// fresh ends everything and starts a new cluster with the collections of client.py.
func (l *Lab) fresh(ctx context.Context) error {
	l.Stop()
	if err := l.mountStorage(); err != nil {
		return err
	}
	if err := l.Fresh(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
		return err
	}
	l.Prefer(l.Nice)
	return l.Client(ctx, 6*time.Minute, "seed")
}

// again stops a process as an orchestrator does, which waits twenty seconds, and starts it with these settings.
func (l *Lab) again(ctx context.Context, process string, settings ...string) error {
	if err := l.Signal(process, syscall.SIGTERM); err != nil {
		return err
	}
	_ = lab.Wait(ctx, 20*time.Second, "end of "+process, func() bool { return l.State(process) == "" })
	return l.restart(ctx, process, settings...)
}

// restart kills a process and starts it with these settings.
func (l *Lab) restart(ctx context.Context, process string, settings ...string) error {
	if l.State(process) != "" {
		if err := l.Signal(process, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if err := lab.Wait(ctx, 10*time.Second, "end of "+process, func() bool { return l.State(process) == "" }); err != nil {
		return err
	}
	switch process {
	case "etcd":
		return l.StartEtcd(ctx)
	case "kafka":
		return l.StartKafka(ctx)
	}
	return l.Start(process, 0, settings...)
}

// during runs a function beside the round, until all is taken back.
func (l *Lab) during(ctx context.Context, f func(ctx context.Context)) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	l.Undo(func() error { end(); <-done; return nil })
}

// heal takes back what was done and starts what is not well.
func (l *Lab) heal(ctx context.Context) error {
	l.TakeBack()
	for _, p := range services {
		if l.State(p) == "" {
			if err := l.restart(ctx, p); err != nil {
				return err
			}
		}
	}
	if err := l.Bring(ctx, lab.Everybody...); err != nil {
		return err
	}
	return l.Client(ctx, time.Minute, "clean")
}

// feel starts the client that measures, which writes into a file until it is taken back.
func (l *Lab) feel(ctx context.Context, file string) (end func(), err error) {
	cmd := exec.CommandContext(ctx, l.Python(), "-W", "ignore", l.Script, lab.ProxyAddress, "feel", file)
	cmd.Env, cmd.SysProcAttr = l.Env(), &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(errors.New("start the client"), err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, nil
}
