package pull_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"kitescope/profile/pull"
)

// TestInterrupted checks that a pull stops at once and leaves only complete profiles.
func TestInterrupted(t *testing.T) { // not parallel, because goroutines are counted
	heap, err := os.ReadFile("../../testdata/profiles/milvus-heap.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/heap") {
			_, _ = w.Write(heap)
			close(served)
			return
		}
		_, _ = w.Write([]byte{0x1f, 0x8b})
		w.(http.Flusher).Flush()
		<-served
		time.AfterFunc(2*time.Second, stop) // the profile is complete by then, even under the race detector
		<-r.Context().Done()
	}))
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	begun := time.Now()
	m, err := pull.ToFolder(ctx,
		[]pull.Target{target(t, "a="+s.URL+"/debug/pprof/heap"), target(t, "b="+s.URL+"/debug/pprof/profile")},
		pull.Options{Seconds: 30}, dir)
	if !errors.Is(err, context.Canceled) || time.Since(begun) > 15*time.Second {
		t.Fatalf("%v after %s", err, time.Since(begun))
	}
	if len(m.Profiles) != 2 || m.Profiles[0].Outcome != pull.OK || m.Profiles[1].Outcome != pull.Interrupted ||
		m.Profiles[1].File != "" {
		t.Errorf("%+v", m.Profiles)
	}
	noLeftovers(t, dir, m)
	if entries, _ := os.ReadDir(parent); len(entries) != 1 {
		t.Errorf("left beside it: %v", entries)
	}
	readBack(t, dir, m)
	s.Close()
	http.DefaultClient.CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestNoProfiles checks that no folder is created without a profile.
func TestNoProfiles(t *testing.T) {
	parent := t.TempDir()
	m, err := pull.ToFolder(t.Context(),
		[]pull.Target{target(t, "127.0.0.1:1"), {Node: "proxy-4", Unknown: "nothing tells its port"}}, pull.Options{},
		filepath.Join(parent, "x"))
	if err != nil || m.Failed() != 2 {
		t.Fatalf("%v, %+v", err, m)
	}
	if m.Profiles[0].Outcome != pull.Refused || m.Profiles[1].Outcome != pull.NotAsked ||
		m.Profiles[1].Error != "nothing tells its port" {
		t.Errorf("%+v", m.Profiles)
	}
	if entries, _ := os.ReadDir(parent); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}

// TestFolderExists checks that a folder that is not empty is left unchanged.
func TestFolderExists(t *testing.T) {
	dir := t.TempDir()
	s := start(t, realServer(""))
	opts := pull.Options{Kinds: []pull.Kind{pull.Heap}}
	if _, err := pull.ToFolder(t.Context(), []pull.Target{target(t, s.URL)}, opts, dir); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := pull.ToFolder(t.Context(), []pull.Target{target(t, s.URL)}, opts, dir); !errors.Is(err,
		pull.ErrExists) {
		t.Errorf("a folder with profiles: %v", err)
	}
	if _, err := pull.ToFolder(t.Context(), []pull.Target{target(t, s.URL)}, opts,
		filepath.Join(dir, "no", "such")); err == nil {
		t.Error("a folder in none")
	}
}

// TestManifestIsDocumented checks that docs/PULL.md describes all keys of a manifest.
func TestManifestIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/PULL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[pull.Manifest](), reflect.TypeFor[pull.Entry]()} {
		for field := range of.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key == "" || !strings.Contains(string(text), "`"+key+"`") {
				t.Errorf("%s.%s: key %q is not documented", of.Name(), field.Name, key)
			}
		}
	}
	for _, outcome := range []pull.Outcome{
		pull.OK, pull.NotAsked, pull.Unreachable, pull.Refused, pull.TimedOut, pull.Denied, pull.NotFound,
		pull.Redirected, pull.Busy, pull.NoProfile, pull.TooLarge, pull.CutOff, pull.Failed, pull.Interrupted,
	} {
		if !strings.Contains(string(text), "`"+string(outcome)+"`") {
			t.Errorf("outcome %q is not documented", outcome)
		}
	}
}

// TestManifestOmitsTheUnknown checks that unknown values are omitted, never 0.
func TestManifestOmitsTheUnknown(t *testing.T) {
	text, err := json.Marshal(pull.Entry{Node: "q", Kind: pull.CPU, Outcome: pull.Refused, Error: "no"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"node":"q","kind":"cpu","outcome":"refused","error":"no"}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
}
