package balance

import (
	"testing"
	"testing/synctest"

	"kitescope/inspect/history"
	"kitescope/tui/tuitest"
)

// TestPressEveryKey presses all keys where nodes were asked: no key breaks anything.
func TestPressEveryKey(t *testing.T) {
	c := tuitest.Asked(t, captured("cluster-2.3.5-t7"))
	for _, way := range []string{"7", "7 m", "7 down*5 enter"} {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, testConfig(), 80, 24)
			d.Send(history.Update{Cluster: c})
			d.PressEach(way, tuitest.Keyboard())
		})
	}
}
