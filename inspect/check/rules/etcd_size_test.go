package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestEtcdSize(t *testing.T) {
	size := func(n, inUse, quota int64) func(*rulestest.World) {
		return rulestest.Members(3, func(m []model.EtcdMember) {
			m[1].DBSize, m[1].DBInUse, m[1].DBQuota = n, inUse, quota
		})
	}
	rulestest.RunCases(t, rulestest.ByID("etcd-size"), []rulestest.Case{
		{Name: "small", Change: rulestest.Members(3, nil)},
		{
			Name: "most of its quota", Change: size(1700<<20, 1700<<20, 2<<30),
			Want: []string{"warning / the database of etcd member b is 1.7 GiB, 83% of its quota"},
		},
		{Name: "nearly all", Change: size(1990<<20, 1990<<20, 2<<30), Want: []string{"error / 97.2%"}},
		{Name: "much of a greater quota", Change: size(1990<<20, 1990<<20, 8<<30)},
		{
			Name: "quota unknown", Change: size(1990<<20, 1990<<20, 0),
			Want: []string{"info / its quota is not reported, the default is 2.0 GiB"},
		},
		{Name: "hollow", Change: size(900<<20, 200<<20, 8<<30), Want: []string{"info / 900 MiB, only 200 MiB in use"}},
		{Name: "use not told", Change: size(900<<20, 0, 8<<30)},
		{
			Name: "silent", Change: rulestest.Members(1, func(m []model.EtcdMember) { m[0].Problem = "no answer" }),
			Skipped: "no etcd member",
		},
	})
	r := rulestest.RunCheck(t, rulestest.ByID("etcd-size"), func(w *rulestest.World) {
		size(900<<20, 200<<20, 8<<30)(w)
		w.Etcd.Members[2].DBSize, w.Etcd.Members[2].DBInUse = 1<<30, 1<<30
	})
	if f := r.Findings[0]; f.Evidence[0].Value != "900 MiB" || f.Evidence[0].Source != "etcd e:1" {
		t.Errorf("the evidence is of another member than the message: %+v", f.Evidence)
	}
}
