package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// missingChecks lists the checks that report a missing process, or a role without any process.
var missingChecks = []string{"node-unreachable", "stale-session", "role-missing"}

// slowChecks lists the checks that report a process that responds late.
var slowChecks = []string{"node-slow", "process-slow", "slow-process", "node-unreachable"}

// consequences lists the checks that are right about a cluster in which processes of a role are gone or hang.
var consequences = map[string][]string{
	"querynode": {
		"no-shard-leader", "segment-not-loaded", "replica-short", "replica-dead-node", "shard-not-serviceable",
		"leader-channel-split", "resource-group-short", "load-stuck", "target-behind",
	},
	"datanode":   {"channel-unwatched", "checkpoint-lag", "timetick-lag", "channel-watch-state"},
	"indexnode":  {"index-stuck"},
	"querycoord": {"load-stuck", "target-behind"},
	"datacoord":  {"checkpoint-lag", "index-stuck"},
	"rootcoord":  {"timetick-lag", "checkpoint-lag", "channel-consumption-lag", "clock-regression"},
}

// roleNames lists the words that name a role.
var roleNames = map[string][]string{
	"querynode": {"querynode", "query node"}, "datanode": {"datanode", "data node"},
	"indexnode": {"indexnode", "index node"}, "proxy": {"proxy", "proxies"},
	"querycoord": {"querycoord"}, "datacoord": {"datacoord"}, "rootcoord": {"rootcoord"},
}

func wantProcesses(checks []string) func(a Args) Want {
	return func(a Args) Want {
		w := Want{Checks: checks}
		for _, p := range a.Processes {
			w.Follow = append(w.Follow, consequences[lab.RoleOf(p)]...)
		}
		return w
	}
}

func processTargets(a Args) []string { return a.Processes }

// acceptedNames returns the accepted names of each process: the process itself and, if no other process of its role
// works, the role.
func (l *Lab) acceptedNames(processes []string) [][]string {
	var all [][]string
	for _, p := range processes {
		names := []string{"@" + p}
		if lab.RoleOf(p) != "querynode" ||
			!slices.ContainsFunc(lab.QueryNodes, func(q string) bool { return !slices.Contains(processes, q) }) {
			names = append(names, roleNames[lab.RoleOf(p)]...)
		}
		all = append(all, names)
	}
	return all
}

// lastOfRole reports whether no process of its role is left without the processes in all.
func lastOfRole(process string, all []string) bool {
	return lab.RoleOf(process) != "querynode" ||
		!slices.ContainsFunc(lab.QueryNodes, func(q string) bool { return !slices.Contains(all, q) })
}

// missing returns which of the processes do not work and are not replaced. Such a process is dead, stopped or
// unregistered, and it is still registered or the last of its role.
func missing(ctx context.Context, l *Lab, a Args) Observation {
	sessions, err := l.Sessions(ctx)
	if err != nil {
		return Observation{What: err.Error()}
	}
	var s Observation
	var words []string
	for _, p := range a.Processes {
		state := l.State(p)
		_, registered := sessions[p]
		if (state == "" || state == "T" || !registered) && (registered || lastOfRole(p, a.Processes)) {
			s.Processes = append(s.Processes, p)
		}
		words = append(words,
			fmt.Sprintf("%s %s%s", p, map[string]string{"": "dead", "T": "stopped"}[state],
				map[bool]string{true: " registered", false: " not registered"}[registered]))
	}
	s.Present, s.What = len(s.Processes) > 0, strings.Join(words, ", ")
	return s
}

func bringBack(ctx context.Context, l *Lab, a Args) error {
	for _, p := range a.Processes {
		if l.State(p) == "T" {
			// A continued process would find its session gone and end at an unknown time.
			if err := l.Signal(p, syscall.SIGKILL); err != nil {
				return err
			}
			if err := lab.Wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.State(p) == "" }); err != nil {
				return err
			}
		}
	}
	return l.EnsureRunning(ctx, a.Processes...)
}

func signalAll(s syscall.Signal) func(context.Context, *Lab, Args) error {
	return func(_ context.Context, l *Lab, a Args) error {
		for _, p := range a.Processes {
			if err := l.Signal(p, s); err != nil {
				return err
			}
		}
		return nil
	}
}

func processKinds() []*Kind {
	return []*Kind{killed(), terminated(), stopped(), slowed(), restartedElsewhere(), otherSettings(), portTaken()}
}

func oneOfAll(d *dice) Args { return Args{Processes: some(d, lab.AllProcesses, 1)} }

func oneOrMore(d *dice) Args { return Args{Processes: d.group()} }

