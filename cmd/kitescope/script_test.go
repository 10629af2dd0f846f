package main

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

// TestMain allows scripts to run this test binary as kitescope in a separate process.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"kitescope": main})
}

// tests runs the tests of this package if the binary does not run as kitescope.
type tests struct{ *testing.M }

// Run implements testscript.TestingM. It runs eight tests in parallel on any number of processors, because many
// only wait for timeouts. It also sets GOGC to 400, because garbage collection took half of the time while most
// data stayed live anyway.
func (m tests) Run() int {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(3 << 30)
	return m.M.Run()
}

// TestScript runs testdata/script/*.txtar, which check the output, messages and exit codes of command lines.
func TestScript(t *testing.T) {
	t.Parallel()
	snapshots, err := filepath.Abs("../../testdata/snapshots")
	if err != nil {
		t.Fatal(err)
	}
	binaries := t.TempDir()
	writeBinaries(t, binaries)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SNAPSHOTS", snapshots)
			env.Setenv("BINARIES", binaries)
			env.Setenv("PROFILES", filepath.Join(filepath.Dir(snapshots), "profiles"))
			env.Setenv("ENGINE", filepath.Join(filepath.Dir(snapshots), "..", "cmd", "kitescope", "testdata", "engine"))
			env.Setenv("KITESCOPE_CONFIG", filepath.Join(env.WorkDir, "config.yaml"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    cmdExits,
			"demoetcd": cmdDemoEtcd,
			"cut":      cmdCut,
			"sleep":    cmdSleep,
			"gunzip":   cmdGunzip,
			"recorded": cmdRecorded,
		},
	})
}

// cmdExits runs a program and fails unless it exits with CODE: exits CODE PROGRAM ARG...
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// cmdDemoEtcd starts the demo's etcd inside the test. It sets ETCD, ROOT and PROXYPORT, the port of the proxy's
// HTTP server.
func cmdDemoEtcd(ts *testscript.TestScript, _ bool, _ []string) {
	demo, err := startDemo(context.Background())
	ts.Check(err)
	ts.Defer(demo.stop)
	ts.Setenv("ETCD", demo.host)
	ts.Setenv("ROOT", demo.root)
	ts.Setenv("PROXYPORT", demo.ProxyPort())
}

// cmdSleep sleeps for a duration: sleep DURATION.
func cmdSleep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sleep DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(d)
}

// cmdCut copies the first SIZE bytes of a file: cut FROM TO SIZE.
func cmdCut(ts *testscript.TestScript, _ bool, args []string) {
	var size int64
	if _, err := fmt.Sscan(args[2], &size); err != nil {
		ts.Fatalf("usage: cut FROM TO SIZE")
	}
	in, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer in.Close()
	out, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	_, err = io.CopyN(out, in, size)
	ts.Check(err)
	ts.Check(out.Close())
}

// cmdGunzip decompresses a file: gunzip FROM TO.
func cmdGunzip(ts *testscript.TestScript, _ bool, args []string) {
	in, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer in.Close()
	z, err := gzip.NewReader(in)
	ts.Check(err)
	text, err := io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}
