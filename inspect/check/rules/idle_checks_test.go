package rules_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// spread is a world of query nodes 11, 12 and so on that serve so many segments each of one collection.
func spread(autoBalance string, segments ...int) *scene {
	nodes, share := make([]model.NodeID, len(segments)), map[model.NodeID]int{}
	for i, n := range segments {
		nodes[i] = model.NodeID(11 + i)
		share[nodes[i]] = n
	}
	s := newScene(autoBalance, nodes...)
	s.load(7, "rg", share)
	return s
}

func TestIdleChecks(t *testing.T) {
	playScenes(t, []sceneCase{
		{"idle", named("node-idle"), func() *scene { return spread("true", 5, 5, 0) }, "findings\nerror nodes/querynode-13 querynode-13 serves nothing; the others of its resource group serve 10 segments; it started 60 min ago"},
		{"underloaded", named("node-idle"), func() *scene { return spread("true", 5, 5, 1) }, "findings\nwarning nodes/querynode-13 querynode-13 serves 1 of 11 segments, 9.1% of the search work; each of the others 45.5%"},
		{"a third is no quarter", named("node-idle"), func() *scene { return spread("true", 6, 6, 2) }, "ok"},
		{"just started, auto-balance on", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-50 * time.Second)
			return s
		}, "ok"},
		{"just started, auto-balance off", named("node-idle"), func() *scene {
			s := spread("false", 5, 5, 0)
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-50 * time.Second)
			return s
		}, "error nodes/querynode-13"},
		{"few large segments", named("node-idle"), func() *scene {
			s := spread("true", 10, 10, 0)
			s.load(8, "rg", map[model.NodeID]int{13: 1})
			s.parts.Segments[len(s.parts.Segments)-1].Rows = 10_000
			s.index(8)
			return s
		}, "ok"},
		{"being filled", named("node-idle"), func() *scene {
			s := spread("true", 20, 20, 1)
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-20 * time.Minute)
			s.live("querynode", 13).Distribution.Sealed[0].Version = spreadNow.Add(-time.Minute).UnixNano()
			return s
		}, "ok"},
		{"was filled once", named("node-idle"), func() *scene {
			s := spread("true", 20, 20, 1)
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-20 * time.Minute)
			s.live("querynode", 13).Distribution.Sealed[0].Version = spreadNow.Add(-15 * time.Minute).UnixNano()
			return s
		}, "warning nodes/querynode-13"},
		{"five minutes old", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-5 * time.Minute)
			return s
		}, "info nodes/querynode-13 querynode-13 serves nothing"},
		{"nobody knows how old", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.live("querynode", 13).System = nil
			return s
		}, "warning nodes/querynode-13 querynode-13 serves nothing"},
		{"leads shards", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.lead(13, 7, 2)
			for i := range s.live("querynode", 13).Distribution.Leaders {
				s.live("querynode", 13).Distribution.Leaders[i].GrowingRows = 0
			}
			return s
		}, "warning nodes/querynode-13 querynode-13 serves no segments, but leads 2 shards"},
		{"a small node of a version that gives by memory", named("node-idle"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.parts.Version.Text = "2.5.4"
			s.load(7, "rg", map[model.NodeID]int{11: 20, 12: 20, 13: 4})
			s.live("querynode", 13).System.Memory = 200 << 20
			return s
		}, "ok"},
		{"a small node of one that does not", named("node-idle"), func() *scene {
			s := spread("true", 20, 20, 4)
			s.live("querynode", 13).System.Memory = 200 << 20
			return s
		}, "warning nodes/querynode-13"},
		{"no field of any collection is known", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.parts.Collections = nil
			return s
		}, "ok"},
		{"only another replica could give", named("node-idle"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.load(8, "rg", map[model.NodeID]int{13: 1})
			return s
		}, "ok"},
		{"nothing to give", named("node-idle"), func() *scene {
			s := newScene("false", 11, 12, 13)
			for i := range 6 {
				s.load(model.CollectionID(7+i), "rg", map[model.NodeID]int{model.NodeID(11 + i%2): 1})
			}
			return s
		}, "ok"},
		{"few rows", named("node-idle"), func() *scene { return spread("false", 2, 2, 0) }, "ok"},
		{"spare resource group", named("node-idle"), func() *scene {
			s := newScene("false", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.node("querynode", 20)
			s.parts.ResourceGroups = append(s.parts.ResourceGroups, &model.ResourceGroup{Name: "spare", Nodes: []model.NodeID{20}})
			return s
		}, "ok"},
		{"stopping", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			s.parts.Sessions[2].Stopping = true
			return s
		}, "ok"},
		{"a blind node", named("node-idle"), func() *scene {
			s := spread("true", 5, 5, 0)
			n := s.live("querynode", 13)
			n.Distribution, n.Outcome = nil, model.TimedOut
			return s
		}, "skipped: not fully checked: querynode-13: timed out"},
		{"not asked", named("node-idle"), func() *scene {
			s := newScene("true", 11, 12)
			s.runtime.Nodes = nil
			return s
		}, "skipped: the nodes were not asked"},

		{"off, told by QueryCoord", named("auto-balance-off"), func() *scene { return spread("false", 5, 5, 0) }, "warning nodes/querycoord-1 auto-balance is off (queryCoord.autoBalance=false) while a query node is idle"},
		{"off by a dynamic key", named("auto-balance-off"), func() *scene {
			s := spread("", 5, 5, 0)
			s.parts.Config = []*model.ConfigEntry{{Name: "queryCoord/autoBalance", Value: "false"}}
			return s
		}, "warning config/queryCoord/autoBalance auto-balance is off"},
		{"off and even", named("auto-balance-off"), func() *scene {
			s := newScene("false", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			return s
		}, "ok"},
		{"uneven and on", named("auto-balance-off"), func() *scene { return spread("true", 5, 5, 0) }, "ok"},
		{"uneven and unknown", named("auto-balance-off"), func() *scene { return spread("", 5, 5, 0) }, "skipped: not fully checked: settings (queryCoord.autoBalance): there is no querycoord or mixcoord"},
	})
}

