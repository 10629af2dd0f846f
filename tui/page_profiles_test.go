package tui

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/profile"
)

func TestProfilesThatDoNotLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := ProfileItem{Name: "cut.pb.gz", Kind: "cpu", Load: func(context.Context) (*profile.Profile, error) { return nil, io.ErrUnexpectedEOF }}
		failed := ProfileItem{Node: "querynode-7", Role: "querynode", Kind: "cpu", Err: "connection refused"}
		empty := ProfileItem{Name: "empty.pb.gz", Kind: "cpu", Load: func(context.Context) (*profile.Profile, error) {
			return profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"}).Profile(), nil
		}}
		for _, x := range []struct {
			item ProfileItem
			want string
		}{{broken, "unexpected EOF"}, {failed, "connection refused"}, {empty, "no samples of cpu"}} {
			d := driveProfiles(t, ProfileView{Items: []ProfileItem{x.item}}, 80, 24)
			d.shows(x.want)
			d.keys("t")
			d.fits()
			d.keys("esc p")
			d.fits()
		}
		d := driveProfiles(t, ProfileView{Items: []ProfileItem{profileItem("milvus-heap.pb.gz")}, Base: []ProfileItem{profileItem("milvus-cpu-flat.pb.gz")}}, 80, 24)
		d.shows("compare profiles of one kind")
	})
}

// pullFeed is a feed of which the profiles come one after the other.
type pullFeed struct {
	items []ProfileItem
	fail  error
}

func (f *pullFeed) List(context.Context) (ProfileSet, error) { return ProfileSet{}, nil }
func (f *pullFeed) CanPull() string                          { return "" }

func (f *pullFeed) Pull(ctx context.Context, window time.Duration, progress func(PullProgress)) (ProfileSet, error) {
	for _, item := range f.items {
		progress(PullProgress{Node: item.Node, Role: item.Role, State: "profiling"})
	}
	select {
	case <-time.After(window):
	case <-ctx.Done():
		return ProfileSet{}, ctx.Err()
	}
	for _, item := range f.items {
		progress(PullProgress{Node: item.Node, Role: item.Role, Done: true, Err: item.Err})
	}
	return ProfileSet{Items: f.items}, f.fail
}

func TestPullFromTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := clusterItems("t5")
		items[1].Err = "get http://10.0.0.4:9091/debug/pprof/profile: connection refused"
		cfg := testConfig()
		cfg.Pages = ProfilePages(&pullFeed{items: items})
		d := driven(t, cfg, 120, 30)
		d.cluster(fixture())
		d.keys("p")
		d.shows("p takes them from all processes")
		d.keys("p").typed("soon").keys("enter")
		d.shows("in seconds")
		d.keys("p enter")
		d.shows("pulling 10s", "0 of 7 done", "profiling")
		golden(t, "profiles-pulling", d.plain())
		d.keys("esc")
		d.shows("the pull was cancelled")
		d.sleep(time.Minute)
		d.shows("no profiles yet")
		d.keys("p enter H s")
		d.shows("470590760626295000")
		d.sleep(11 * time.Second)
		d.shows("pulled 6 profiles, 1 failed")
		d.keys("p")
		d.shows("refused", "all 4 querynodes")
		golden(t, "profiles-pulled", d.plain())
		d.keys("down*3 enter")
		d.shows("profile: connection refused")
		d.keys("up*2 s")
		d.shows("saved /saved/kitescope-profile-4_querynodes-")
		for _, text := range d.saved {
			saved, err := profile.Decode(t.Context(), strings.NewReader(text), profile.Limits{})
			if err != nil || saved.Total(0) != 1325 {
				t.Errorf("what was saved has %d samples, want 1325: %v", saved.Total(0), err)
			}
		}
		d.keys("enter")
		d.shows("flame 4 querynodes", "apart by node")
	})
}

func TestPullThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Pages = ProfilePages(&pullFeed{items: clusterItems("t5")[:1], fail: io.ErrUnexpectedEOF})
		d := driven(t, cfg, 120, 30)
		d.cluster(fixture())
		d.keys("p p enter")
		d.sleep(11 * time.Second)
		d.shows("not pulled: unexpected EOF", "datanode")
	})
}

func TestProfilesOfAClusterWithoutAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 30)
		d.cluster(fixture())
		d.keys("p")
		d.shows("there are no profiles here")
	})
}

func TestMarkedProfilesAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 30)
		d.keys("p")
		d.keys("/").typed("querynode").keys("enter down v v =")
		d.shows("flame diff querynode1 → querynode2", "normalized")
		d.keys("t")
		d.shows("CUM CHANGE")
		d.keys("esc esc esc esc =")
		d.shows("mark two rows")
	})
}

// TestNoClusterNoPages holds that what needs a cluster says so.
func TestNoClusterNoPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, nodesView(), 120, 30)
		d.keys(":").typed("segments").keys("enter")
		d.shows("there is no cluster here, only profiles")
		d.keys("f")
		d.shows("there is no cluster here")
		d.keys("H")
		d.shows("flame 7 processes")
	})
}

// TestRunProfiles is the whole program on profiles alone; while nothing changes it writes nothing.
func TestRunProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := comparedView()
		cfg := testConfig()
		cfg.Mouse = true
		p := started(v.config(cfg), 100, 30)
		p.wait(t, "libknowhere.so")
		for _, keys := range []string{"", "d", "s", "t", "\r", "p"} {
			p.press(keys)
			time.Sleep(time.Second)
			before := p.out.len()
			time.Sleep(time.Minute)
			if n := p.out.len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.press("q")
		p.end(t)
	})
}

// TestPullEndsWithTheProgram holds that a pull does not outlive the screen that asked for it.
func TestPullEndsWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Feed = once(fixture())
		cfg.Pages = ProfilePages(&pullFeed{items: clusterItems("t5")})
		p := started(cfg, 100, 30)
		p.wait(t, "160,452")
		p.press("p")
		p.wait(t, "p takes them")
		p.press("p\r")
		p.wait(t, "pulling 10s")
		began := time.Now()
		p.press("q")
		p.end(t)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("quitting took %s", took)
		}
	})
}

// TestIdleNodeIsSeen holds that a node without work among busy ones catches the eye.
func TestIdleNodeIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveProfiles(t, ProfileView{Items: clusterItems("t5"), Nodes: true}, 160, 40)
		d.shows("apart by node, next to nothing on", "querynode2")
		d.keys("p")
		d.shows("▲ idle, other querynodes: 0.29 cores")
		golden(t, "profiles-idle", d.plain())
	})
}
