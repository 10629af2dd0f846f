//go:build unix

package symbol

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestSearchPassesOver pipes behind links, links in a circle and links to nothing.
func TestSearchPassesOver(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"pipe.so": pipe, "circle": dir, "self": filepath.Join(dir, "self"), "nothing.so": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sound, err := os.ReadFile(written(t, buildIDNote()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sound.so"), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan *folders, 1)
	go func() {
		f, err := search(context.Background(), []string{dir})
		if err != nil {
			t.Error(err)
		}
		done <- f
	}()
	select {
	case f := <-done:
		if f == nil || len(f.byID["abcdef01"]) != 1 || len(f.idOf) != 1 {
			t.Errorf("%+v", f)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a pipe")
	}
}