// TestIdleElsewhere: an idle node explains what is uneven in its own resource group only.
func TestIdleElsewhere(t *testing.T) {
	s := spread("true", 5, 5, 0)
	for _, id := range []model.NodeID{21, 22, 23} {
		s.node("querynode", id)
	}
	s.parts.ResourceGroups = append(s.parts.ResourceGroups, &model.ResourceGroup{Name: "other", Nodes: []model.NodeID{21, 22, 23}})
	s.load(8, "other", map[model.NodeID]int{21: 14, 22: 5, 23: 5})
	c := model.Build(s.parts).WithRuntime(model.BuildRuntime(s.runtime))
	causes := make(map[string]string)
	for _, f := range check.Run(c, spreadNow, []*check.Check{named("node-idle"), named("imbalance-rows")}).Findings {
		causes[f.Key()] = f.Cause
	}
	want := map[string]string{"node-idle nodes/querynode-13": "", "imbalance-rows replicas/507": "node-idle nodes/querynode-13", "imbalance-rows replicas/508": ""}
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Error(diff)
	}
}

// TestSwitchInEtcd: a switch is turned on by the dynamic key that is there, however it is spelled; of several by the one that Milvus reads last.
func TestSwitchInEtcd(t *testing.T) {
	leaders := func(keys ...string) *scene {
		s := newScene("true", 11, 12, 13)
		s.live("querycoord", 1).Config.Values["querycoordautobalancechannel"] = "false"
		s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
		s.lead(11, 7, 6)
		return s.dynamic(keys...)
	}
	for _, x := range []struct {
		check, want string
		scene       *scene
	}{
		{"auto-balance-off", "etcdctl put by-dev/config/queryCoord/autoBalance true", spread("false", 5, 5, 0)},
		{"auto-balance-off", "etcdctl put by-dev/config/querycoord.autobalance true", spread("false", 5, 5, 0).dynamic("querycoord.autobalance")},
		{"imbalance-leaders", "etcdctl put by-dev/config/queryCoord/autoBalanceChannel true", leaders()},
		{"imbalance-leaders", "etcdctl put by-dev/config/queryCoord.autoBalanceChannel true", leaders("queryCoord/autoBalance", "queryCoord.autoBalanceChannel")},
		{"imbalance-leaders", "etcdctl put by-dev/config/queryCoord/autoBalanceChannel true", leaders("queryCoord.autoBalanceChannel", "queryCoord/autoBalanceChannel")},
	} {
		r := x.scene.run(named(x.check))
		if len(r.Findings) != 1 || string(r.Findings[0].Command()) != x.want {
			t.Errorf("%s: %s, want one finding, and %s", x.check, said(r), x.want)
		}
	}
}

// dynamic sets dynamic keys in etcd to false.
func (s *scene) dynamic(keys ...string) *scene {
	for _, key := range keys {
		s.parts.Config = append(s.parts.Config, &model.ConfigEntry{Name: key, Value: "false"})
	}
	return s
}
