package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/tools/bench/terminal"
)

// follower is a running kitescope that follows the cluster.
type follower struct {
	pid   int
	ready func() error
	stop  func()
}

const readyTimeout = 2 * time.Minute

// start starts a program. The UI gets a terminal, and a --watch gets a reader for its output.
func (b *bench) start(ctx context.Context, program, what, profile string) (*follower, error) {
	args := map[string][]string{
		"ui": {"ui", "segments"}, "get": {"get", "segments", "--watch"},
		"diagnose": {"diagnose", "--watch", "--live=false"},
	}[what]
	args = append(slices.Clone(args), "--from", "etcd://"+b.server.Endpoint)
	if b.profiles != "" {
		args = append(args, "--cpuprofile", filepath.Join(b.profiles, profile))
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	cmd.Env = append(os.Environ(), "KITESCOPE_CONFIG="+filepath.Join(b.scratch, "none.yaml"), "KITESCOPE_GUARDED=0",
		"TERM=xterm-256color", "COLORTERM=truecolor")
	if what == "ui" {
		return startOnTerminal(cmd, b.shape.CollectionName(0))
	}
	var log bytes.Buffer
	out := &sink{}
	cmd.Stdout, cmd.Stderr = out, &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &follower{
		pid: cmd.Process.Pid,
		ready: func() error {
			for since := time.Now(); out.bytes.Load() == 0; time.Sleep(100 * time.Millisecond) {
				if time.Since(since) > readyTimeout {
					return fmt.Errorf("%s printed nothing", cmd)
				}
			}
			return nil
		},
		stop: func() { _ = cmd.Process.Signal(syscall.SIGINT); _ = cmd.Wait() }, // its CPU time was read before
	}, nil
}

func startOnTerminal(cmd *exec.Cmd, text string) (*follower, error) {
	t, err := terminal.Start(cmd, 180, 50)
	if err != nil {
		return nil, err
	}
	return &follower{
		pid:   t.PID(),
		ready: func() error { _, err := t.WaitText(text, readyTimeout); return err },
		stop: func() {
			if _, err := t.Send("\x03"); err == nil {
				time.Sleep(time.Second) // let it write its profile
			}
			_ = t.Close() // its CPU time was read before
		},
	}, nil
}

// sink counts the bytes written to it.
type sink struct{ bytes atomic.Int64 }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes.Add(int64(len(p)))
	return len(p), nil
}

// writesPerSecond is the number of transactions per second.
const writesPerSecond = 25

// write changes the number of rows of random segments, rate segments per second, until ctx ends.
func (b *bench) write(ctx context.Context, rate int) error {
	client, err := b.server.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	random := rand.New(rand.NewPCG(uint64(rate), 0))
	tick := time.NewTicker(time.Second / writesPerSecond)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		chosen := map[int]bool{}
		for n := rate*(turn+1)/writesPerSecond - rate*turn/writesPerSecond; len(chosen) < n; {
			chosen[random.IntN(b.segments)] = true
		}
		ops := make([]clientv3.Op, 0, len(chosen))
		for i := range chosen {
			kv := b.shape.Rewritten(i, 1+random.Int64N(1000))
			ops = append(ops, clientv3.OpPut(kv.Key, string(kv.Value)))
		}
		if _, err := client.Txn(ctx).Then(ops...).Commit(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("write: %w", err)
		}
	}
}

// cpuTimes returns the CPU time that each follower has used so far, in user space and in the kernel.
func cpuTimes(followers []*follower) ([]time.Duration, error) {
	var all []time.Duration
	for _, f := range followers {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(f.pid) + "/stat")
		if err != nil {
			return nil, err
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name of a program may contain spaces
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			return nil, errors.New("/proc/PID/stat has an unknown format")
		}
		var ticks int64
		for _, field := range fields[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return nil, err
			}
			ticks += n
		}
		all = append(all, time.Duration(ticks)*time.Second/ticksPerSecond)
	}
	return all, nil
}

// ticksPerSecond is the unit of CPU time in /proc/PID/stat.
const ticksPerSecond = 100
