package timeline

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestScreens are the pages of a captured cluster in which a query node was killed, auto-balance switched off and a node started.
func TestScreens(t *testing.T) {
	for _, size := range tuitest.WideSizes {
		for _, s := range []struct{ name, keys, typed string }{
			{"timeline", "0", ""},
			{"timeline-node", "0 /", "querynode-5"},
			{"timeline-zoomed", "0 + +", ""},
			{"timeline-events", "0 v", ""},
			{"timeline-then", "0 home M", ""},
			{"events", ": e v e n t s enter", ""},
		} {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestEveryKey presses all keys of the timeline, at all sizes, with a filter that leaves nothing too.
func TestEveryKey(t *testing.T) {
	for _, size := range tuitest.WideSizes {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
			d.Keys("0")
			for key := range strings.FieldsSeq("down*9 right*3 left M + right*2 - u +*12 left*2 right*2 u end home pgdown ctrl+u v down enter esc esc y enter esc / x x x enter esc esc 0 esc") {
				d.Keys(key)
				d.Fits()
			}
		})
	}
}

// TestFindingsHaveATime: the survey sees what is wrong at some moments, and finds the event that it came with.
func TestFindingsHaveATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 120, 40)
		d.Keys("0")
		d.Shows("FINDINGS", "NODES", "CHANNELS", "COLLECTIONS", "querynode-5")
		d.Lacks("looking for findings")
	})
}

// TestEnterGoesThere: the object is shown as it was; one that went away, as it was before.
func TestEnterGoesThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 120, 40)
		d.Keys("0 /").Typed("querynode-5").Keys("enter end")
		d.Shows("querynode-5 was lost")
		d.Keys("enter")
		d.Shows("querynode-5", "registered", "before the end", "◂ 2026-11-20 08:04:")
		d.Keys("esc L")
		d.Shows("○ snapshot", ", goes back")
	})
}
