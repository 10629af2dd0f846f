package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestUndecoded(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("undecoded-records"), []rulestest.Case{
		{Name: "none"},
		{Name: "some", Change: func(w *rulestest.World) {
			w.Undecoded = []*model.Undecoded{
				{Key: "a", Reason: "unknown key"},
				{Key: "b", Reason: "unknown key"},
				{Key: "c", Reason: "SegmentInfo: proto: cannot parse at 12"},
			}
		}, Want: []string{"info / 3 of 20 keys cannot be decoded, most often: unknown key"}},
		{
			Name: "not all read", Change: func(w *rulestest.World) { w.Loaded &^= model.PartUsers },
			Skipped: "could not be read",
		},
	})
}
