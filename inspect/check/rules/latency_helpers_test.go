package rules_test

import (
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// searched adds searches of clients and their metrics.
func searched(x rulestest.Traffic, more ...func(*rulestest.World)) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.Serve()
		w.Searched(x)
		for _, f := range more {
			f(w)
		}
	}
}

// of changes the metrics of all processes of a role.
func of(role string, change func(m *model.Metrics)) func(*rulestest.World) {
	return func(w *rulestest.World) {
		for _, n := range w.Runtime.Nodes {
			if n.Role == role {
				change(n.Process.Metrics)
			}
		}
	}
}
