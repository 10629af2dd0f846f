package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestProfileLocks(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("profile-lock-contention"), []rulestest.Case{
		{Name: "none", Change: profiled(nil)},
		{
			Name: "some",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				list[0].CPU.LockWait = sampledPart(0.1)
			}),
			Want: []string{"info nodes/querynode-21 spends 10%"},
		},
		{
			Name: "much",
			Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
				list[0].CPU.LockWait = sampledPart(0.3)
			}),
			Want: []string{"warning nodes/querynode-21 spends 30%"},
		},
		{Name: "waiting", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			list[0].Mutex = &model.MutexProfile{
				Enabled: true, Period: time.Second, Waiting: 20,
				Where: []model.WaitPlace{{Function: "main.hot", Part: 1}},
			}
		}), Want: []string{"warning nodes/querynode-21 20.0 goroutines wait for mutexes"}},
		{Name: "not recorded", Change: profiled(func(_ *rulestest.World, list []*model.ProfiledProcess) {
			list[0].Mutex = &model.MutexProfile{Period: time.Second}
		})},
		{Name: "mutex profiles alone", Change: profiled(func(w *rulestest.World, list []*model.ProfiledProcess) {
			for _, x := range list {
				x.CPU = nil
			}
			list[0].Mutex = &model.MutexProfile{Period: time.Second}
		}), Skipped: "no mutex profile with samples"},
	})
}
