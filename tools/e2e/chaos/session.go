package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

func sessionKinds() []*Kind {
	one := func(d *dice) Args {
		return Args{Processes: some(d, append(lab.Coordinators[:3:3], lab.Workers...), 1)}
	}
	return []*Kind{
		{
			Name: "lease revoked", Weight: 5, Draw: one, Targets: processTargets, Want: wantProcesses(missingChecks),
			Inject: func(ctx context.Context, l *Lab, a Args) error {
				s, err := l.sessionOf(ctx, a.Processes[0])
				if err != nil {
					return err
				}
				_, err = l.Etcdctl(ctx, "lease", "revoke", fmt.Sprintf("%x", s.Lease))
				return err
			},
			Observe: missing, Heal: restart, Limit: 30 * time.Second, Hold: 40 * time.Second,
		},
		{
			Name: "session removed", Weight: 4, Draw: one, Targets: processTargets, Want: wantProcesses(missingChecks),
			Inject: func(ctx context.Context, l *Lab, a Args) error {
				s, err := l.sessionOf(ctx, a.Processes[0])
				if err != nil {
					return err
				}
				_, err = l.Etcdctl(ctx, "del", s.Key)
				return err
			},
			Observe: missing, Heal: restart, Limit: 30 * time.Second, Hold: 40 * time.Second,
		},
		{
			Name: "session outlives its process", Weight: 4, Targets: processTargets,
			Want: wantProcesses(missingChecks),
			Draw: func(d *dice) Args { return Args{Processes: some(d, lab.AllProcesses, 1)} },
			Inject: func(ctx context.Context, l *Lab, a Args) error {
				s, err := l.sessionOf(ctx, a.Processes[0])
				if err != nil {
					return err
				}
				if err := l.Signal(a.Processes[0], syscall.SIGKILL); err != nil {
					return err
				}
				l.Undo(func() error {
					_, err := l.Etcdctl(context.WithoutCancel(ctx), "del", s.Key)
					return err
				})
				_, err = l.Etcdctl(ctx, "put", s.Key, s.Raw)
				return err
			},
			Observe: missing, Limit: 30 * time.Second, Hold: 60 * time.Second,
			Heal: func(ctx context.Context, l *Lab, a Args) error {
				l.UndoAll()
				return bringBack(ctx, l, a)
			},
		},
	}
}

func (l *Lab) sessionOf(ctx context.Context, process string) (lab.Session, error) {
	all, err := l.Sessions(ctx)
	if err != nil {
		return lab.Session{}, err
	}
	s, ok := all[process]
	if !ok {
		return s, fmt.Errorf("%s is not registered", process)
	}
	return s, nil
}

// restart restarts processes. It kills them first, because a process may keep running without being
// registered.
func restart(ctx context.Context, l *Lab, a Args) error {
	for _, p := range a.Processes {
		_ = l.Signal(p, syscall.SIGKILL)
		if err := lab.Wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.State(p) == "" }); err != nil {
			return err
		}
	}
	return l.EnsureRunning(ctx, a.Processes...)
}
