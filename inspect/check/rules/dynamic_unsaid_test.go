package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestDynamicMismatch(t *testing.T) {
	unsaid := func(w *rulestest.World) {
		c := w.Collections[0]
		c.DynamicUnsaid, c.Fields = true, append(c.Fields, &model.Field{ID: 103, Name: "$meta", Dynamic: true})
	}
	rulestest.Hold(t, rulestest.Named("dynamic-mismatch"), []rulestest.Verdict{
		{Name: "none"},
		{Name: "unsaid", Change: unsaid, Want: []string{"warning collections/1000 docs has the dynamic field $meta, and its record says that it has none"}},
		{Name: "being dropped", Change: func(w *rulestest.World) { unsaid(w); w.Collections[0].State = "Dropping" }},
	})
}
