package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestProfileBruteForce(t *testing.T) {
	brute := func(x *model.ProfiledProcess, v float64) { s := sampledPart(v); x.CPU.BruteForce = &s }
	rulestest.RunCases(t, rulestest.ByID("profile-brute-force-share"), []rulestest.Case{
		{Name: "even", Change: profiled(nil)},
		{
			Name:   "one far above",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { brute(list[2], 0.4) }),
			Want: []string{
				"warning nodes/querynode-23 querynode-23 spends 40% (37.0 to 43%) of its time on brute force, the " +
					"others at most 5%",
			},
		},
		{
			Name:   "one a little above",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) { brute(list[2], 0.13) }),
		},
		{
			Name: "all high", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
				for _, x := range list[:4] {
					brute(x, 0.7)
				}
			}),
			Want: []string{
				"warning nodes/querynode-21", "warning nodes/querynode-22", "warning nodes/querynode-23",
				"warning nodes/querynode-24",
			},
		},
		{
			Name: "all high by design", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
				for _, x := range list[:4] {
					brute(x, 0.7)
				}
				for _, i := range w.Indexes {
					i.Type = "FLAT"
				}
			}),
			Want: []string{
				"info nodes/querynode-21", "info nodes/querynode-22", "info nodes/querynode-23",
				"info nodes/querynode-24",
			},
		},
		{Name: "high of almost nothing", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			brute(list[2], 0.9)
			list[2].CPU.Cores = 0.02
		})},
		{Name: "not known of one", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			list[0].CPU.BruteForce, list[0].CPU.BruteReason = nil, "libknowhere has no symbols"
			brute(list[2], 0.4)
		}), Skipped: "brute force on querynode-21: libknowhere has no symbols"},
		{
			Name: "through OpenMP", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				for _, x := range list[:4] {
					x.CPU.BruteForce, x.CPU.BruteReason = nil, "libknowhere has no symbols"
				}
				list[3].CPU.OpenMP = sampledPart(0.6)
			}),
			Want: []string{
				"info nodes/querynode-24 on brute force or IVF (search through OpenMP), the others at most 5%",
			},
		},
	})
}
