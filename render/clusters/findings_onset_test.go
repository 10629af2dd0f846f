package clusters

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/why"
)

// onsets returns an onset of each kind.
func onsets(r *check.Report) map[*check.Finding]*why.Onset {
	at := r.Now.Add(-12 * time.Minute)
	joined := history.Event{
		Time: at.Add(-22 * time.Second), Revision: 4690, Kind: "node_joined",
		Object: model.Ref{Resource: "nodes", ID: "querynode-6", Name: "querynode-6"}, Message: "joined: 2.3.5",
	}
	off := history.Event{
		Time: at.Add(-8 * time.Second), Revision: 4700, Kind: "config_changed",
		Object:  model.Ref{Resource: "config", ID: "queryCoord/autoBalance", Name: "queryCoord/autoBalance"},
		Message: "set to false (was true)",
	}
	undated := joined
	undated.Time = time.Time{}
	list := []why.Onset{
		{
			Finding: r.Findings[0], Revision: 4701, Began: at, Error: 1600 * time.Millisecond,
			Before: []history.Event{off, joined},
		},
		{Finding: r.Findings[1], Unknown: "no node data from that time", Before: []history.Event{undated}},
		{
			Finding: r.Findings[2], Revision: 4000, Began: r.Now.Add(-26 * time.Hour), Error: why.UnknownError,
			MaybeOlder: true, OlderReason: "start of the history",
		},
	}
	return why.ByFinding(list)
}
