package trial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOrphansCount says that work counts which the load itself does not wait for.
func TestOrphansCount(t *testing.T) {
	adopt()
	dir := t.TempDir()
	c := command{
		words: []string{"sh", "-c", `(sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; : > done' &); while [ ! -e done ]; do sleep 1; done`},
		dir:   dir, out: filepath.Join(t.TempDir(), "x.out"), timeout: time.Minute,
	}
	r, err := c.run(t.Context())
	if err != nil || r.failed != "" || r.use.cpu < 40*time.Millisecond {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFullDiskIsNoFaultOfTheLoad says whose fault it is when nothing can be kept.
func TestFullDiskIsNoFaultOfTheLoad(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.out")
	if err := os.Symlink("/dev/full", out); err != nil {
		t.Fatal(err)
	}
	c := command{words: []string{"echo", "something"}, dir: t.TempDir(), out: out, timeout: time.Minute}
	r, err := c.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no space left") || r.failed != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// orphanHelper starts a program as a trial does, tells its number, and is killed.
func orphanHelper() {
	c := command{words: []string{"sleep", "300"}, dir: ".", out: os.Args[1], timeout: time.Minute}
	p, err := c.start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.cmd.Process.Pid)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// TestNothingOutlivesAKill says that a load does not go on beside the session that goes on with its trial.
func TestNothingOutlivesAKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, filepath.Join(t.TempDir(), "x.out"))
	cmd.Env = append(os.Environ(), helperVariable+"=orphan")
	text, err := cmd.Output()
	pid, numberErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil || numberErr != nil {
		t.Fatalf("the helper was to be killed: %v, %q", err, text)
	}
	for range 500 {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
