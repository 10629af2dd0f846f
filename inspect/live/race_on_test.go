//go:build race

package live_test

// What floods is less: it takes up to ten times as long, and does nothing side by side that less does not. How much
// is held is looked at without the detector.
const (
	// hostileNodes send as much as they may, at once: twice as much together as may be held.
	hostileNodes = 5
	// hostileShare divides what one answer repeats.
	hostileShare = 10
)
