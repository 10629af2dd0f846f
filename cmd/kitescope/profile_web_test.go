package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestProfileWeb serves two profiles and asks for pages, as a browser does and as one of another
// host would.
func TestProfileWeb(t *testing.T) {
	profiles := filepath.Join("..", "..", "testdata", "profiles")
	t.Setenv("TMPDIR", t.TempDir()) // what is left there is ours
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, told := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, scripted(told, io.Discard, nil), []string{
			"profile", "web", filepath.Join(profiles, "milvus-cpu-hnsw.pb.gz"), "--base", filepath.Join(profiles, "milvus-cpu-flat.pb.gz"),
		})
		_ = told.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v, exit code %d", err, <-code)
	}
	address := strings.TrimSpace(line)
	get := func(path, host string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			request.Host = host
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	if status, text := get("top", ""); status != http.StatusOK || !strings.Contains(text, "[libknowhere.so]") {
		t.Errorf("top: status %d, %.200s", status, text)
	}
	if status, _ := get("flamegraph", ""); status != http.StatusOK {
		t.Errorf("flamegraph: status %d", status)
	}
	if status, _ := get("top", "elsewhere.example"); status != http.StatusForbidden {
		t.Errorf("asked by another name: status %d, want 403", status)
	}
	stop()
	if got := <-code; got != cli.ExitOK {
		t.Errorf("interrupted: exit code %d, want 0", got)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "kitescope-web-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
