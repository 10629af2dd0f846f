package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestEtcdAlarm(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("etcd-alarm"), []rulestest.Case{
		{Name: "well", Change: rulestest.Members(3, nil)},
		{
			Name:   "full",
			Change: rulestest.Members(3, func(m []model.EtcdMember) { m[1].Errors = []string{"NOSPACE"} }),
			Want:   []string{"error / etcd reports NOSPACE: its database is full, and every write is refused"},
		},
		{
			Name: "as etcd writes it", Change: rulestest.Members(3, func(m []model.EtcdMember) {
				m[0].Errors, m[1].Errors = []string{"memberID:10276657743932975437 alarm:NOSPACE "}, []string{
					"memberID:10276657743932975437 alarm:NOSPACE ", "memberID:11 alarm:CORRUPT ",
				}
			}), Want: []string{"error / etcd reports CORRUPT and NOSPACE: its database is full"},
		},
		{
			Name:   "corrupt",
			Change: rulestest.Members(1, func(m []model.EtcdMember) { m[0].Errors = []string{"CORRUPT"} }),
			Want:   []string{"error / etcd reports CORRUPT"},
		},
		{
			Name: "no leader is another check's",
			Change: rulestest.Members(1, func(m []model.EtcdMember) {
				m[0].Errors = []string{"etcdserver: no leader"}
			}),
		},
		{
			Name:   "one member silent: the others know its alarms",
			Change: rulestest.Members(3, func(m []model.EtcdMember) { m[2].Problem = "no answer" }),
		},
		{
			Name: "all silent", Change: rulestest.Members(1, func(m []model.EtcdMember) { m[0].Problem = "no answer" }),
			Skipped: "no etcd member",
		},
		{Name: "not asked", Skipped: "the health of etcd was not queried"},
	})
}
