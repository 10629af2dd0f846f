package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestDependencyUnhealthy(t *testing.T) {
	found := func(list ...model.Dependency) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for _, s := range w.Sessions {
				if s.Role == "proxy" {
					s.Version = "2.6.22"
				}
			}
			r := w.AddResponses()
			r.Processes = append(r.Processes, &model.Process{Dependencies: list})
		}
	}
	etcd := func(member string, healthy model.Tristate, reason string) model.Dependency {
		return model.Dependency{
			Proxy: 4, Kind: "metadata store", Type: "etcd", Member: member, Healthy: healthy, Reason: reason,
		}
	}
	object := "dependencies/metadata store/etcd "
	rulestest.RunCases(t, rulestest.ByID("dependency-unhealthy"), []rulestest.Case{
		{Name: "healthy", Change: found(etcd("", model.Yes, ""), etcd("etcd-0", model.Yes, ""))},
		{
			Name: "one of three",
			Change: found(etcd("", model.No, "not all"), etcd("etcd-0", model.Yes, ""),
				etcd("etcd-1", model.No, "timeout"), etcd("etcd-2", model.Yes, "")),
			Want: []string{"warning " + object + "proxy-4 finds 1 of 3 members of the metadata store (etcd) unhealthy"},
		},
		{
			Name: "one of two",
			Change: found(etcd("", model.No, "not all"), etcd("etcd-0", model.Yes, ""),
				etcd("etcd-1", model.No, "timeout")),
			Want: []string{"error " + object + "proxy-4 finds 1 of 2 members of the metadata store (etcd) unhealthy"},
		},
		{
			Name: "no members", Change: found(etcd("", model.No, "cannot connect")),
			Want: []string{"error " + object + "proxy-4 finds the metadata store (etcd) unhealthy: cannot connect"},
		},
		{
			Name:   "not checked by Milvus",
			Change: found(model.Dependency{Proxy: 4, Kind: "message queue", Type: "woodpecker"}),
		},
		{Name: "not asked", Change: found(), Skipped: "no proxy reported its dependencies"},
		{Name: "would write", Change: func(w *rulestest.World) {
			found()(w)
			w.Runtime.Skipped = []model.Skipped{
				{What: "dependencies reported by proxy-4", Reason: "the message queue is Pulsar"},
			}
		}},
		{Name: "an older release", Change: func(w *rulestest.World) { w.AddResponses() }},
	})
}
