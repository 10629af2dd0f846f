package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestEtcdNoLeader(t *testing.T) {
	silent := func(ids ...int) func([]model.EtcdMember) {
		return func(m []model.EtcdMember) {
			for _, i := range ids {
				m[i].Problem, m[i].Leader = "no response from here", false
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("etcd-no-leader"), []rulestest.Case{
		{Name: "well", Change: rulestest.Members(3, nil)},
		{Name: "one alone", Change: rulestest.Members(1, nil)},
		{Name: "no leader", Change: rulestest.Members(3, func(m []model.EtcdMember) {
			m[0].Leader = false
			for i := range m {
				m[i].Errors = []string{"etcdserver: no leader"}
			}
		}), Want: []string{"error / etcd has no leader and cannot write"}},
		{Name: "the only one that answers knows no leader", Change: rulestest.Members(3, func(m []model.EtcdMember) {
			silent(1, 2)(m)
			m[0].Leader, m[0].Errors = false, []string{"etcdserver: no leader"}
		}), Want: []string{"error / etcd has no leader and cannot write"}},
		{
			Name: "one member cut off",
			Change: rulestest.Members(3, func(m []model.EtcdMember) {
				m[2].Errors = []string{"etcdserver: no leader"}
			}),
			Want: []string{"warning / 1 of 3 etcd members sees no leader, the others do"},
		},
		{
			Name: "two lead", Change: rulestest.Members(3, func(m []model.EtcdMember) { m[2].Leader = true }),
			Want: []string{"warning / 2 etcd members claim to lead"},
		},
		{
			Name:    "the leader is not among those listed",
			Change:  rulestest.Members(1, func(m []model.EtcdMember) { m[0].Leader = false }),
			Skipped: "the leader of etcd: not among the members",
		},
		{Name: "members not listed", Change: func(w *rulestest.World) {
			rulestest.Members(1, nil)(w)
			w.Etcd.Problem = "members could not be listed: permission denied"
		}, Skipped: "members could not be listed"},
		{
			Name: "one silent of three that answer", Change: rulestest.Members(3, silent(2)),
			Want: []string{"warning / 1 of 3 etcd members does not respond to kitescope"},
		},
		{
			Name: "the leader silent", Change: rulestest.Members(3, silent(0)),
			Want: []string{"warning / 1 of 3 etcd members"},
		},
		{
			Name: "one answers, through a forwarded port", Change: rulestest.Members(3, silent(1, 2)),
			Want: []string{"info / 2 of 3 etcd members do not respond to kitescope; there is a leader"},
		},
		{
			Name: "one answers, the others refuse",
			Change: rulestest.Members(3, func(m []model.EtcdMember) {
				silent(1, 2)(m)
				m[1].Problem += ": connection refused"
			}),
			Want: []string{"warning / 2 of 3 etcd members do not respond to kitescope; there is a leader"},
		},
		{
			Name:   "a silent learner",
			Change: rulestest.Members(3, func(m []model.EtcdMember) { silent(2)(m); m[2].Learner = true }),
		},
		{
			Name: "all silent", Change: rulestest.Members(3, silent(0, 1, 2)),
			Want: []string{"error / etcd is not responding"},
		},
	})
}
