package pull_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kitescope/profile"
	"kitescope/profile/pull"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../testdata/profiles/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed returns size zeros compressed with gzip.
func packed(t *testing.T, size int) []byte {
	t.Helper()
	return gzipOf(t, io.LimitReader(zeros{}, int64(size)))
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	return gzipOf(t, strings.NewReader(text))
}

func gzipOf(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestFaults checks that each fault has its own outcome, and that no file is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	cpu, heap := fixture(t, "milvus-cpu-hnsw.pb.gz"), fixture(t, "milvus-heap.pb.gz")
	bomb := packed(t, 64<<20)
	send := func(contentType string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(body)
		}
	}
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, code) }
	}
	const binary = "application/octet-stream"
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    pull.Outcome
		says    string
	}{
		{"right", send(binary, cpu), pull.OK, ""},
		{"right, and called text", send("text/plain; charset=utf-8", cpu), pull.OK, ""},
		{"nothing", send(binary, nil), pull.NoProfile, "empty"},
		{"login page", send("text/html", []byte("<!DOCTYPE html><title>Sign in</title>")), pull.NoProfile, "HTML"},
		{"page without a type", send("", []byte("\n  <html><body>x")), pull.NoProfile, "HTML"},
		{"JSON", send("application/json", []byte(`{"error":"nope"}`)), pull.NoProfile, "JSON"},
		{
			"legacy text",
			send("text/plain", []byte("heap profile: 3: 48 [8: 120] @ heap/1048576\n1: 16 [1: 16] @ 0x1 0x2\n")),
			pull.NoProfile, "",
		},
		{"noise", send(binary, bytes.Repeat([]byte{0xff, 0x00, 0x13}, 99)), pull.NoProfile, ""},
		{"gzip of text", send(binary, gzipped(t, "once upon a time there was no profile")), pull.NoProfile, ""},
		{"another kind", send(binary, heap), pull.NoProfile, "another kind: heap, allocs"},
		{"trace", send(binary, fixture(t, "milvus-trace-3s.out")), pull.NoProfile, "execution trace"},
		{"cut, unsaid", send(binary, cpu[:len(cpu)/2]), pull.CutOff, ""},
		{"cut, length said", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "40000")
			_, _ = w.Write(cpu[:1000])
		}, pull.CutOff, "closed the connection"},
		{"bomb", send(binary, bomb), pull.TooLarge, ""},
		{"long", send(binary, bytes.Repeat([]byte("x"), 2<<20)), pull.TooLarge, "limit of 1048576"},
		{"long, length unsaid", func(w http.ResponseWriter, _ *http.Request) {
			for range 300 {
				_, _ = w.Write(make([]byte, 10000))
			}
		}, pull.TooLarge, "limit of 1048576"},
		{"404", status(http.StatusNotFound, "404 page not found"), pull.NotFound, "404"},
		{"405", status(http.StatusMethodNotAllowed, ""), pull.NotFound, "405"},
		{"403", status(http.StatusForbidden, "go away"), pull.Denied, "go away"},
		{
			"500", status(http.StatusInternalServerError, "boom\x1b[2J\nsecond line"), pull.Failed,
			"boom?[2J second line",
		},
		{"503", status(http.StatusServiceUnavailable, ""), pull.Failed, "503"},
		{
			"204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, pull.Failed,
			"204",
		},
		{
			"deadline of the server", status(http.StatusBadRequest, "profile duration exceeds server's WriteTimeout"),
			pull.Failed, "WriteTimeout",
		},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://ann:secret@login.example/in?next=secret", http.StatusFound)
		}, pull.Redirected, "to https://login.example/in"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, pull.TimedOut, "3s"},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}, pull.CutOff, ""},
		{"slow body", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(cpu[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, pull.TimedOut, ""},
		{"no HTTP", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = conn.Write([]byte("SSH-2.0-OpenSSH_9\r\n"))
			_ = conn.Close()
		}, pull.NoProfile, "not an HTTP server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.handler)
			dir := t.TempDir()
			m, err := pull.Run(t.Context(), []pull.Target{target(t, s.URL)}, pull.Options{
				Seconds: 1, Timeout: 2 * time.Second, MaxBytes: 1 << 20, Limits: profile.Limits{MaxBytes: 4 << 20},
			}, dir)
			if err != nil {
				t.Fatal(err)
			}
			e := m.Profiles[0]
			if e.Outcome != c.want || !strings.Contains(e.Error, c.says) || strings.Contains(e.Error, "secret") {
				t.Errorf("%s: %q, want %s: %q", e.Outcome, e.Error, c.want, c.says)
			}
			if (e.File != "") != (c.want == pull.OK) || (e.Error == "") != (c.want == pull.OK) {
				t.Errorf("file %q, error %q", e.File, e.Error)
			}
			noLeftovers(t, dir, m)
		})
	}
}

