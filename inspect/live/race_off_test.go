//go:build !race

package live_test

const (
	// hostileNodes send as much as they may, at once: twice as much together as may be held.
	hostileNodes = 16
	// hostileShare divides what one answer repeats.
	hostileShare = 1
)
