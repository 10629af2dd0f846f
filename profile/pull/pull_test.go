package pull_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kitescope/profile"
	"kitescope/profile/pull"
)

// TestMain runs up to 8 tests in parallel on any machine, because they mostly wait for deadlines.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// profilerMu serializes tests that take real CPU profiles or traces, because a process makes one at a time.
var profilerMu sync.Mutex

// realServer serves the profiles of the test process, below a prefix.
func realServer(prefix string) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc(prefix+"/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
		pprof.Index(w, r)
	})
	mux.HandleFunc(prefix+"/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc(prefix+"/debug/pprof/trace", pprof.Trace)
	return mux
}

func start(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func target(t *testing.T, word string) pull.Target {
	t.Helper()
	got, err := pull.ParseTarget(word, "")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// burn uses CPU until the test ends. cpuTime returns the CPU time used so far, which is less than the elapsed time
// on a busy machine. It adds up steps of some microseconds, without steps that took a millisecond or longer.
func burn(t *testing.T) (cpuTime func() time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var sum atomic.Int64
	wg.Go(func() {
		for x, last := 1.0, time.Now(); ctx.Err() == nil; {
			for range 1000 {
				x *= 1.0000001
			}
			now := time.Now()
			if step := now.Sub(last); step < time.Millisecond {
				sum.Add(int64(step))
			}
			last = now
		}
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	return func() time.Duration { return time.Duration(sum.Load()) }
}

// pullOne pulls, and fails the test unless there is exactly one entry.
func pullOne(t *testing.T, word string, opts pull.Options) pull.Entry {
	t.Helper()
	m, err := pull.Run(t.Context(), []pull.Target{target(t, word)}, opts, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Profiles) != 1 {
		t.Fatalf("%d entries, want one: %+v", len(m.Profiles), m.Profiles)
	}
	return m.Profiles[0]
}

// noLeftovers checks that a folder has only its manifest and the files listed in it.
func noLeftovers(t *testing.T, dir string, m *pull.Manifest) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		named := e.Name() == pull.ManifestName ||
			slices.ContainsFunc(m.Profiles, func(x pull.Entry) bool { return x.File == e.Name() })
		if !named {
			t.Errorf("%s was left", e.Name())
		}
	}
}

// TestRealProcess takes every kind from net/http/pprof.
func TestRealProcess(t *testing.T) {
	t.Parallel()
	profilerMu.Lock()
	defer profilerMu.Unlock()
	burnt := burn(t)
	s := start(t, realServer(""))
	dir := filepath.Join(t.TempDir(), "out")
	begun := time.Now()
	m, err := pull.ToFolder(t.Context(), []pull.Target{target(t, "me="+s.URL)},
		pull.Options{Kinds: pull.Kinds(), Seconds: 1, Tool: "v1", Command: "kitescope profile pull"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %s: deltas share the window of the CPU profile, a trace has one more", took)
	}
	if m.Failed() != 0 || len(m.Profiles) != len(pull.Kinds()) {
		t.Fatalf("%d failed of %d: %+v", m.Failed(), len(m.Profiles), m.Profiles)
	}
	byKind := map[pull.Kind]pull.Entry{}
	for _, e := range m.Profiles {
		byKind[e.Kind] = e
		if e.Node != "me" || len(e.SHA256) != 64 || e.Bytes == 0 || e.From.IsZero() || !e.To.After(e.From) ||
			e.Attempts < 1 {
			t.Errorf("%s: %+v", e.Kind, e)
		}
	}
	cpu := byKind[pull.CPU]
	// The CPU profile covers one of the two or three seconds of the test, so it has only a part of the CPU time
	// used.
	least := burnt().Seconds() / 10
	if cores, ok := cpu.BusyCores(); !ok || cores*cpu.To.Sub(cpu.From).Seconds() < least || cpu.Samples == nil ||
		float64(*cpu.Samples) < 100*least-1 || cpu.Type != "cpu" || cpu.Unit != "nanoseconds" {
		t.Errorf("CPU of a busy process: %v, %v: %+v", cores, ok, cpu)
	}
	if window := cpu.To.Sub(cpu.From); window < 900*time.Millisecond || window > 10*time.Second {
		t.Errorf("window of the CPU profile: %s", window)
	}
	if d := byKind[pull.Allocs+"-delta"]; d.To.Sub(d.From) < 900*time.Millisecond ||
		d.URL != s.URL+"/debug/pprof/allocs?seconds=1" {
		t.Errorf("delta: %+v", d)
	}
	if mutex := byKind[pull.Mutex]; len(mutex.Notes) == 0 || !strings.Contains(mutex.Notes[0], "rate is not set") ||
		mutex.Outcome != pull.OK {
		t.Errorf("mutex profile without a rate: %+v", mutex)
	}
	if g := byKind[pull.Goroutine]; g.Total == nil || *g.Total < 2 {
		t.Errorf("goroutines: %+v", g)
	}
	if tr := byKind[pull.Trace]; !strings.HasSuffix(tr.File, ".trace.out") {
		t.Errorf("trace: %+v", tr)
	}
	noLeftovers(t, dir, m)
	readBack(t, dir, m)
}

// readBack reads a folder and compares it with the manifest returned when it was written.
func readBack(t *testing.T, dir string, m *pull.Manifest) {
	t.Helper()
	r, err := pull.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Items) != len(m.Profiles)-m.Failed() || len(r.Problems) != 0 || r.Rolling {
		t.Fatalf("%d items, problems %v", len(r.Items), r.Problems)
	}
	for _, item := range r.Items {
		in, err := item.Open()
		if err != nil {
			t.Fatal(err)
		}
		if item.Kind != pull.Trace {
			if _, err := profile.Decode(t.Context(), in, profile.Limits{}); err != nil {
				t.Errorf("%s: %v", item.Name, err)
			}
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRoutes checks that profiles are found at other paths, and that URLs of single profiles work.
func TestRoutes(t *testing.T) {
	t.Parallel()
	profilerMu.Lock()
	defer profilerMu.Unlock()
	mux := realServer("/api")
	// Like the middleware of fiber: only profiles, no index, and a text for other paths.
	mux.HandleFunc("/svc/pprof/goroutine", pprof.Handler("goroutine").ServeHTTP)
	mux.HandleFunc("/internal/goroutines-now", pprof.Handler("goroutine").ServeHTTP)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "Cannot GET "+r.URL.Path, http.StatusNotFound)
	})
	s := start(t, mux)
	for _, c := range []struct {
		word string
		kind pull.Kind
		want pull.Outcome
	}{
		{s.URL + "/api/debug/pprof", "goroutine", pull.OK},
		{s.URL + "/api/debug/pprof/", "goroutine", pull.OK},
		{s.URL + "/svc/pprof", "goroutine", pull.OK},
		{s.URL + "/api/debug/pprof/heap", "heap", pull.OK},
		{s.URL + "/api/debug/pprof/heap?gc=1", "heap", pull.OK},
		{s.URL + "/api/debug/pprof/allocs?seconds=1", "allocs-delta", pull.OK},
		{s.URL + "/internal/goroutines-now?x=1", "goroutines-now", pull.OK},
		{strings.TrimPrefix(s.URL, "http://") + "/svc/pprof", "goroutine", pull.OK},
		{s.URL, "goroutine", pull.NotFound},
	} {
		e := pullOne(t, c.word, pull.Options{Kinds: []pull.Kind{pull.Goroutine}, Seconds: 1})
		if e.Outcome != c.want || e.Kind != c.kind {
			t.Errorf("%s: %s %s %q, want %s %s", c.word, e.Kind, e.Outcome, e.Error, c.kind, c.want)
		}
	}
}

// TestTLS checks verification of server certificates, a custom authority, and client certificates.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(realServer(""))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	with := func(c *tls.Config) pull.Entry {
		return pullOne(t, s.URL, pull.Options{Kinds: []pull.Kind{pull.Goroutine}, TLS: c})
	}
	if e := with(nil); e.Outcome != pull.Denied || !strings.Contains(e.Error, "certificate") || e.Hint == "" {
		t.Errorf("unknown authority: %+v", e)
	}
	if e := with(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}); e.Outcome != pull.Denied {
		t.Errorf("no client certificate: %+v", e)
	}
	own := tls.Certificate{Certificate: s.TLS.Certificates[0].Certificate, PrivateKey: s.TLS.Certificates[0].PrivateKey}
	if e := with(&tls.Config{
		RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12,
	}); e.Outcome != pull.OK {
		t.Errorf("all that is wanted: %+v", e)
	}
	plain := start(t, realServer(""))
	if e := pullOne(t, "https://"+strings.TrimPrefix(plain.URL, "http://"),
		pull.Options{Kinds: []pull.Kind{pull.Heap}}); e.Outcome != pull.Denied || !strings.Contains(e.Hint, "http://") {
		t.Errorf("https to a plain server: %+v", e)
	}
}