func killed() *Kind {
	return &Kind{
		Name: "killed", Weight: 10, Draw: oneOrMore, Targets: processTargets, Want: wantProcesses(missingChecks),
		Inject: signalAll(syscall.SIGKILL), Observe: missing, Heal: bringBack, Limit: 30 * time.Second,
		Hold: 50 * time.Second,
	}
}

func terminated() *Kind {
	return &Kind{
		Name: "terminated", Weight: 6, Targets: processTargets,
		// Query nodes keep serving while they stop. Without another node to hand over to, that takes half an
		// hour.
		Want: func(a Args) Want {
			w := wantProcesses(missingChecks)(a)
			w.Follow = append(w.Follow, "stopping-node-serving")
			return w
		},
		Draw: func(d *dice) Args {
			if d.r.IntN(4) == 0 {
				return Args{Processes: lab.QueryNodes}
			}
			return Args{Processes: some(d, append(lab.Coordinators[:3:3], lab.Workers...), 1)}
		},
		Inject: signalAll(syscall.SIGTERM), Observe: missing, Heal: restart, Limit: 60 * time.Second,
		Hold: 40 * time.Second,
	}
}

func stopped() *Kind {
	return &Kind{
		Name: "stopped", Weight: 8, Draw: oneOrMore, Targets: processTargets, Want: wantProcesses(missingChecks),
		Inject: signalAll(syscall.SIGSTOP), Observe: missing, Heal: bringBack, Limit: 30 * time.Second,
		Hold: 50 * time.Second,
	}
}

func slowed() *Kind {
	return &Kind{
		Name: "slowed", Weight: 8, Targets: processTargets, Want: wantProcesses(slowChecks),
		Draw: func(d *dice) Args {
			a := oneOfAll(d)
			a.Percent, a.Period = 50+5*d.r.IntN(10), 250*(1+d.r.IntN(6))
			return a
		},
		Inject: dutyCycle, Observe: respondsLate, Limit: 60 * time.Second, Hold: 40 * time.Second,
		Heal: func(ctx context.Context, l *Lab, a Args) error {
			l.UndoAll()
			return bringBack(ctx, l, a)
		},
	}
}

func restartedElsewhere() *Kind {
	return &Kind{
		Name: "restarted elsewhere", Weight: 4, Targets: processTargets, Want: wantProcesses(missingChecks),
		Draw: func(d *dice) Args {
			// Leave out the proxy, because its registered address is not the one that clients use.
			a := Args{
				Processes: some(d,
					slices.DeleteFunc(slices.Clone(lab.AllProcesses), func(p string) bool { return p == "proxy" }), 1),
			}
			a.Value = strconv.Itoa(21000 + d.r.IntN(500))
			return a
		},
		Inject: restartElsewhere, Observe: oldSession, Limit: 20 * time.Second, Hold: 25 * time.Second,
		Heal: restoreAddress,
	}
}

func otherSettings() *Kind {
	return &Kind{
		Name: "restarted with other settings", Weight: 4, Targets: processTargets,
		Draw: func(d *dice) Args {
			return Args{Processes: some(d, lab.QueryNodes, 1), What: pick(d, []string{
				"QUERYNODE_SCHEDULER_CPURATIO=1", "QUERYNODE_SCHEDULER_MAXREADCONCURRENTRATIO=4",
				"QUERYNODE_GROUPING_MAXNQ=10", "QUERYNODE_SEGCORE_CHUNKROWS=4096",
				"QUERYNODE_SCHEDULER_RECEIVECHANSIZE=64",
			})}
		},
		Want: func(Args) Want {
			return Want{
				Checks: []string{"config-drift", "bad-switches"},
				Follow: []string{
					"stopping-node-serving", "config-drift", "bad-switches", "node-idle", "auto-balance-off",
					"imbalance-rows",
				},
			}
		},
		Anew: true, Inject: restartWith, Limit: 60 * time.Second, Hold: 20 * time.Second,
		Observe: func(_ context.Context, l *Lab, a Args) Observation {
			return Observation{
				Present: l.State(a.Processes[0]) != "", What: "runs with " + a.What, Processes: a.Processes,
			}
		},
		Heal: restoreAddress,
	}
}

func portTaken() *Kind {
	return &Kind{
		Name: "port taken", Weight: 4, Draw: func(d *dice) Args {
			a := oneOfAll(d)
			a.What = pick(d, []string{"silent", "talks nonsense"})
			return a
		},
		Targets: processTargets, Want: wantProcesses(missingChecks), Inject: takePort, Observe: missing,
		Limit: 30 * time.Second, Hold: 45 * time.Second,
		Heal: func(ctx context.Context, l *Lab, a Args) error {
			l.UndoAll()
			return bringBack(ctx, l, a)
		},
	}
}

