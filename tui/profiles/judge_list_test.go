package profiles

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/profile"
	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

// TestJudgeFromTheList checks that the list of profiles judges the marked profiles, or all visible CPU profiles if
// none is marked.
func TestJudgeFromTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 40)
		judged := func() int { return len(d.m.Top().(*judgePage).made.Profiles) }
		d.Keys("9 J")
		if n := judged(); n != 7 {
			t.Errorf("%d profiles are judged, want all 7", n)
		}
		d.Keys("esc /").Typed("querynode").Keys("enter J")
		if n := judged(); n != 4 {
			t.Errorf("%d profiles are judged, want the 4 that are shown", n)
		}
		d.Keys("Y 1")
		if want := "kitescope pgo judge t3/querynode1.cpu.pb.gz t3/querynode2.cpu.pb.gz t3/querynode3.cpu.pb.gz " +
			"t3/querynode4.cpu.pb.gz"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("esc home down space down space J")
		if n := judged(); n != 2 {
			t.Errorf("%d profiles are judged, want the 2 that are marked", n)
		}
		d.Keys(":").Typed("judge").Keys("enter")
		if n := judged(); n != 7 {
			t.Errorf(":judge judges %d profiles, want all 7", n)
		}
	})
}

// TestJudgeOfMilvus checks the judgement of a real profile that is mostly native code.
func TestJudgeOfMilvus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-cpu-flat.pb.gz"), 120, 40)
		d.Keys("9 J")
		d.Shows("little to gain", "67% of the samples are native code", "no lower bound")
		d.Fits()
	})
}

func TestJudgeOfPulledProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pagetest.Config()
		items := clusterItems("t5")
		items[1].Words, items[1].Err = nil, "connection refused"
		cfg.Pages = Pages(&pullFeed{items: items})
		d := driven(t, cfg, 120, 40)
		d.Cluster(tuitest.Fixture())
		d.Keys(":").Typed("judge").Keys("enter")
		d.Shows("no CPU profile")
		d.Keys("9 J")
		d.Shows("no profiles yet: press P to profile all processes")
		d.Keys("P enter")
		d.Sleep(11 * time.Second)
		d.Keys("J")
		if n := len(d.m.Top().(*judgePage).made.Profiles); n != 7 {
			t.Errorf("%d profiles are judged, want also the one that failed", n)
		}
		d.Keys("end Y 1")
		d.Shows("none for this page") // a profile that was just pulled has no path
		d.Keys("esc f")
		d.Shows("findings")
	})
}

func TestJudgeNotCPUProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, oneView("milvus-heap.pb.gz"), 120, 40, func(c *tui.Config) {
			item := profileItem("milvus-heap.pb.gz")
			item.Kind = "heap"
			c.Pages = Pages(Files(Set{Items: []Item{item}}))
		})
		d.Keys("9 J")
		d.Shows("no CPU profile")
		d.Keys("space J")
		d.Shows("profile unfit")
		d.Keys(":").Typed("judge").Keys("enter")
		d.Shows("no CPU profile")
	})
}

func TestJudgeLoadErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := "\x1b]0;owned\acut\u202e.pb.gz"
		v := View{Items: []Item{
			profileItem("milvus-cpu-hnsw.pb.gz"),
			{
				Name: bad, Kind: "cpu",
				Load: func(context.Context) (*profile.Profile, error) { return nil, errors.New("broken\x1b[31m at 7") },
			},
			{Node: "querynode-7", Kind: "cpu", Err: "connection refused"},
		}}
		d := driveProfiles(t, v, 120, 40)
		d.Keys("9 J")
		d.Shows("connection refused", "broken")
		d.Fits()
		if screen := d.Screen(); strings.ContainsAny(screen, "\a\u202e") || strings.Contains(screen, "\x1b]") {
			t.Errorf("control characters reached the screen: %q", screen)
		}
	})
}
