package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestProfileLeak(t *testing.T) {
	grow := func(x *model.ProfiledProcess, dumps int, over time.Duration, before, after int64) {
		d := x.Goroutines
		d.Dumps, d.From = dumps, d.To.Add(-over)
		d.Grown = []model.GrownStack{
			{
				Function: "main.leaky", Entry: "main.start", Frames: []string{"runtime.gopark", "main.leaky"},
				Before: before, After: after, Steady: true, P: 1e-9,
			},
		}
	}
	rulestest.RunCases(t, rulestest.ByID("profile-goroutine-leak"), []rulestest.Case{
		{Name: "none", Change: profiled(nil)},
		{
			Name: "two dumps",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				grow(list[0], 2, time.Hour, 10, 500)
			}), Want: []string{
				"info nodes/querynode-21 goroutines in main.leaky grew from 10 to 500 in 60 min",
			},
		},
		{
			Name: "more and more",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				grow(list[0], 4, time.Hour, 10, 500)
			}),
			Want: []string{"warning nodes/querynode-21"},
		},
		{
			Name: "a few seconds",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				grow(list[0], 4, time.Second, 10, 500)
			}),
			Want: []string{"info nodes/querynode-21"},
		},
		{
			Name: "very many",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				grow(list[0], 2, time.Second, 10, 20_000)
			}),
			Want: []string{"warning nodes/querynode-21"},
		},
		{
			Name: "a burst",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				grow(list[0], 2, time.Hour, 10, 90)
			}),
		},
		{Name: "counted once", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			for _, x := range list {
				x.Goroutines.Dumps = 1
			}
		}), Skipped: "two goroutine profiles"},
	})
}