// TestUnreachable checks the outcomes for unreachable servers.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]pull.Outcome{
		"127.0.0.1:1": pull.Refused, "no-such-host.invalid:80": pull.Unreachable,
	} {
		e := pullOne(t, word, pull.Options{Timeout: 2 * time.Second})
		if e.Outcome != want || e.Error == "" {
			t.Errorf("%s: %s %q, want %s", word, e.Outcome, e.Error, want)
		}
	}
	// Nobody accepts the connection. Other processes must not wait for it.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := pullOne(t, "https://"+l.Addr().String(), pull.Options{Timeout: 300 * time.Millisecond})
	if e.Outcome != pull.Unreachable && e.Outcome != pull.TimedOut {
		t.Errorf("a server that is silent in the handshake: %s %q", e.Outcome, e.Error)
	}
}

// TestBusy checks that a pull waits until another profile has ended, and that the window in the Entry is that
// of the successful attempt.
func TestBusy(t *testing.T) {
	t.Parallel()
	recorded, n := fixture(t, "milvus-cpu-flat.pb.gz"), 0
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			http.Error(w, "Could not enable CPU profiling: cpu profiling already in use",
				http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(recorded)
	}))
	var waits atomic.Int32
	e := pullOne(t, s.URL, pull.Options{Seconds: 1, Progress: func(e pull.Event) {
		if e.State == pull.Waiting && strings.Contains(e.Reason, "already in use") {
			waits.Add(1)
		}
	}})
	if e.Outcome != pull.OK || e.Attempts != 2 || waits.Load() != 1 || e.To.Sub(e.From) > 30*time.Second {
		t.Errorf("%+v after %d waits", e, waits.Load())
	}
}

// TestBusyForEver checks that a pull gives up after BusyWait.
func TestBusyForEver(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
	}))
	if e := pullOne(t, s.URL, pull.Options{BusyWait: 700 * time.Millisecond}); e.Outcome != pull.Busy ||
		e.Attempts != 3 {
		t.Errorf("%+v", e)
	}
	if e := pullOne(t, s.URL, pull.Options{BusyWait: -1}); e.Outcome != pull.Busy || e.Attempts != 1 {
		t.Errorf("not to wait: %+v", e)
	}
}

// TestConnectionClosedWhileWaiting checks that a request is repeated if the server closed the waiting connection.
func TestConnectionClosedWhileWaiting(t *testing.T) {
	heap := fixture(t, "milvus-heap.pb.gz")
	var n atomic.Int32
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
			return
		}
		_, _ = w.Write(heap)
	}))
	if e := pullOne(t, s.URL, pull.Options{Kinds: []pull.Kind{pull.Heap}}); e.Outcome != pull.OK || e.Attempts != 2 {
		t.Errorf("%+v", e)
	}
}

// TestNoDelta checks that a whole profile is not accepted as a delta.
func TestNoDelta(t *testing.T) {
	allocs := fixture(t, "milvus-allocs.pb.gz")
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(allocs) }))
	if e := pullOne(t, s.URL, pull.Options{Kinds: []pull.Kind{"allocs-delta"}, Seconds: 1}); e.Outcome != pull.Failed ||
		!strings.Contains(e.Error, "deltas") {
		t.Errorf("%+v", e)
	}
}

// TestDiskFull checks that an error of writing files stops everything.
func TestDiskFull(t *testing.T) {
	s := start(t, realServer(""))
	_, err := pull.Run(t.Context(), []pull.Target{target(t, s.URL)}, pull.Options{Kinds: []pull.Kind{pull.Heap}},
		"no/such/folder")
	if err == nil || !strings.Contains(err.Error(), "save the profiles") {
		t.Errorf("error %v", err)
	}
}

// TestTotal checks that Total limits a process, whether each response, a busy profiler or all together is late.
func TestTotal(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"each answer late": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(700 * time.Millisecond):
			case <-r.Context().Done():
			}
			_, _ = w.Write([]byte("late"))
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{0x1f})
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		},
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Go-Pprof", "1")
			http.Error(w, "Could not enable CPU profiling: cpu profiling already in use",
				http.StatusInternalServerError)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, answer)
			begun := time.Now()
			m, err := pull.Run(t.Context(), []pull.Target{target(t, s.URL)}, pull.Options{
				Kinds: []pull.Kind{pull.CPU, pull.Heap, pull.Goroutine}, Seconds: 1, Timeout: 2 * time.Second,
				Total: time.Second, BusyWait: time.Minute,
			}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 2*time.Second+500*time.Millisecond {
				t.Errorf("took %v: a window of 1s and 1s beyond it", took)
			}
			for _, e := range m.Profiles {
				if e.Outcome == pull.OK || e.Outcome == pull.Interrupted {
					t.Errorf("%s: %s (%s)", e.Kind, e.Outcome, e.Error)
				}
			}
		})
	}
}
