package profiles

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/profile"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

func TestProfileLoadErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := Item{
			Name: "cut.pb.gz", Kind: "cpu",
			Load: func(context.Context) (*profile.Profile, error) { return nil, io.ErrUnexpectedEOF },
		}
		failed := Item{Node: "querynode-7", Role: "querynode", Kind: "cpu", Err: "connection refused"}
		empty := Item{Name: "empty.pb.gz", Kind: "cpu", Load: func(context.Context) (*profile.Profile, error) {
			return profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"}).Profile(), nil
		}}
		for _, x := range []struct {
			item Item
			want string
		}{{broken, "unexpected EOF"}, {failed, "connection refused"}, {empty, "no samples of cpu"}} {
			d := driveProfiles(t, View{Items: []Item{x.item}}, 80, 24)
			d.Shows(x.want)
			d.Keys("v")
			d.Fits()
			d.Keys("esc 9")
			d.Fits()
		}
		d := driveProfiles(t,
			View{Items: []Item{profileItem("milvus-heap.pb.gz")}, Base: []Item{profileItem("milvus-cpu-flat.pb.gz")}},
			80, 24)
		d.Shows("compare profiles of one kind")
	})
}

// pullFeed is a feed that delivers its profiles one after the other.
type pullFeed struct {
	items []Item
	fail  error
}

func (f *pullFeed) List(context.Context) (Set, error) { return Set{}, nil }
func (f *pullFeed) CanPull() string                   { return "" }

func (f *pullFeed) Pull(ctx context.Context, window time.Duration, progress func(Progress)) (Set, error) {
	for _, item := range f.items {
		progress(Progress{Node: item.Node, Role: item.Role, State: "profiling"})
	}
	select {
	case <-time.After(window):
	case <-ctx.Done():
		return Set{}, ctx.Err()
	}
	for _, item := range f.items {
		progress(Progress{Node: item.Node, Role: item.Role, Done: true, Err: item.Err})
	}
	return Set{Items: f.items}, f.fail
}

func TestPullFromTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := clusterItems("t5")
		items[1].Err = "get http://10.0.0.4:9091/debug/pprof/profile: connection refused"
		cfg := pagetest.Config()
		cfg.Pages = Pages(&pullFeed{items: items})
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("9")
		d.Shows("Press P to profile all processes")
		d.Keys("P").Typed("soon").Keys("enter")
		d.Shows("in seconds")
		d.Keys("P enter")
		d.Shows("pulling 10s", "0 of 7 done", "profiling")
		tuitest.Golden(t, "profiles-pulling", d.Plain())
		d.Keys("esc")
		d.Shows("the pull was cancelled")
		d.Sleep(time.Minute)
		d.Shows("No profiles yet")
		d.Keys("P enter H 5")
		d.Shows("470590760626295000")
		d.Sleep(11 * time.Second)
		d.Shows("pulled 6 profiles, 1 failed")
		d.Keys("9")
		d.Shows("refused", "all 4 querynodes")
		tuitest.Golden(t, "profiles-pulled", d.Plain())
		d.Keys("down*3 enter")
		d.Shows("profile: connection refused")
		d.Keys("up*2 s enter")
		d.Shows("saved /saved/kitescope-profile-4_querynodes-")
		for _, text := range d.Saved {
			saved, err := profile.Decode(t.Context(), strings.NewReader(text), profile.Limits{})
			if err != nil || saved.Total(0) != 1325 {
				t.Errorf("what was saved has %d samples, want 1325: %v", saved.Total(0), err)
			}
		}
		d.Keys("enter")
		d.Shows("flame 4 querynodes", "split by node")
	})
}

func TestPullThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pagetest.Config()
		cfg.Pages = Pages(&pullFeed{items: clusterItems("t5")[:1], fail: io.ErrUnexpectedEOF})
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("9 P enter")
		d.Sleep(11 * time.Second)
		d.Shows("pull failed: unexpected EOF", "datanode")
	})
}

func TestNoProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, pagetest.Config(), 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("9")
		d.Shows("no profiles page here")
	})
}

func TestMarkedProfilesAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 30)
		d.Keys("9")
		d.Keys("/").Typed("querynode").Keys("enter down space space =")
		d.Shows("flame diff querynode1 → querynode2", "normalized")
		d.Keys("v")
		d.Shows("CUM CHANGE")
		d.Keys("esc esc esc esc =")
		d.Shows("mark two rows")
	})
}

// TestNoClusterNoPages checks that pages that need a cluster report that there is none.
func TestNoClusterNoPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 30)
		d.Keys(":").Typed("segments").Keys("enter")
		d.Shows("no cluster here, only profiles")
		d.Keys("f")
		d.Shows("findings need a cluster; this session has only profiles")
		d.Keys("3")
		d.Shows("the nodes page needs a cluster; this session has only profiles")
		d.Keys("H")
		d.Shows("flame 7 processes")
	})
}

// TestRunProfiles runs the whole program on profiles alone and checks that it writes nothing while nothing changes.
func TestRunProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := comparedView()
		cfg := pagetest.Config()
		p := pagetest.Start(v.config(cfg), 100, 30)
		p.Wait(t, "libknowhere.so")
		for _, keys := range []string{"", "c", "v", "9"} {
			p.Press(keys)
			time.Sleep(10 * time.Second) // messages have expired
			before := p.Out.Len()
			time.Sleep(time.Minute)
			if n := p.Out.Len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.Press("q")
		p.End(t)
	})
}

// TestPullEndsWithTheProgram checks that a pull ends when the UI ends.
func TestPullEndsWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pagetest.Config()
		cfg.Feed = tuitest.Once(tuitest.Fixture())
		cfg.Pages = Pages(&pullFeed{items: clusterItems("t5")})
		p := pagetest.Start(cfg, 100, 30)
		p.Wait(t, "160,452")
		p.Press("9")
		p.Wait(t, "Press P")
		p.Press("P\r")
		p.Wait(t, "pulling 10s")
		began := time.Now()
		p.Press("q")
		p.End(t)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("quitting took %s", took)
		}
	})
}

// TestIdleNode checks that an idle node among busy ones is highlighted.
func TestIdleNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, View{Items: clusterItems("t5"), Nodes: true}, 160, 40)
		d.Shows("split by node; ", "querynode2", "idle")
		d.Keys("9")
		d.Shows("▲ idle, other querynodes: 0.29 cores")
		tuitest.Golden(t, "profiles-idle", d.Plain())
	})
}
