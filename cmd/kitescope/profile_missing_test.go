package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestProfilesMissing checks that every command that reads a record reports its missing profiles, and exits 4
// under --strict.
func TestProfilesMissing(t *testing.T) {
	t.Parallel() // it spends most of its time waiting
	good := profiledService(t, nil)
	dir := filepath.Join(t.TempDir(), "record")
	kitescope(t, cli.ExitOK, "profile", "pull", "--seconds", "1", "-O", dir, "here="+good.URL,
		"away=http://"+closedAddress)
	const want = "incomplete: no cpu profile of away: refused"
	for _, line := range []string{
		"top DIR", "flame DIR -o folded", "merge DIR -O -", "top --seconds 1 here=URL away=GONE",
	} {
		args := append([]string{"profile"},
			strings.Fields(strings.NewReplacer("DIR", dir, "URL", good.URL, "GONE", "http://"+closedAddress).
				Replace(line))...)
		containsAll(t, kitescope(t, cli.ExitOK, args...).err, want)
		kitescope(t, cli.ExitIncomplete, append(args, "--strict")...)
	}
	if e := kitescope(t, cli.ExitOK, "profile", "top", dir, "--node", "here", "--strict"); strings.Contains(e.err,
		"incomplete") {
		t.Errorf("nothing is missing of what was asked for: %s", e.err)
	}
}

// TestProfileAddress checks that an address without a scheme is reported with a hint, and that credentials are
// not shown.
func TestProfileAddress(t *testing.T) {
	e := kitescope(t, cli.ExitFailed, "profile", "top", "127.0.0.1:6060")
	containsAll(t, e.err, "http://127.0.0.1:6060")
	e = kitescope(t, cli.ExitFailed, "profile", "top", "ann:pa55@127.0.0.1:6060")
	if strings.Contains(e.err, "pa55") {
		t.Error(e.err)
	}
	// The title for two services consists of their addresses.
	const secret = "pa55-of-ann"
	s := profiledService(t, nil)
	word := strings.Replace(s.URL, "http://", "http://ann:"+secret+"@", 1)
	e = kitescope(t, cli.ExitOK, "profile", "top", "--seconds", "1", "a="+word, "b="+word+"/debug/pprof/profile")
	if all := e.stdout + e.err; strings.Contains(all, secret) || !strings.Contains(all, "127.0.0.1") {
		t.Error(all)
	}
}

// TestIneffectiveFlags checks that commands reject flags that have no effect on them.
func TestIneffectiveFlags(t *testing.T) {
	for _, line := range []string{"merge --cum", "pull --window 1s", "watch --window 1s", "top --window 1s"} {
		e := kitescope(t, cli.ExitUsage, append([]string{"profile"}, strings.Fields(line)...)...)
		containsAll(t, e.err, "unknown flag")
	}
	for _, line := range []string{"pull -O -", "pull --force -O dir"} {
		kitescope(t, cli.ExitUsage, append([]string{"profile"}, strings.Fields(line)...)...)
	}
}

// TestRunClock checks that the clock runs on from the time of --now.
func TestRunClock(t *testing.T) {
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	a := &cli.App{Streams: &cli.Streams{Now: time.Now}, Flags: cli.GlobalFlags{Now: "2026-11-20T09:00:00Z"}}
	if err := a.SetClock(); err != nil {
		t.Fatal(err)
	}
	a.RunClock()
	first := a.Now()
	time.Sleep(time.Millisecond)
	if second := a.Now(); first.Before(start) || !second.After(first) || second.Sub(start) > time.Minute {
		t.Errorf("%s, then %s", first, second)
	}
}
