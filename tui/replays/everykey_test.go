package replays

import (
	"testing"
	"testing/synctest"

	"kitescope/replay"
	"kitescope/tui/tuitest"
)

// TestPressEveryKey presses all keys on all parts: no key breaks anything.
func TestPressEveryKey(t *testing.T) {
	run := func() *Data { return replayOf(replayRun()) }
	for _, x := range []struct {
		way string
		of  func() *Data
	}{
		{"", run},
		{"tab", run},
		{"tab*2", run},
		{"tab*2 enter", run},
		{"tab*3", run},
		{"tab*3 enter", run},
		{"tab*4", func() *Data { return replayOf(replayTrouble()) }},
		{"tab", func() *Data { return replayOf(replaySweep()) }},
		{"tab enter", func() *Data { return replayOf(replaySweep()) }},
		{"tab*2", func() *Data { return replayOf(replaySweep()) }},
		{"", func() *Data { return replayOf(&replay.Result{Kind: "run"}) }},
		{"", replayPrediction},
		{"tab", replayPrediction},
	} {
		synctest.Test(t, func(t *testing.T) {
			driveReplay(t, x.of(), 80, 24).PressEach(x.way, tuitest.Keyboard())
		})
	}
}
