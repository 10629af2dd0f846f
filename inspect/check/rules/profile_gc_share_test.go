package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestProfileGC(t *testing.T) {
	gc := func(x *model.ProfiledProcess, v, cores float64) { x.CPU.GC, x.CPU.Cores = sampledPart(v), cores }
	rulestest.RunCases(t, rulestest.ByID("profile-gc-share"), []rulestest.Case{
		{Name: "little", Change: profiled(nil)},
		{
			Name:   "much",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { gc(list[0], 0.3, 1.5) }),
			Want:   []string{"info nodes/querynode-21 spends 30% (27.0 to 33%)"},
		},
		{
			Name:   "too much",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { gc(list[0], 0.5, 1.5) }),
			Want:   []string{"warning nodes/querynode-21"},
		},
		{
			Name:   "too much of little",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { gc(list[0], 0.5, 0.3) }),
		},
		{
			Name:   "perhaps much",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { gc(list[0], 0.27, 1.5) }),
		},
	})
}
