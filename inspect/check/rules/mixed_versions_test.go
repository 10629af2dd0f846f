package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
)

func TestMixedVersions(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("mixed-versions"), []rulestest.Case{
		{
			Name: "two", Change: func(w *rulestest.World) { w.Sessions[3].Version = "2.4.6" },
			Want: []string{
				"warning / different versions are running: 2.4.5 (datacoord-2, datanode-5, indexnode-6 and 3 more), " +
					"2.4.6 (querynode-4)",
			},
		},
		{Name: "written differently", Change: func(w *rulestest.World) { w.Sessions[3].Version = "v2.4.5" }},
		{
			Name:   "stopping ones do not count",
			Change: func(w *rulestest.World) { w.Sessions[3].Version, w.Sessions[3].Stopping = "2.4.4", true },
		},
		{
			Name:   "two builds",
			Change: func(w *rulestest.World) { w.AddResponses(); w.Live("querynode").System.BuildTime = "Tuesday" },
			Want:   []string{"info / 2 builds of one version are running"},
		},
		{Name: "no versions", Change: func(w *rulestest.World) {
			for _, s := range w.Sessions {
				s.Version = ""
			}
		}, Skipped: "sessions have no version"},
		{Name: "nobody", Change: func(w *rulestest.World) { w.Sessions = nil }, Skipped: "no process is registered"},
	})
}