// dutyCycle stops a process for a part of each period until the fault is taken back.
func dutyCycle(ctx context.Context, l *Lab, a Args) error {
	l.DutyCycle(ctx, a.Processes[0], time.Duration(a.Period)*time.Millisecond, a.Percent)
	return nil
}

// respondsLate compares the mean response time of the process's /healthz over three periods with that of
// another process on the same machine.
func respondsLate(ctx context.Context, l *Lab, a Args) Observation {
	other := "rootcoord"
	if other == a.Processes[0] {
		other = "datacoord"
	}
	var mine, others time.Duration
	const samples = 15
	for range samples {
		for p, sum := range map[string]*time.Duration{a.Processes[0]: &mine, other: &others} {
			took, err := l.Healthz(ctx, p, 3*time.Second)
			if err != nil {
				took = 3 * time.Second
			}
			*sum += took
		}
		_ = lab.Sleep(ctx, time.Duration(a.Period)*time.Millisecond*3/samples)
	}
	mine, others = mine/samples, others/samples
	return Observation{
		Present: mine > 20*time.Millisecond && mine > 2*others, Processes: a.Processes,
		What: fmt.Sprintf("/healthz of %s takes %.3f s, of %s %.3f s", a.Processes[0], mine.Seconds(), other,
			others.Seconds()),
	}
}

func restartElsewhere(ctx context.Context, l *Lab, a Args) error {
	p := a.Processes[0]
	if err := l.Signal(p, syscall.SIGKILL); err != nil {
		return err
	}
	if err := lab.Wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.State(p) == "" }); err != nil {
		return err
	}
	var grpc int
	if _, err := fmt.Sscan(a.Value, &grpc); err != nil {
		return err
	}
	return l.Start(p, grpc)
}

// oldSession returns whether the killed process is still registered at its old address.
func oldSession(ctx context.Context, l *Lab, a Args) Observation {
	text, err := l.Etcdctl(ctx, "get", "--prefix", "by-dev/meta/session/")
	if err != nil {
		return Observation{What: err.Error()}
	}
	there := strings.Contains(string(text), fmt.Sprintf("%q", "127.0.0.1:"+strconv.Itoa(sessionPort(a.Processes[0]))))
	return Observation{
		Present: there, Processes: a.Processes, What: fmt.Sprintf("registered at the old address: %v", there),
	}
}

func sessionPort(process string) int {
	if process == "proxy" {
		return 20132
	}
	return lab.Ports[process].GRPC
}

// restoreAddress restarts a process on its own port with the common settings.
func restoreAddress(ctx context.Context, l *Lab, a Args) error {
	if err := l.StopGracefully(ctx, a.Processes[0]); err != nil {
		return err
	}
	delete(l.Address, a.Processes[0])
	return l.EnsureRunning(ctx, a.Processes...)
}

func restartWith(ctx context.Context, l *Lab, a Args) error {
	if err := l.StopGracefully(ctx, a.Processes[0]); err != nil {
		return err
	}
	if err := l.Start(a.Processes[0], 0, a.What); err != nil {
		return err
	}
	return lab.Wait(ctx, 120*time.Second, a.Processes[0]+" is healthy",
		func() bool { _, err := l.Healthz(ctx, a.Processes[0], 3*time.Second); return err == nil })
}

// listenFreed listens on the port of a process that was just killed. It retries for 5 s, because the sockets
// outlive the process for a moment.
func listenFreed(ctx context.Context, port int) (net.Listener, error) {
	for end := time.Now().Add(5 * time.Second); ; {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return listener, err
		}
		if err := lab.Sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// takePort kills a process and lets another program listen on its ports.
func takePort(ctx context.Context, l *Lab, a Args) error {
	p := a.Processes[0]
	if err := l.Signal(p, syscall.SIGKILL); err != nil {
		return err
	}
	if err := lab.Wait(ctx, 10*time.Second, "end of "+p, func() bool { return l.State(p) == "" }); err != nil {
		return err
	}
	for _, n := range []int{sessionPort(p), lab.Ports[p].Metrics} {
		listener, err := listenFreed(ctx, n)
		if err != nil {
			return err
		}
		l.Undo(listener.Close)
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				if a.What != "silent" {
					_, _ = c.Write([]byte("220 mail.example.com ready\r\n"))
				}
				time.AfterFunc(20*time.Second, func() { _ = c.Close() })
			}
		}()
	}
	return nil
}
