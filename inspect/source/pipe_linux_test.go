// Recordings are made by recording_test.go, which is excluded with the race detector.

//go:build !race

package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kitescope/inspect/source"
)

// TestPipesEnd checks that opening a pipe without a writer ends with the context, and that a pipe is not read
// as a chunk of a recording.
func TestPipesEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, source.ChunkName(2, began))
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := source.Open(ctx, pipe, source.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a pipe: %v", err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, source.ChunkName(3, began))); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Open(t.Context(), dir, source.Options{}); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a recording of a pipe and a device: %v", err)
	}
}

// TestLinkedChunks reads a recording whose chunk is a symbolic link.
func TestLinkedChunks(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 40)
	chunk, _ := chunkOf(t, past, h, s.compacted, s.newest, true)
	dir, name := t.TempDir(), source.ChunkName(1, began)
	if err := os.Symlink(filepath.Join(recordingOf(t, chunk), name), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	src := open(t, dir, source.Options{})
	defer src.Close()
	testPast(t, src, s)
}
