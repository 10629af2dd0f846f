package rules_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIdleChecks(t *testing.T) {
	rulestest.RunScenes(t, []rulestest.SceneCase{
		{
			Name: "idle", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("true", 5, 5, 0) },
			Want: "findings\nerror nodes/querynode-13 querynode-13 serves nothing; the others of its resource group " +
				"serve 10 segments; it started 60 min ago",
		},
		{
			Name: "underloaded", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("true", 5, 5, 1) },
			Want: "findings\nwarning nodes/querynode-13 querynode-13 serves 1 of 11 segments, 9.1% of the search " +
				"work; each of the others 45.5%",
		},
		{
			Name: "a third is no quarter", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("true", 6, 6, 2) }, Want: "ok",
		},
		{Name: "just started, auto-balance on", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-50 * time.Second)
			return s
		}, Want: "ok"},
		{Name: "just started, auto-balance off", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("false", 5, 5, 0)
			s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-50 * time.Second)
			return s
		}, Want: "error nodes/querynode-13"},
		{Name: "few large segments", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 10, 10, 0)
			s.Load(8, "rg", map[model.NodeID]int{13: 1})
			s.Parts.Segments[len(s.Parts.Segments)-1].Rows = 10_000
			s.Index(8)
			return s
		}, Want: "ok"},
		{Name: "being filled", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 20, 20, 1)
			s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-20 * time.Minute)
			s.Live("querynode", 13).Distribution.Sealed[0].Version = rulestest.SceneNow.Add(-time.Minute).UnixNano()
			return s
		}, Want: "ok"},
		{Name: "was filled once", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 20, 20, 1)
			s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-20 * time.Minute)
			s.Live("querynode", 13).Distribution.Sealed[0].Version = rulestest.SceneNow.Add(-15 *
				time.Minute).UnixNano()
			return s
		}, Want: "warning nodes/querynode-13"},
		{Name: "five minutes old", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-5 * time.Minute)
			return s
		}, Want: "info nodes/querynode-13 querynode-13 serves nothing"},
		{Name: "nobody knows how old", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			s.Live("querynode", 13).System = nil
			return s
		}, Want: "warning nodes/querynode-13 querynode-13 serves nothing"},
		{Name: "leads shards", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			s.Lead(13, 7, 2)
			for i := range s.Live("querynode", 13).Distribution.Leaders {
				s.Live("querynode", 13).Distribution.Leaders[i].GrowingRows = 0
			}
			return s
		}, Want: "warning nodes/querynode-13 querynode-13 serves no segments, but leads 2 shards"},
		{
			Name: "a small node of a version that gives by memory", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Parts.Version.Text = "2.5.4"
				s.Load(7, "rg", map[model.NodeID]int{11: 20, 12: 20, 13: 4})
				s.Live("querynode", 13).System.Memory = 200 << 20
				return s
			}, Want: "ok",
		},
		{Name: "a small node of one that does not", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 20, 20, 4)
			s.Live("querynode", 13).System.Memory = 200 << 20
			return s
		}, Want: "warning nodes/querynode-13"},
		{
			Name: "no field of any collection is known", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene {
				s := rulestest.Spread("true", 5, 5, 0)
				s.Parts.Collections = nil
				return s
			}, Want: "ok",
		},
		{Name: "only another replica could give", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.Load(8, "rg", map[model.NodeID]int{13: 1})
			return s
		}, Want: "ok"},
		{Name: "nothing to give", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("false", 11, 12, 13)
			for i := range 6 {
				s.Load(model.CollectionID(7+i), "rg", map[model.NodeID]int{model.NodeID(11 + i%2): 1})
			}
			return s
		}, Want: "ok"},
		{
			Name: "few rows", Check: rulestest.ByID("node-idle"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("false", 2, 2, 0) }, Want: "ok",
		},
		{Name: "spare resource group", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("false", 11, 12)
			s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.Node("querynode", 20)
			s.Parts.ResourceGroups = append(s.Parts.ResourceGroups, &model.ResourceGroup{
				Name: "spare", Nodes: []model.NodeID{20},
			})
			return s
		}, Want: "ok"},
		{Name: "stopping", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			s.Parts.Sessions[2].Stopping = true
			return s
		}, Want: "ok"},
		{Name: "a blind node", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("true", 5, 5, 0)
			n := s.Live("querynode", 13)
			n.Distribution, n.Outcome = nil, model.TimedOut
			return s
		}, Want: "skipped: not fully checked: querynode-13: timed out"},
		{Name: "not asked", Check: rulestest.ByID("node-idle"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12)
			s.Runtime.Nodes = nil
			return s
		}, Want: "skipped: the nodes were not queried"},

		{
			Name: "off, told by QueryCoord", Check: rulestest.ByID("auto-balance-off"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("false", 5, 5, 0) },
			Want: "warning nodes/querycoord-1 auto-balance is off (queryCoord.autoBalance=false) while a query node " +
				"is idle",
		},
		{Name: "off by a dynamic key", Check: rulestest.ByID("auto-balance-off"), Scene: func() *rulestest.Scene {
			s := rulestest.Spread("", 5, 5, 0)
			s.Parts.Config = []*model.ConfigEntry{{Name: "queryCoord/autoBalance", Value: "false"}}
			return s
		}, Want: "warning config/queryCoord/autoBalance auto-balance is off"},
		{Name: "off and even", Check: rulestest.ByID("auto-balance-off"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("false", 11, 12)
			s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			return s
		}, Want: "ok"},
		{
			Name: "uneven and on", Check: rulestest.ByID("auto-balance-off"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("true", 5, 5, 0) }, Want: "ok",
		},
		{
			Name: "uneven and unknown", Check: rulestest.ByID("auto-balance-off"),
			Scene: func() *rulestest.Scene { return rulestest.Spread("", 5, 5, 0) },
			Want:  "skipped: not fully checked: settings (queryCoord.autoBalance): no querycoord or mixcoord found",
		},
	})
}

// TestIdleElsewhere checks that an idle node is the cause of imbalance in its own resource group only.
func TestIdleElsewhere(t *testing.T) {
	s := rulestest.Spread("true", 5, 5, 0)
	for _, id := range []model.NodeID{21, 22, 23} {
		s.Node("querynode", id)
	}
	s.Parts.ResourceGroups = append(s.Parts.ResourceGroups, &model.ResourceGroup{
		Name: "other", Nodes: []model.NodeID{21, 22, 23},
	})
	s.Load(8, "other", map[model.NodeID]int{21: 14, 22: 5, 23: 5})
	c := model.Build(s.Parts).WithRuntime(model.BuildRuntime(s.Runtime))
	causes := make(map[string]string)
	for _, f := range check.Run(c, rulestest.SceneNow, []*check.Check{
		rulestest.ByID("node-idle"), rulestest.ByID("imbalance-rows"),
	}).Findings {
		causes[f.Key()] = f.Cause
	}
	want := map[string]string{
		"node-idle nodes/querynode-13": "", "imbalance-rows replicas/507": "node-idle nodes/querynode-13",
		"imbalance-rows replicas/508": "",
	}
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Error(diff)
	}
}
