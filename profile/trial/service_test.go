package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	profileread "kitescope/profile/read"
)

// helperVariable selects the helper program that the test's own binary runs.
const helperVariable = "KITESCOPE_TRIAL_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVariable) {
	case "serve":
		serveHelper()
	case "load":
		loadHelper()
	default:
		os.Unsetenv("GOFLAGS") // the flags that the tests were built with do not matter
		os.Exit(m.Run())
	}
}

// serveHelper is a service with profiles. Arguments: ADDRESS [dies|lame|stubborn].
func serveHelper() {
	mode := os.Args[len(os.Args)-1]
	if mode == "lame" {
		time.Sleep(time.Minute)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/work", func(http.ResponseWriter, *http.Request) {
		if mode == "dies" {
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(4)
		}
		spin()
	})
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM) // the request to end
	}
	server := http.Server{Addr: os.Args[1], Handler: mux, ReadHeaderTimeout: time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// spun keeps the compiler from optimizing spin away.
var spun atomic.Uint64

// spin consumes CPU time: 40 million multiplications, each depending on the one before, take 25 ms of CPU on
// the fastest known machine, no matter how busy the machine is.
func spin() {
	n := uint64(1)
	for i := range uint64(40_000_000) {
		n = n*31 + i
	}
	spun.Store(n)
}

// loadHelper sends requests to a service. Arguments: ADDRESS COUNT.
func loadHelper() {
	n, _ := strconv.Atoi(os.Args[2])
	for range n {
		answer, err := http.Get("http://" + os.Args[1] + "/work")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = answer.Body.Close()
	}
	fmt.Printf("BenchmarkAsked 1 %d ns/op\n", n)
}

// freeAddress returns an address without a listener. Its port is below the ephemeral range, because the
// listener starts later and more than once.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(10_000)))
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("none of a hundred ports is free")
	return ""
}

// servedTrial returns a trial of the helper, installed at the path where a build would write it.
func servedTrial(t *testing.T, mode string) *trial {
	t.Helper()
	t.Setenv(helperVariable, "serve")
	address := freeAddress(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{
		plan: Plan{
			Dir: t.TempDir(), Serve: "{bin} " + address + " " + mode, Ready: "http://" + address + "/health",
			PProf: "http://" + address,
			Load:  "env " + helperVariable + "=load {bin} " + address + " 5", Seconds: 1,
			ReadyTimeout: 20 * time.Second, Timeout: time.Minute,
			Folder: filepath.Join(t.TempDir(), "trial"),
		},
	}
	if err := tr.plan.validate(); err != nil {
		t.Fatal(err)
	}
	tr.folder, tr.report = folder(tr.plan.Folder), new(Report)
	file := tr.binary(sidePlain)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, file); err != nil {
		t.Fatal(err)
	}
	return tr
}

// measureOne makes one measured run.
func measureOne(ctx context.Context, tr *trial) (*Measured, error) {
	s := slot{number: 1, side: sidePlain}
	return tr.measureRun(ctx, s, tr.newRun(s, runName(s), false))
}

// outputTail returns the end of a program's output.
func outputTail(out string) string {
	text, _ := tail(out, tailLines)
	return text
}

func TestServiceUnderLoad(t *testing.T) {
	tr := servedTrial(t, "well")
	for range 2 { // the second run finds the address free again
		r, err := measureOne(t.Context(), tr)
		if err != nil || r.Failed != "" {
			t.Fatalf("%+v, %v: %s", r, err, outputTail(tr.folder.path("runs", "0001-a-service.out")))
		}
		values := map[string]float64{}
		for _, v := range r.Values {
			values[v.Metric.String()] = v.X
		}
		// Five requests of 25 ms each use CPU time of the service, not of the load.
		if cpu := values[MetricCPU]; cpu < 0.05 || cpu > 20 {
			t.Errorf("CPU time of the service: %g s", cpu)
		}
		if values["BenchmarkAsked: time/op"] != 5e-9 || values[MetricWall] < 0.1 {
			t.Errorf("values: %v", values)
		}
	}
}

