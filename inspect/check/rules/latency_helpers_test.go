package rules_test

import (
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// withSearches adds searches of clients and their metrics.
func withSearches(x rulestest.Traffic, more ...func(*rulestest.World)) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.Serve()
		w.AddSearches(x)
		for _, f := range more {
			f(w)
		}
	}
}

// withMetrics changes the metrics of all processes of a role.
func withMetrics(role string, change func(m *model.Metrics)) func(*rulestest.World) {
	return func(w *rulestest.World) {
		for _, n := range w.Runtime.Nodes {
			if n.Role == role {
				change(n.Process.Metrics)
			}
		}
	}
}
