package replays

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestPressEveryKey checks that no key breaks the page.
func TestPressEveryKey(t *testing.T) {
	for _, of := range []func(*testing.T) *Data{resultData, predictionData} {
		synctest.Test(t, func(t *testing.T) {
			driveReplay(t, of(t), 80, 24).PressEach("", tuitest.Keyboard())
		})
	}
}
