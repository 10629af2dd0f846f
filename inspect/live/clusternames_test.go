package live_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// skipped returns the reason why something was left out, or "" if it was not.
func skipped(r *model.Runtime, what string) string {
	for _, s := range r.Skipped {
		if s.What == what {
			return s.Reason
		}
	}
	return ""
}

const nameCheck = "check of the cluster's name"

// TestWrongClusterName checks that if no process accepts the cluster name, all are queried once more without
// it.
func TestWrongClusterName(t *testing.T) {
	for _, version := range []string{"2.3.5", "2.6.3"} {
		c := smallCluster(t, livetest.Spec{Version: version}, livetest.Options{},
			recorded.Options{Cluster: "their-prod"})
		var mu sync.Mutex
		var kept []live.Record
		var steps []int
		r := ask(t, c, live.Options{
			Keep: func(r live.Record) {
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, r)
			},
			Progress: func(done, _ int) { steps = append(steps, done) },
		})
		again := live.NewDecoder()
		for _, k := range kept {
			again.Add(k)
		}
		for _, r := range []*model.Runtime{r, again.Runtime("recording", "")} {
			wantHealthy(t, r, c)
			if why := skipped(r, nameCheck); !strings.Contains(why,
				`reports cluster "their-prod", but the channels in etcd have "by-dev"`) || r.ClusterKey != "" {
				t.Errorf("%s: sent %q along, skipped %v", version, r.ClusterKey, r.Skipped)
			}
		}
		servers := map[string]bool{}
		for _, s := range c.Sessions {
			servers[s.Address] = true
		}
		for i, done := range steps {
			if done != i+1 || len(steps) != len(servers) {
				t.Errorf("%s: progress %v of %d", version, steps, len(servers))
				break
			}
		}
	}
}

// TestWrongClusterNameStillProtects checks that server ids distinguish processes without the name, and that
// dead processes do not count.
func TestWrongClusterNameStillProtects(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Cluster: "their-prod"})
	addresses := map[string]string{"querynode-101": livetest.Refused(t), "indexnode-6": livetest.NotGRPC(t)}
	for _, s := range c.Sessions {
		if s.Name() == "querynode-100" {
			addresses["querynode-102"] = s.Address
		}
	}
	r := ask(t, livetest.Replace(c, addresses), live.Options{})
	wantOutcome(t, r, "querynode", 100, model.Answered, "")
	wantOutcome(t, r, "querynode", 101, model.Refused, "")
	wantOutcome(t, r, "querynode", 102, model.Stale, "node not match")
	wantOutcome(t, r, "indexnode", 6, model.Garbled, "")
	if skipped(r, nameCheck) == "" {
		t.Errorf("skipped %v", r.Skipped)
	}
}

// TestForeignersDisagree checks that the name is kept if processes report different clusters.
func TestForeignersDisagree(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Cluster: "their-prod"})
	other := livetest.Cluster(livetest.Spec{QueryNodes: 3, Collections: 2, Segments: 30, Growing: 5})
	other = livetest.Serve(t, other, livetest.Responses(other, livetest.Options{}),
		recorded.Options{Cluster: "their-test"})
	at := slices.IndexFunc(other.Sessions, func(s *model.Session) bool { return s.Name() == "querynode-102" })
	r := ask(t, livetest.Replace(c, map[string]string{"querynode-102": other.Sessions[at].Address}), live.Options{})
	for _, n := range r.Nodes {
		wantOutcome(t, r, n.Role, n.Node, model.OtherCluster, "cross cluster routing")
	}
	if skipped(r, nameCheck) != "" || r.ClusterKey != "by-dev" || r.Replicas != nil || r.Recovery != nil {
		t.Errorf("key %q, skipped %v, replicas %v", r.ClusterKey, r.Skipped, r.Replicas)
	}
}
