package check

import (
	"strings"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/place"
)

// TestMute checks that findings that follow from a starved host, directly or indirectly, become Info, and
// that errors and other findings stay.
func TestMute(t *testing.T) {
	host := about(Warning, "dependencies", "host/box")
	late, other, grave := about(Warning, "nodes", "querynode-3"), about(Warning, "nodes", "querynode-6"),
		about(Error, "nodes", "querynode-7")
	starved, slow, slower, failing := fake(HostStarved, host), fake("slow", late, other), fake("slower", late),
		fake("failing", grave)
	slow.FollowsFrom = CausedBy(func(_ *model.Cluster, effect, _ *Finding) bool {
		return effect.Object.ID == late.Object.ID
	}, HostStarved)
	slower.FollowsFrom = CausedBy(nil, "slow")
	failing.FollowsFrom = CausedBy(nil, HostStarved)
	r := judge(t, modeltest.Served(), starved, slow, slower, failing)
	got := map[string]Severity{}
	for _, f := range r.Findings {
		got[f.Key()] = f.Severity
	}
	for key, want := range map[string]Severity{
		"host-starved dependencies/host/box": Warning, "slow nodes/querynode-3": Info,
		"slow nodes/querynode-6": Warning, "slower nodes/querynode-3": Info, "failing nodes/querynode-7": Error,
	} {
		if s, ok := got[key]; !ok || s != want {
			t.Errorf("%s is %s", key, s)
		}
	}
}

// TestPasses checks that a process is not a cause if the requests do not pass through it.
func TestPasses(t *testing.T) {
	at := &place.Place{Path: []place.Hop{{Kind: "proxy"}, {Kind: "querynode"}}}
	for id, want := range map[string]bool{
		"nodes/querynode-3": true, "nodes/datanode-4": false, "nodes/mixcoord-1": true, "segments/7": true,
	} {
		resource, id, _ := strings.Cut(id, "/")
		if got := passes(at, model.Ref{Resource: resource, ID: id}); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