// TestCredentials checks that credentials are sent, and do not appear in saved or reported text.
func TestCredentials(t *testing.T) {
	const password, token, key = "pass/w0rd?x", "t0ken-of-bearer", "k3y-of-header"
	var heard []string
	mux := realServer("")
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, ok := r.BasicAuth()
		switch {
		case ok && user == "ann" && pass == password && r.Header.Get("X-Api-Key") == key,
			r.Header.Get("Authorization") == "Bearer "+token:
			mux.ServeHTTP(w, r)
		default: // a server that repeats all credentials
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w,
				"no: "+pass+" "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key")+" "+r.URL.String())
		}
	}))
	host := strings.TrimPrefix(s.URL, "http://")
	progress := func(e pull.Event) { heard = append(heard, e.Node+e.Reason) }
	run := func(word, pass string, header http.Header) pull.Entry {
		t.Helper()
		parsed, err := pull.ParseTarget(word, pass)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "d")
		m, err := pull.ToFolder(t.Context(), []pull.Target{parsed}, pull.Options{
			Kinds: []pull.Kind{pull.Goroutine}, Header: header, Progress: progress, Command: pull.RedactWord(word),
		}, dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := os.ReadFile(filepath.Join(dir, pull.ManifestName))
		all := string(text) + string(kept) + strings.Join(heard, "\n")
		for _, secret := range []string{
			password, "pass%2Fw0rd", "pass/w0rd", token, key, "YW5uOnBhc3M", "secret-in-query", "wrong-one",
		} {
			if strings.Contains(all, secret) {
				t.Errorf("%q is told: %s", secret, all)
			}
		}
		return m.Profiles[0]
	}
	keyed := http.Header{"X-Api-Key": {key}}
	if e := run("http://ann:pass%2Fw0rd%3Fx@"+host, "", keyed); e.Outcome != pull.OK {
		t.Errorf("password in the URL: %+v", e)
	}
	if e := run("ann@"+host, password, keyed); e.Outcome != pull.OK {
		t.Errorf("password from elsewhere: %+v", e)
	}
	if e := run(host, "", http.Header{"Authorization": {"Bearer " + token}}); e.Outcome != pull.OK {
		t.Errorf("bearer: %+v", e)
	}
	if e := run("http://ann:wrong-one@"+host+"/debug/pprof/heap?token=secret-in-query", "", keyed); e.Outcome !=
		pull.Denied || !strings.Contains(e.Error, "401") || e.Hint == "" {
		t.Errorf("wrong password: %+v", e)
	}
	if e := run(host, "", http.Header{"Authorization": {"Bearer wrong-one"}}); e.Outcome != pull.Denied {
		t.Errorf("wrong token: %+v", e)
	}
}

