package timeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// TestScreens checks the pages of a captured cluster in which a query node was killed, auto-balance switched off
// and a node started.
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

// TestEveryKey checks all keys of the timeline, also with a filter that matches nothing.
func TestEveryKey(t *testing.T) {
	for _, size := range tuitest.Sizes[:1] {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, "cluster-2.3.5-t5", size.W, size.H)
			d.Keys("0")
			for key := range strings.FieldsSeq("down*9 right*3 left + right*2 - +*12 left*2 right*2 u end home " +
				"pgdown ctrl+u v down enter esc esc y enter esc / x x x enter esc esc 0 esc") {
				d.Keys(key)
				d.Fits()
			}
		})
	}
}

// TestFindingSpans checks that each finding of the current cluster has a lane.
func TestFindingSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 120, 40)
		d.Keys("0").Sleep(5 * time.Second)
		d.Shows("FINDINGS", "NODES", "CHANNELS", "COLLECTIONS", "querynode-5")
	})
}

// TestEnter checks that enter shows the object at the time of the event, and a removed object as it
// was before its removal.
func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 120, 40)
		d.Keys("0 /").Typed("querynode-5").Keys("enter end")
		d.Shows("querynode-5 was lost")
		d.Keys("enter")
		d.Shows("querynode-5", "registered", "before the end", "◂ 2026-11-20 08:04:")
		d.Keys("esc L")
		d.Shows("○ snapshot", "press , to step back")
	})
}

// TestCursorStaysOnItsEvent checks that the cursor stays when findings arrive later, in lanes above it, with and
// without keys pressed before.
func TestCursorStaysOnItsEvent(t *testing.T) {
	for _, keys := range []string{"0", "0 down up left"} {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, "cluster-2.3.5-t5", 120, 40)
			d.Keys(keys)
			d.Shows("▶ querynode-5 ")
			d.Lacks("FINDINGS")
			_, event, _ := strings.Cut(d.Plain(), "(rev ")
			event, _, _ = strings.Cut(event, ")")
			d.Sleep(5 * time.Second)
			d.Shows("FINDINGS", "▶ querynode-5 ", "(rev "+event+")")
		})
	}
}

// TestCursorStaysOnAnotherAxis checks that the cursor stays when etcd compacts the oldest events and new ones
// arrive.
func TestCursorStaysOnAnotherAxis(t *testing.T) {
	src, err := source.Open(t.Context(),
		filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t5", "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pinned.Close()
	head := pinned.Header()
	oldest, err := past.Oldest(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	axis := func(from, to int64) *history.Axis {
		h, _, err := history.ReadBetween(t.Context(), past, head, from, to)
		if err != nil {
			t.Fatal(err)
		}
		return history.NewAxis(h)
	}
	before, after := newLanes(axis(oldest, head.Revision-200)), newLanes(axis(oldest+200, head.Revision))
	p := &page{state: &sharedState{lanes: before}, event: -1}
	p.rebuildLanes()
	tried := 0
	for i, in := range before.all {
		for _, event := range in.events {
			want := before.axis.Event(int(event))
			if want.Revision <= after.axis.History.From {
				continue
			}
			p.state.lanes = before
			p.rebuildLanes()
			p.lane, p.event = i, int(event)
			p.state.lanes = after
			p.rebuildLanes()
			tried++
			if got := p.currentEvent(); got == nil || got.Revision != want.Revision || got.Kind != want.Kind ||
				got.Object.ID != want.Object.ID {
				t.Errorf("the cursor was on %s at %d and is on %+v", want.Kind, want.Revision, got)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d events are on both", tried)
	}
}

// TestCursorStaysOnItsFinding checks the cursor on findings of the same check whose objects have no names.
func TestCursorStaysOnItsFinding(t *testing.T) {
	finding := func(id string) tui.Beginning {
		return tui.Beginning{
			Finding: &check.Finding{
				Check: "checkpoint-stale-dropped", Object: model.Ref{Resource: "vchannels", ID: id},
			},
		}
	}
	p := &page{
		state:    &sharedState{lanes: &lanes{axis: &history.Axis{}}},
		findings: []tui.Beginning{finding("a"), finding("b")}, event: -1,
	}
	p.rebuildLanes()
	p.lane = 1
	p.findings = []tui.Beginning{finding("c"), finding("a"), finding("b")}
	p.rebuildLanes()
	if got := p.current().span.Finding.Object.ID; got != "b" {
		t.Errorf("the cursor is on %s, want b", got)
	}
}

// TestNodeLifetimes checks that a line is drawn from the start to the end of a node, with marks on it.
func TestNodeLifetimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, "cluster-2.3.5-t5", 80, 24)
		d.Keys("0").Sleep(5 * time.Second)
		d.Shows("querynode-5", "─▲·", "·+─")
	})
}
