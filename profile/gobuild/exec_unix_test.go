//go:build unix

package gobuild

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCancelEndsTheWholeGroup puts a go command in the way that starts another process, as the real one starts
// compilers, and waits for it.
func TestCancelEndsTheWholeGroup(t *testing.T) {
	bin, tmp := t.TempDir(), t.TempDir()
	pids := filepath.Join(tmp, "pids")
	script := "#!/bin/sh\ncd $GOTMPDIR && cd $TMPDIR || exit 1\nsleep 600 &\necho $! >pids.new\nmv pids.new pids\nwait\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := goCommand(ctx, bin, tmp, nil, "build")
		done <- err
	}()
	var child int
	for range 3000 {
		if b, err := os.ReadFile(pids); err == nil {
			if child, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if child == 0 {
		t.Fatal("the process was not started")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for range 3000 {
		if err := syscall.Kill(child, 0); errors.Is(err, syscall.ESRCH) || zombie(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("what it had started goes on")
}

// zombie reports whether a process is dead and waits for its parent to notice.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}
