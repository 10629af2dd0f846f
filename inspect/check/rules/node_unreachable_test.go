package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestNodeUnreachable(t *testing.T) {
	silent := func(o model.Outcome) func(*rulestest.World) {
		return func(w *rulestest.World) { w.Serve(); w.Silence(rulestest.NodeB, o) }
	}
	rulestest.RunCases(t, rulestest.ByID("node-unreachable"), []rulestest.Case{
		{
			Name: "dead", Change: silent(model.Refused),
			Want: []string{"error nodes/querynode-8 nothing listens there: the process is dead"},
		},
		{
			Name: "hangs", Change: silent(model.TimedOut),
			Want: []string{"error nodes/querynode-8 not responding: timed out"},
		},
		{
			Name: "out of reach", Change: silent(model.Unreachable),
			Want: []string{"warning nodes/querynode-8 not reachable: unreachable"},
		},
		{
			Name: "wants credentials", Change: silent(model.Denied),
			Want: []string{"warning nodes/querynode-8 not reachable: denied"},
		},
		{
			Name:   "not healthy",
			Change: func(w *rulestest.World) { silent(model.NotReady)(w); w.Query(rulestest.NodeB).State = "Abnormal" },
			Want:   []string{"error nodes/querynode-8 reports that it is not healthy: Abnormal"},
		},
		{
			Name:   "answers, and is not healthy",
			Change: func(w *rulestest.World) { w.Serve(); w.Query(rulestest.NodeB).State = "Initializing" },
			Want:   []string{"error nodes/querynode-8 not healthy: Initializing"},
		},
		{Name: "is starting", Change: func(w *rulestest.World) {
			w.Serve()
			n := w.Query(rulestest.NodeB)
			n.State, n.System.StartedAt = "Initializing", w.Now.Add(-20*time.Second)
		}, Want: []string{"info nodes/querynode-8 not healthy: Initializing, started 20 s ago"}},
		{Name: "of no use yet", Change: func(w *rulestest.World) {
			silent(model.Refused)(w)
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA}
		}, Want: []string{"warning nodes/querynode-8 nothing listens there"}},
		{Name: "a data node", Change: func(w *rulestest.World) {
			w.Serve()
			w.Live("datanode").Outcome = model.Refused
		}, Want: []string{"error nodes/datanode-5 data node datanode-5 at 10.0.0.5:1"}},
		{Name: "a standby coordinator", Change: func(w *rulestest.World) {
			w.Serve()
			n := w.Another("rootcoord", 30)
			n.Outcome, n.State = model.NotReady, "StandBy"
		}},
		{Name: "stopping", Change: func(w *rulestest.World) {
			silent(model.Refused)(w)
			w.Sessions[len(w.Sessions)-1].Stopping = true
		}},
		{Name: "stale", Change: silent(model.Stale)},
		{Name: "not asked", Change: silent(model.NotAsked), Skipped: "querynode-8: not asked"},
		{
			Name: "a version without the call", Change: silent(model.Unimplemented),
			Skipped: "querynode-8: unimplemented",
		},
		{
			Name: "nobody answers", Change: func(w *rulestest.World) { w.Serve(); w.SilenceAll(model.Unreachable) },
			Want: []string{"warning / responds; first: datacoord-2 at 10.0.0.2:1, unreachable"},
		},
	})
}

// TestDuties checks that the finding of a dead node lists the objects that depend on it, and has their loss as cost.
func TestDuties(t *testing.T) {
	r := rulestest.RunCheck(t, rulestest.ByID("node-unreachable"), func(w *rulestest.World) {
		w.Serve()
		w.Silence(rulestest.NodeB, model.Refused)
	})
	f := r.Findings[0]
	if f.Cost != 1 {
		t.Errorf("the only collection is lost, and the cost is %v", f.Cost)
	}
	for _, ref := range []model.Ref{
		{Resource: "collections", ID: "1000"}, {Resource: "vchannels", ID: rulestest.Channel1},
	} {
		if !f.Mentions(ref) {
			t.Errorf("%v is not among its objects: %v", ref, f.Objects)
		}
	}
	if !slices.ContainsFunc(f.Evidence, func(e check.Evidence) bool { return e.Value == "1 segment, 90,000 rows" }) {
		t.Errorf("it does not say what leaders ask the node for: %v", f.Evidence)
	}
	two := rulestest.RunCheck(t, rulestest.ByID("node-unreachable"), func(w *rulestest.World) {
		w.Serve()
		w.Silence(rulestest.NodeB, model.Refused)
		w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeB}
		w.Replicas = append(w.Replicas, &model.Replica{
			ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{rulestest.NodeA},
		})
	})
	if cost := two.Findings[0].Cost; cost != 0.5 {
		t.Errorf("one of two replicas is lost, and the cost is %v", cost)
	}
}

