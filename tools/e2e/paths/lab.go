package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// Lab is the running cluster, and the names that its processes have had in this round.
type Lab struct {
	*lab.Lab
	kitescope    *lab.Kitescope
	sessionNames map[string][]string
	baseline     map[string]Baseline // how long requests took while the cluster was well
}

// recreate ends everything and starts a new cluster with the collections of client.py.
func (l *Lab) recreate(ctx context.Context) error {
	l.Stop()
	l.baseline = nil
	if err := l.mountStorage(); err != nil {
		return err
	}
	if err := l.Recreate(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
		return err
	}
	l.SetPriority(l.Nice)
	return l.Client(ctx, 6*time.Minute, "seed")
}

// stopAndStart stops a process as an orchestrator does, which waits twenty seconds, starts it with these settings, and
// waits until it is registered. What it registered before would last for half a minute, and name it for a reason of the
// trial's own: it is removed.
func (l *Lab) stopAndStart(ctx context.Context, process string, settings ...string) error {
	before, err := l.Sessions(ctx)
	if err != nil {
		return err
	}
	if err := l.Signal(process, syscall.SIGTERM); err != nil {
		return err
	}
	_ = lab.Wait(ctx, 20*time.Second, "end of "+process, func() bool { return l.State(process) == "" })
	if err := l.Signal(process, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	_, err = l.Etcdctl(ctx, "del", before[process].Key)
	if process == "datacoord" { // it has two
		_, err = l.Etcdctl(ctx, "del", "by-dev/meta/session/indexcoord")
	}
	if err != nil {
		return err
	}
	if err := l.restart(ctx, process, settings...); err != nil {
		return err
	}
	_ = lab.Wait(ctx, 20*time.Second, process+" is back", func() bool {
		now, err := l.Sessions(ctx)
		return err == nil && now[process].ID > 0 && now[process].ID != before[process].ID &&
			lab.Listens(fmt.Sprintf("127.0.0.1:%d", lab.Ports[process].GRPC))
	})
	if process == "proxy" {
		return lab.Sleep(ctx, 20*time.Second) // until clients have connected again: they try ever less often
	}
	return nil
}

// restart kills a process and starts it with these settings.
func (l *Lab) restart(ctx context.Context, process string, settings ...string) error {
	if l.State(process) != "" {
		if err := l.Signal(process, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if err := lab.Wait(ctx, 10*time.Second, "end of "+process, func() bool { return l.State(process) == "" }); err !=
		nil {
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

// runInBackground runs a function beside the round, until all is taken back.
func (l *Lab) runInBackground(ctx context.Context, f func(ctx context.Context)) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	l.Undo(func() error { end(); <-done; return nil })
}

// heal takes back what was done and starts what is not well or not registered. etcd then forgets: kitescope would count
// restarts of earlier rounds.
func (l *Lab) heal(ctx context.Context) error {
	l.UndoAll()
	for _, p := range services {
		if l.State(p) == "" {
			if err := l.restart(ctx, p); err != nil {
				return err
			}
		}
	}
	sessions, err := l.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, p := range lab.AllProcesses {
		if sessions[p].ID == 0 { // it serves nobody, whatever it reports
			_ = l.Signal(p, syscall.SIGKILL)
		}
	}
	if err := l.EnsureRunning(ctx, lab.AllProcesses...); err != nil {
		return err
	}
	return l.compactHistory(ctx)
}

var revision = regexp.MustCompile(`"revision":([0-9]+)`)

// compactHistory has etcd compact its history.
func (l *Lab) compactHistory(ctx context.Context) error {
	out, err := l.Etcdctl(ctx, "get", "-w", "json", "nothing")
	if err != nil {
		return err
	}
	if m := revision.FindSubmatch(out); m != nil {
		_, err = l.Etcdctl(ctx, "compact", string(m[1]))
	}
	return err
}

// startProbe starts the client that measures, which drops what is left over of other clients, then writes into a file
// until it is ended.
func (l *Lab) startProbe(ctx context.Context, file string) (end func(), err error) {
	cmd := exec.CommandContext(ctx, l.Python(), "-W", "ignore", l.Script, lab.ProxyAddress, "feel", file)
	cmd.Env, cmd.SysProcAttr = l.Env(), &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(errors.New("start the client"), err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, nil
}
