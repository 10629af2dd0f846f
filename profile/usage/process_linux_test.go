package usage

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// burner is the environment variable that turns the test binary into a program that burns CPU and waits.
const burner = "KITESCOPE_TEST_BURNER"

// The work of the burner before it reports that it is done.
const (
	burnt = 400 * time.Millisecond
	naps  = 200
)

func TestMain(m *testing.M) {
	if os.Getenv(burner) != "" {
		burn()
		return
	}
	os.Exit(m.Run())
}

func burn() {
	var r syscall.Rusage
	for n := 1; ; n++ {
		for i := range 1 << 20 {
			n += i & 1
		}
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil ||
			time.Duration(r.Utime.Nano()+r.Stime.Nano()) > burnt {
			break
		}
	}
	for range naps {
		time.Sleep(100 * time.Microsecond)
	}
	os.Stdout.WriteString("done")
	_, _ = io.ReadAll(os.Stdin)
}

// TestRealProcess compares readings of a child from /proc with the kernel's totals after its end. The child
// waits while it is read, so the load of the machine does not matter.
func TestRealProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), burner+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	target, err := OpenProcess(cmd.Process.Pid, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := target.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	last, err := target.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	kernel := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := time.Duration(kernel.Utime.Nano() + kernel.Stime.Nano()).Seconds()
	if got := last.Values[CPU]; got < burnt.Seconds()-0.02 || got > cpu+0.02 || got < cpu-0.15 {
		t.Errorf("CPU %.3f s; the kernel counted %.3f s by the end", got, cpu)
	}
	if got := last.Values[Voluntary]; got < naps/2 || got > float64(kernel.Nvcsw) {
		t.Errorf("%v switches; the kernel counted %d by the end", got, kernel.Nvcsw)
	}
	if got := last.Values[Involuntary]; got > float64(kernel.Nivcsw) {
		t.Errorf("%v involuntary switches; the kernel counted %d by the end", got, kernel.Nivcsw)
	}
	if got := last.Values[RSS]; got < 1<<20 || got > 1.5*float64(kernel.Maxrss<<10) {
		t.Errorf("%v bytes; the kernel saw %d at most", got, kernel.Maxrss<<10)
	}
	s := NewSeries(target.Name())
	s.Add(first)
	if p := s.Add(last); !(p.Values[CPU] > 0) || p.Restarted {
		t.Errorf("%+v", p)
	}
	if _, err := target.Read(context.Background()); !isEnded(err) {
		t.Errorf("after its end: %v", err)
	}
}

func isEnded(err error) bool {
	_, ok := errors.AsType[*EndedError](err)
	return ok
}
