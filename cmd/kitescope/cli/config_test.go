package cli

import (
	"testing"
	"time"

	"kitescope/inspect/session/demo"
)

// TestUseContext checks that switching from the demo to another cluster resets the clock and the flags of the
// demo.
func TestUseContext(t *testing.T) {
	today := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	a := &App{
		Streams: &Streams{Now: func() time.Time { return today }}, Demo: &LazyDemo{},
		Flags: GlobalFlags{From: demo.From, Root: "by-dev"},
	}
	a.SetDemoClock()
	if now := a.Now(); now.Equal(today) {
		t.Fatalf("the clock of the demo is %s", now)
	}
	a.UseContext("prod")
	if now := a.Now(); !now.Equal(today) || a.Flags.From != "" || a.Flags.Root != "" || a.Flags.Context != "prod" {
		t.Errorf("the clock is %s, the flags are %+v", now, a.Flags)
	}
	a.SetDemoClock()
	if now := a.Now(); now.Equal(today) {
		t.Error("back in the demo, the clock is that of the process")
	}
}