// TestTogether checks that all windows start at once, even if some connections are slow, and that the pull ends with
// the window.
func TestTogether(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("../../testdata/profiles/milvus-cpu-flat.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var began []time.Time
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		began = append(began, time.Now())
		mu.Unlock()
		select {
		case <-time.After(time.Second):
			_, _ = w.Write(recorded)
		case <-r.Context().Done():
		}
	}))
	const count = 100
	var targets []pull.Target
	for i := range count {
		parsed := target(t, s.URL)
		parsed.Node = "node-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		parsed.URL.Path += "/" + parsed.Node + "/pprof"
		targets = append(targets, parsed)
	}
	slow := map[int]time.Duration{3: 300 * time.Millisecond, 50: 2 * time.Second}
	n := 0
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		wait := slow[n]
		n++
		mu.Unlock()
		time.Sleep(wait)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	begun := time.Now()
	m, err := pull.Run(t.Context(), targets, pull.Options{Seconds: 1, Dial: dial}, t.TempDir())
	if err != nil || m.Failed() > 0 {
		t.Fatalf("%v, %d failed: %+v", err, m.Failed(), m.Profiles[0])
	}
	if took := time.Since(begun); took > 15*time.Second { // one after another it would be 100 s
		t.Errorf("took %s for a window of 1 s", took)
	}
	slices.SortFunc(began, time.Time.Compare)
	// without a gate it would be the 2 s of the slowest connection
	if spread := began[count-1].Sub(began[0]); spread > 1500*time.Millisecond {
		t.Errorf("the windows began over %s", spread)
	}
}