// TestSuccessors checks that a takeover is reported only if there is another process of the role.
func TestSuccessors(t *testing.T) {
	dead := func(role string, more ...model.NodeID) *check.Finding {
		r := rulestest.RunCheck(t, rulestest.ByID("node-unreachable"), func(w *rulestest.World) {
			w.Serve()
			for _, id := range more {
				w.Another(role, id)
			}
			w.Live(role).Outcome = model.Refused
		})
		return r.Findings[0]
	}
	for _, x := range []struct {
		role         string
		others       []model.NodeID
		hint, impact string
		lacks        string
	}{
		{"querycoord", nil, "there is no other QueryCoord to take over", "", "querycoord"},
		{"proxy", nil, "there is no other proxy", "Every request fails", "proxy"},
		{"proxy", []model.NodeID{40}, "point its clients to proxy-40", "those of proxy-40 are not affected", ""},
		{"querynode", nil, "querynode-8 takes over", "none of which has another", ""},
		{"datanode", nil, "there is no other data node", "nothing is written to storage", "datanode"},
		{"indexnode", nil, "there is no other index node", "No index is built", "indexnode"},
		{
			"indexnode",
			[]model.NodeID{40, 41},
			"indexnode-40 and indexnode-41 take over",
			"until they are assigned to another", "",
		},
	} {
		f := dead(x.role, x.others...)
		if !strings.Contains(f.Advice(), x.hint) || !strings.Contains(f.Impact, x.impact) || f.MissingRole != x.lacks {
			t.Errorf("%s beside %v: %q, %q, lacks %q", x.role, x.others, f.Advice(), f.Impact, f.MissingRole)
		}
	}
}

// TestOneFindingPerProcess checks that a DataCoord and an IndexCoord at one address yield one finding.
func TestOneFindingPerProcess(t *testing.T) {
	for outcome, check := range map[model.Outcome]*check.Check{
		model.Refused: rulestest.ByID("node-unreachable"), model.Stale: rulestest.ByID("stale-session"),
	} {
		r := rulestest.RunCheck(t, check, func(w *rulestest.World) {
			w.Serve()
			also := w.Another("indexcoord", 2)
			at := w.Live("datacoord")
			also.Address, also.Outcome, at.Outcome = at.Address, outcome, outcome
			w.Sessions[len(w.Sessions)-1].Address = at.Address
		})
		if len(r.Findings) != 1 || r.Findings[0].Object.ID != "datacoord-2" ||
			!r.Findings[0].Mentions(facts.RefNode("indexcoord", 2)) {
			t.Errorf("%s: %d findings, the first of %v beside %v", check.ID, len(r.Findings), r.Findings[0].Object,
				r.Findings[0].Objects)
		}
	}
}

// TestTwoAtOneAddress checks that two query nodes at one address count as two processes with a finding each.
func TestTwoAtOneAddress(t *testing.T) {
	r := rulestest.RunCheck(t, rulestest.ByID("node-unreachable"), func(w *rulestest.World) {
		w.Serve()
		also, at := w.Another("querynode", 24), w.Live("querynode")
		also.Address, also.Outcome, at.Outcome = at.Address, model.Refused, model.Refused
		w.Sessions[len(w.Sessions)-1].Address = at.Address
	})
	if len(r.Findings) != 2 {
		t.Errorf("%d findings, want one for each", len(r.Findings))
	}
}
