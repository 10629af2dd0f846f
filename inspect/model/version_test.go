package model_test

import (
	"testing"

	"kitescope/inspect/model"
)

func TestSortKey(t *testing.T) {
	const either = "partition key or namespace"
	for _, c := range []struct {
		v    model.Version
		want string
	}{
		{model.Version{Text: "2.6.23", From: "sessions"}, "partition key"},
		{model.Version{Text: "3.0.1", From: "sessions", Others: []string{"3.1.0"}}, "namespace"},
		{model.Version{Text: "3.0.1", From: "sessions", Others: []string{"2.6.22"}}, either}, // upgrade under way
		{model.Version{Text: "3.0 or newer", From: "key layout"}, either},                    // writer unknown
		{model.Version{Text: "unknown", From: "sessions"}, either},
		{model.Version{}, either},
	} {
		if got := c.v.SortKey(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.v, got, c.want)
		}
	}
}
