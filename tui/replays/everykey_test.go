package replays

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestPressEveryKey: no key breaks anything.
func TestPressEveryKey(t *testing.T) {
	for _, of := range []func(*testing.T) *Data{resultData, predictionData} {
		synctest.Test(t, func(t *testing.T) {
			driveReplay(t, of(t), 80, 24).PressEach("", tuitest.Keyboard())
		})
	}
}
