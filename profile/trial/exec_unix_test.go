//go:build unix

package trial

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStubbornServiceIsEnded(t *testing.T) {
	tr := servedTrial(t, "stubborn")
	r, err := measureOne(t.Context(), tr)
	if err != nil || r.Failed != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if responds(t.Context(), tr.plan.Ready) {
		t.Error("the service is still there")
	}
}

// TestNothingIsLeftBehind checks that processes that a load leaves running do not survive it.
func TestNothingIsLeftBehind(t *testing.T) {
	c := command{
		words: []string{"sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"}, dir: t.TempDir(),
		out: filepath.Join(t.TempDir(), "x.out"), timeout: time.Minute,
	}
	r, err := c.run(t.Context())
	if err != nil || r.failed != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	pid, err := strconv.Atoi(outputTail(c.out))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil &&
			strings.Contains(string(state), ") Z ") {
			return // a zombie
		}
		if syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
