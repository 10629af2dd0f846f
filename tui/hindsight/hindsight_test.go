package hindsight_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/tui/tuitest"
)

// TestScreens are tables with curves, and findings with when they began, of a captured cluster in which a query node was killed and
// auto-balance switched off.
func TestScreens(t *testing.T) {
	for _, size := range tuitest.WideSizes {
		for _, s := range []struct{ name, keys string }{
			{"collections", "4"},
			{"nodes", "3"},
			{"vchannels", "6"},
			{"vchannels-wide", "6 w"},
			{"detail-collection", "4 d"},
			{"findings", "f"},
			{"findings-open", "f E"},
			{"findings-then", ",*20 f"},
		} {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
					d.Keys(s.keys)
					d.Sleep(time.Minute)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}
