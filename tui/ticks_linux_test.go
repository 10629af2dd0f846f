package tui

import (
	"syscall"
	"testing"
	"time"

	"kitescope/tui/tuitest"
)

func TestIdleCPU(t *testing.T) {
	cfg := testConfig()
	cfg.Feed = tuitest.Once(tuitest.Fixture())
	p := started(cfg, 80, 24)
	p.Wait(t, "160,452")
	time.Sleep(time.Second / 2)
	wakeups := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return u.Nvcsw
	}
	const seconds = 2
	before := wakeups()
	time.Sleep(seconds * time.Second)
	if n := (wakeups() - before) / seconds; n > 30 {
		t.Errorf("a screen that stands still wakes the process %d times a second, want at most 30", n)
	}
	p.Interrupt(t)
}
