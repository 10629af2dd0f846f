package record

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/profile/pull"
)

// TestSelectTargets checks that profiles are pulled from the processes that a finding names, or from some if it names
// none, and never from processes without a URL.
func TestSelectTargets(t *testing.T) {
	at := &url.URL{Scheme: "http", Host: "h"}
	all := []pull.Target{
		{Node: "querynode-4", NodeIDs: []string{"4"}, URL: at},
		{Node: "querynode-5", NodeIDs: []string{"5"}, URL: at},
		{Node: "rootcoord-1,datacoord-1", NodeIDs: []string{"1"}, URL: at},
		{Node: "proxy-9", NodeIDs: []string{"9"}, Unknown: "no port"},
	}
	node := func(id string) model.Ref { return model.Ref{Resource: "nodes", ID: id} }
	for name, c := range map[string]struct {
		findings []*check.Finding
		most     int
		want     []string
	}{
		"its object": {[]*check.Finding{{Object: node("querynode-5")}}, 9, []string{"querynode-5"}},
		"further objects": {
			[]*check.Finding{
				{
					Object:  model.Ref{Resource: "collections", ID: "7"},
					Objects: []model.Ref{node("querynode-4"), node("querynode-5")},
				},
			},
			9,
			[]string{"querynode-4", "querynode-5"},
		},
		"one of its roles": {[]*check.Finding{{Object: node("datacoord-1")}}, 9, []string{"rootcoord-1,datacoord-1"}},
		"no process": {
			[]*check.Finding{{Object: model.Ref{Resource: "segments", ID: "4"}}},
			2,
			[]string{"querynode-4", "querynode-5"},
		},
		"nobody to ask": {[]*check.Finding{{Object: node("proxy-9")}}, 1, []string{"querynode-4"}},
	} {
		var got []string
		for _, target := range selectTargets(all, c.findings, c.most) {
			got = append(got, target.Node)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPulledProfilesAreBounded checks that prune removes the oldest pulls, and keeps the newest regardless of its
// size unless it is too old.
func TestPulledProfilesAreBounded(t *testing.T) {
	p := &Profiles{dir: t.TempDir()}
	for _, name := range []string{"20260101T000000Z-a", "20260102T000000Z-b", "20260103T000000Z-c"} {
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name, "cpu.pb.gz"), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if n := p.prune(time.Now(), time.Hour, 2500); n != 2000 ||
		!slices.Equal(left(), []string{"20260102T000000Z-b", "20260103T000000Z-c"}) {
		t.Errorf("%d bytes in %v", n, left())
	}
	if n := p.prune(time.Now(), time.Hour, 10); n != 1000 || len(left()) != 1 {
		t.Errorf("%d bytes in %v", n, left())
	}
	if p.prune(time.Now().Add(2*time.Hour), time.Hour, 1e9); len(left()) != 0 {
		t.Errorf("%v are kept too long", left())
	}
}
