package recorded_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live/recorded"
)

// TestProfiles checks that recorded profiles are served as by net/http/pprof.
func TestProfiles(t *testing.T) {
	cpu, heap := "\x1f\x8bcpu as it was", "\x1f\x8bheap as it was"
	s := start(t, recorded.Options{Profiles: map[string]map[string][]byte{
		"10.0.0.7:9091":  {"profile": []byte(cpu), "heap": []byte(heap)},
		"10.0.0.9:20131": {"heap": []byte(heap)}, // nothing else of this process was recorded
	}})
	web, ok := s.Address("10.0.0.7:9091")
	other, okOther := s.Address("10.0.0.9:20131")
	if !ok || !okOther {
		t.Fatal("nothing is served")
	}
	base := "http://" + web + "/debug/pprof/"
	for path, want := range map[string]struct {
		code int
		text string
	}{
		base:                                    {http.StatusOK, "<a href=\"heap\">heap</a>"},
		base + "heap":                           {http.StatusOK, heap},
		base + "heap?gc=1":                      {http.StatusOK, heap},
		base + "profile?seconds=1":              {http.StatusOK, cpu},
		base + "mutex":                          {http.StatusNotFound, "Unknown profile"},
		base + "heap?seconds=1":                 {http.StatusBadRequest, "not supported"},
		base + "heap?debug=1":                   {http.StatusNotFound, "not recorded"},
		"http://" + other + "/debug/pprof/heap": {http.StatusOK, heap},
		"http://" + other + "/metrics":          {http.StatusNotFound, ""},
		"http://" + web + "/metrics":            {http.StatusOK, "first 1"},
	} {
		begun := time.Now()
		text, code := get(t, path)
		if code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want.code, want.text)
		}
		if strings.HasSuffix(path, "seconds=1") && code == http.StatusOK && time.Since(begun) < time.Second {
			t.Errorf("%s came after %s", path, time.Since(begun))
		}
	}
}

// TestOneProfileAtATime checks that a second CPU profile is refused as by runtime/pprof, and that one succeeds
// after the client of the first has gone.
func TestOneProfileAtATime(t *testing.T) {
	s := start(t, recorded.Options{Profiles: map[string]map[string][]byte{"10.0.0.7:9091": {"profile": []byte("cpu")}}})
	web, _ := s.Address("10.0.0.7:9091")
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+web+"/debug/pprof/profile", nil)
		if err != nil {
			t.Error(err)
			return
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			t.Error("30 s are over already")
		}
	}()
	url := "http://" + web + "/debug/pprof/profile?seconds=1"
	time.Sleep(300 * time.Millisecond) // the first has started
	if text, code := get(t, url); code != http.StatusInternalServerError ||
		!strings.Contains(text, "cpu profiling already in use") {
		t.Errorf("two profiles at once: %d %q", code, text)
	}
	leave()
	<-gone
	for range 100 {
		if text, code := get(t, url); code == http.StatusOK && text == "cpu" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the profiler stays in use after who used it has gone")
}
