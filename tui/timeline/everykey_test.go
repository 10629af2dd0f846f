package timeline

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestPressEveryKey presses all keys on the timeline and in the list of events: no key breaks anything.
func TestPressEveryKey(t *testing.T) {
	for _, way := range []string{"0", "g e"} {
		synctest.Test(t, func(t *testing.T) {
			driven(t, "cluster-2.3.5-t5", 80, 24).PressEach(way, tuitest.Keyboard())
		})
	}
}
