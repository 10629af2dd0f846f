package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestChannelTwice(t *testing.T) {
	twice := func(w *rulestest.World) { w.VChannels[0].OtherWatchers = []model.NodeID{15} }
	rulestest.RunCases(t, rulestest.ByID("channel-watched-twice"), []rulestest.Case{
		{Name: "once"},
		{
			Name: "by two that live", Change: func(w *rulestest.World) { twice(w); w.Another("datanode", 15) },
			Want: []string{
				"error vchannels/" + rulestest.Channel0 + " " + rulestest.Channel0 +
					" of docs is assigned to datanode-5 and datanode-15",
			},
		},
		{
			Name: "by one that is gone", Change: twice,
			Want: []string{"warning vchannels/" + rulestest.Channel0 + " datanode-15"},
		},
		{
			Name:   "and in the buffer",
			Change: func(w *rulestest.World) { w.VChannels[0].OtherWatchers = []model.NodeID{model.UnassignedNode} },
		},
		{
			Name:   "while it is moved",
			Change: func(w *rulestest.World) { twice(w); w.VChannels[0].WatchState = "ToRelease" },
		},
		{
			Name:   "of a dropped collection",
			Change: func(w *rulestest.World) { twice(w); w.Collections[0].State = "Dropping" },
		},
	})
}
