package pull_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"kitescope/profile/pull"
)

// TestSecretsInResponses checks that sent credentials are removed from text of the server: at the truncated end
// of a message, in a busy message, and as a key of a query without a value.
func TestSecretsInResponses(t *testing.T) {
	t.Parallel()
	const secret = "sesame-open-up"
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := "no: " + r.Header.Get("Authorization") + " " + r.URL.RawQuery
		switch {
		case strings.HasPrefix(r.URL.Path, "/long"):
			said = strings.Repeat("x", 285) + " " + said
		case strings.HasPrefix(r.URL.Path, "/busy"):
			said = "cpu profiling already in use " + said
		}
		http.Error(w, said, http.StatusInternalServerError)
	}))
	for _, word := range []string{"/long/heap", "/busy/profile", "/heap?" + secret, "/heap?token=" + secret} {
		var told strings.Builder
		m, err := pull.Run(t.Context(), []pull.Target{target(t, s.URL+word)}, pull.Options{
			Seconds: 1, BusyWait: time.Millisecond, Header: http.Header{"Authorization": {"Bearer " + secret}},
			Progress: func(e pull.Event) { told.WriteString(e.Reason + "\n") },
		}, t.TempDir())
		if err != nil || m.Failed() != 1 {
			t.Fatalf("%s: %v %+v", word, err, m)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if all := string(text) + told.String(); strings.Contains(all, secret[:6]) {
			t.Errorf("%s: a secret is told: %s", word, all)
		}
	}
}

// TestSecretsOfServers checks that secrets of the server are removed from its messages and its status line.
func TestSecretsOfServers(t *testing.T) {
	t.Parallel()
	const planted = `cannot reach minio: secretAccessKey="PLANTED-a", password: PLANTED-b, token=PLANTED-c, http://root:PLANTED-d@minio:9000/`
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/status/heap":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 503 " + planted + "\r\nContent-Length: 0\r\n\r\n"))
			_ = conn.Close()
		case "/busy/heap":
			http.Error(w, "profiling already in use: "+planted, http.StatusInternalServerError)
		case "/moved/heap":
			http.Redirect(w, r, "/login?token=PLANTED-e", http.StatusFound)
		default:
			http.Error(w, planted, http.StatusForbidden)
		}
	}))
	for _, path := range []string{"/status/heap", "/busy/heap", "/moved/heap", "/heap"} {
		var told strings.Builder
		m, err := pull.Run(t.Context(), []pull.Target{target(t, s.URL+path)}, pull.Options{
			BusyWait: time.Millisecond, Progress: func(e pull.Event) { told.WriteString(e.Reason + "\n") },
		}, t.TempDir())
		if err != nil || m.Failed() != 1 {
			t.Fatalf("%s: %v %+v", path, err, m)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		all := string(text) + told.String()
		if strings.Contains(all, "PLANTED") || path != "/moved/heap" && !strings.Contains(all, "cannot reach minio") {
			t.Errorf("%s: %s", path, all)
		}
	}
}

// TestURLCredentialsPrecedence checks that credentials of a URL take precedence over the common header, and that a Host
// header is sent.
func TestURLCredentialsPrecedence(t *testing.T) {
	heap := fixture(t, "milvus-heap.pb.gz")
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, basic := r.BasicAuth()
		own := basic && user == "ann" && password == "own"
		if r.Host != "inside.example" || own != strings.HasPrefix(r.URL.Path, "/own") ||
			!own && r.Header.Get("Authorization") != "Bearer all" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		_, _ = w.Write(heap)
	}))
	host := strings.TrimPrefix(s.URL, "http://")
	m, err := pull.Run(t.Context(),
		[]pull.Target{target(t, "http://ann:own@"+host+"/own/heap"), target(t, host+"/heap")}, pull.Options{
			Header: http.Header{"Authorization": {"Bearer all"}, "Host": {"inside.example"}},
		}, t.TempDir())
	if err != nil || m.Failed() != 0 {
		t.Fatalf("%v %+v", err, m)
	}
}

// TestSecondsInURL checks that seconds in a URL are its window, in the manifest and for deltas.
func TestSecondsInURL(t *testing.T) {
	t.Parallel()
	profilerMu.Lock()
	defer profilerMu.Unlock()
	s := start(t, realServer(""))
	m, err := pull.Run(t.Context(),
		[]pull.Target{
			target(t, s.URL+"/debug/pprof/profile?seconds=1"), target(t, s.URL+"/debug/pprof/allocs?seconds=1"),
		}, pull.Options{}, t.TempDir())
	if err != nil || m.Failed() != 0 {
		t.Fatalf("%v %+v", err, m)
	}
	for _, e := range m.Profiles {
		for _, note := range e.Notes {
			if strings.Contains(note, "asked for") {
				t.Errorf("%s: %s", e.Kind, note)
			}
		}
		if e.Seconds != 1 {
			t.Errorf("%s: %d seconds, want 1", e.Kind, e.Seconds)
		}
	}
}