func TestServiceIsProfiled(t *testing.T) {
	tr := servedTrial(t, "well")
	// the end of the window stops it
	tr.plan.Seconds, tr.plan.Load = 2, strings.Replace(tr.plan.Load, " 5", " 100000", 1)
	r := tr.newRun(slot{number: 1, side: sidePlain}, "profile-1", true)
	r.window = 2 * time.Second
	got, err := tr.perform(t.Context(), r)
	if err != nil || got.failed != "" {
		text, _ := r.tail()
		t.Fatalf("%+v, %v: %s", got, err, text)
	}
	p, err := profileread.Open(t.Context(), r.profile, profileread.Options{})
	if err != nil || eventsOf(p) < 1 {
		t.Fatalf("the profile of two busy seconds: %v", err)
	}
	if got.wall < 2*time.Second {
		t.Errorf("a window of two seconds took %s", got.wall)
	}
}

func TestServiceFails(t *testing.T) {
	for mode, want := range map[string]string{
		"dies": "the service ended before the load did: exit status 4",
		"lame": "the service was not up after",
	} {
		t.Run(mode, func(t *testing.T) {
			tr := servedTrial(t, mode)
			if mode == "lame" {
				tr.plan.ReadyTimeout = 300 * time.Millisecond
			}
			began := time.Now()
			r, err := measureOne(t.Context(), tr)
			if err != nil || !strings.Contains(r.Failed, want) {
				t.Errorf("%+v, %v", r, err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s to see", took)
			}
		})
	}
	t.Run("somebody answers already", func(t *testing.T) {
		tr := servedTrial(t, "well")
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", strings.Fields(tr.plan.Serve)[1])
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		tr.plan.Ready = l.Addr().String()
		_, err = measureOne(t.Context(), tr)
		if mistake, ok := errors.AsType[*PlanError](err); !ok || !strings.Contains(err.Error(), "something responds") ||
			mistake.Hint() == "" {
			t.Errorf("got %v", err)
		}
	})
}

func TestServiceEndsWithTheTrial(t *testing.T) {
	tr := servedTrial(t, "well")
	tr.plan.Load = strings.Replace(tr.plan.Load, " 5", " 100000", 1)
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if _, err := measureOne(ctx, tr); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if responds(t.Context(), tr.plan.Ready) {
		t.Error("the service is still there")
	}
}

func TestTimeout(t *testing.T) {
	c := command{
		words: []string{"sh", "-c", "echo begun; sleep 100 & sleep 100"}, dir: t.TempDir(),
		out: filepath.Join(t.TempDir(), "x.out"), timeout: 300 * time.Millisecond,
	}
	began := time.Now()
	r, err := c.run(t.Context())
	if err != nil || !strings.Contains(r.failed, "timeout") || outputTail(c.out) != "begun" {
		t.Errorf("%+v, %v, said %q", r, err, outputTail(c.out))
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

func TestOutputIsBounded(t *testing.T) {
	var kept strings.Builder
	b := &limitedWriter{w: nopCloser{&kept}, left: 5}
	for _, text := range []string{"abc", "defg", "h"} {
		if n, err := b.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if kept.String() != "abcde" {
		t.Errorf("kept %q", kept.String())
	}
}

type nopCloser struct{ *strings.Builder }

func (nopCloser) Close() error { return nil }

// TestChildrenCount checks that children that a program waits for are measured with it.
func TestChildrenCount(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	c := command{
		words: []string{"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done & wait"}, dir: t.TempDir(),
		out: filepath.Join(t.TempDir(), "x.out"), timeout: time.Minute,
	}
	r, err := c.run(t.Context())
	if err != nil || r.failed != "" || !r.use.known || r.use.cpu < 20*time.Millisecond {
		t.Errorf("%+v, %v", r, err)
	}
}
