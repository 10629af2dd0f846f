package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestProfileIdleNode(t *testing.T) {
	idle := func(x *model.ProfiledProcess, l model.ProfileLoad, cores float64) { x.CPU.Load, x.CPU.Cores = l, cores }
	rulestest.RunCases(t, rulestest.ByID("profile-idle-node"), []rulestest.Case{
		{Name: "none pulled", Skipped: "profiles were not pulled"},
		{Name: "even", Change: profiled(nil)},
		{
			Name: "idle",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				idle(list[1], model.LoadIdle, 0.01)
			}), Want: []string{
				"warning nodes/querynode-22 querynode-22 is idle: it uses 0.01 cores, the other 3 query nodes use " +
					"0.50 on average",
			},
		},
		{
			Name: "low",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				idle(list[1], model.LoadLow, 0.1)
			}), Want: []string{
				"info nodes/querynode-22 is nearly idle",
			},
		},
		{Name: "stopping", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Sessions[len(w.Sessions)-3].Stopping = true
		})},
		{Name: "just started", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			for _, n := range w.AddResponses().Nodes {
				if n.Node == 22 {
					n.System.StartedAt = w.Now.Add(-time.Minute)
				}
			}
		}), Want: []string{"info nodes/querynode-22 is idle"}},
		{Name: "its profile failed", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			list[1].CPU, list[1].CPUReason = nil, "timed out"
		}), Skipped: "CPU profile of querynode-22: timed out"},
		{Name: "one has none", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			w.Profiles.Processes = list[1:]
		}), Skipped: "profile of querynode-21: not taken"},
		{Name: "a file is broken", Change: profiled(func(w *rulestest.World, _ []*model.ProfiledProcess) {
			w.Profiles.Problems = []string{"querynode-21.cpu.pb.gz: cut off"}
		}), Skipped: "querynode-21.cpu.pb.gz: cut off"},
		{Name: "gone meanwhile", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0)
			list[1].Nodes = []model.NodeID{99}
			list[1].Name = "querynode-99"
		}), Skipped: "profile of querynode-22: not taken"},
		{Name: "a while ago", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.Now.Add(-21*time.Minute), w.Now.Add(-20*time.Minute)
		}), Want: []string{"warning nodes/querynode-22 is idle"}},
		{Name: "yesterday", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.Now.Add(-25*time.Hour), w.Now.Add(-24*time.Hour)
		}), Want: []string{"info nodes/querynode-22 is idle"}},
		{Name: "long after", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			idle(list[1], model.LoadIdle, 0.01)
			w.Profiles.From, w.Profiles.To = w.Now.Add(24*time.Hour), w.Now.Add(25*time.Hour)
		}), Want: []string{"info nodes/querynode-22 is idle"}},
		{
			Name: "no duration",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				list[1].CPU.Load = model.LoadUnknown
			}),
			Skipped: "its profile has no duration",
		},
	})
}
