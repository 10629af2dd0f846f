package timeline

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/tui/tuitest"
)

// TestScreens are the pages of a captured cluster in which a query node was killed, auto-balance switched off and a node started.
func TestScreens(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for _, s := range []struct{ name, keys, typed string }{
			{"timeline", "0", ""},
			{"timeline-zoomed", "0 + +", ""},
			{"timeline-events", "0 v", ""},
			{"events", ": e v e n t s enter", ""},
		} {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
					d.Keys(s.keys).Typed(s.typed).Sleep(5 * time.Second)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestEveryKey presses all keys of the timeline, with a filter that leaves nothing too.
func TestEveryKey(t *testing.T) {
	for _, size := range tuitest.Sizes[:1] {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
			d.Keys("0")
			for key := range strings.FieldsSeq("down*9 right*3 left + right*2 - +*12 left*2 right*2 u end home pgdown ctrl+u v down enter esc esc y enter esc / x x x enter esc esc 0 esc") {
				d.Keys(key)
				d.Fits()
			}
		})
	}
}

// TestFindingsHaveATime: the findings of the cluster that is shown have a lane each.
func TestFindingsHaveATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 120, 40)
		d.Keys("0").Sleep(5 * time.Second)
		d.Shows("FINDINGS", "NODES", "CHANNELS", "COLLECTIONS", "querynode-5")
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

// TestCursorWaitsForFindings: until a key is pressed the cursor is on the first lane, which is a finding once findings have their times; then
// it stays where it is.
func TestCursorWaitsForFindings(t *testing.T) {
	for keys, want := range map[string]string{"0": "▶ growing-too-old docs_", "0 down up": "▶ querynode-5 "} {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, "cluster-2.3.5-t5", 120, 40)
			d.Keys(keys)
			d.Shows("▶ querynode-5 ")
			d.Sleep(5 * time.Second)
			d.Shows(want)
		})
	}
}

// TestNodesHaveALife: a line is drawn where a node was registered, from its start to its end, and marks stand on it.
func TestNodesHaveALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 80, 24)
		d.Keys("0").Sleep(5 * time.Second)
		d.Shows("querynode-5", "─▲·", "·+─")
	})
}
