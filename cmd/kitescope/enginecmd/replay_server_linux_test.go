package enginecmd

import (
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/usage"
	"kitescope/replay"
	"kitescope/replay/live"
	"kitescope/replay/load"
)

// endpoint is a target with only a listen address.
type endpoint struct {
	live.Target
	server live.Server
}

func (e endpoint) Server() live.Server { return e.server }

func TestOnlyLocalServerIsRead(t *testing.T) {
	a := &cli.App{Streams: &cli.Streams{Now: time.Now}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for want, commands := range map[string][]string{
		"which is not postgres or postmaster": {"postgres", "postmaster"}, "which is not milvus": {"milvus"},
	} {
		server := live.Server{Network: "tcp", Address: l.Addr().String(), Commands: commands}
		if s, err := findServer(t.Context(), a, endpoint{server: server}); s != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %q", s, err, want)
		}
		server.Address = "192.0.2.1:5432"
		if s, err := findServer(t.Context(), a, endpoint{server: server}); s != nil || err != nil {
			t.Errorf("elsewhere: %v, %v, want nothing", s, err)
		}
	}
}

// startBusyProcess starts a process that computes until the test ends.
func startBusyProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func TestServerUsageIsCounted(t *testing.T) {
	cmd := startBusyProcess(t)
	process, err := usage.OpenProcess(cmd.Process.Pid, true, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &localServer{process: process}
	s.read(t.Context())
	var plan load.Plan
	s.setClocks(t.Context(), &plan)
	if s.readErr != nil || plan.CPU == nil || plan.Switches == nil {
		t.Fatalf("%v: CPU and switches are not counted", s.readErr)
	}
	before := plan.CPU()
	for until := time.Now().Add(time.Minute); plan.CPU()-before < 30*time.Millisecond; {
		if time.Now().After(until) {
			t.Fatal("a process that computes has used no CPU in a minute")
		}
		time.Sleep(10 * time.Millisecond)
	}
	point := load.Point{CPUPerQuery: time.Millisecond, SwitchesPerQuery: 2, Repeats: []load.Round{{CPU: time.Second}}}
	r := &replay.Result{Points: []load.Point{point}}
	s.noteCPU(t.Context(), r)
	if p := &r.Points[0]; p.CPUPerQuery != time.Millisecond || len(r.Notes) != 1 ||
		!strings.Contains(r.Notes[0], process.Name()) {
		t.Errorf("%v, notes %q: want the figures, and whose they are", p.CPUPerQuery, r.Notes)
	}

	// The figures of a server that exits are dropped, because they would be too low.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	plan.CPU()
	if ended := (*usage.EndedError)(nil); !errors.As(s.readErr, &ended) {
		t.Fatalf("%v, want that it ended", s.readErr)
	}
	r.Notes = nil
	s.noteCPU(t.Context(), r)
	if p := &r.Points[0]; p.CPUPerQuery != 0 || p.SwitchesPerQuery != 0 || p.Repeats[0].CPU != 0 ||
		!strings.Contains(r.Notes[0], "unknown") {
		t.Errorf("%+v, notes %q: want unknown", p, r.Notes)
	}
}
