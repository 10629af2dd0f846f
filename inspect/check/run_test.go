package check

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestRunStatus(t *testing.T) {
	c := modeltest.Served()
	noNodes := modeltest.Small()
	unread := *noNodes
	unread.Loaded &^= model.PartTasks
	for _, x := range []struct {
		name    string
		cluster *model.Cluster
		check   *Check
		want    Status
		reason  string
	}{
		{"nothing found", c, fake("a"), OK, ""},
		{"something found", c, fake("a", about(Info, "nodes", "querynode-3")), Found, ""},
		{"not everything seen", c, blind("a"), Skipped, "not fully checked: querynode-7: timed out"},
		{"not everything seen, and something found", c, blind("a", about(Info, "nodes", "querynode-3")), Found, ""},
		{"nobody asked", noNodes, unable("a"), Skipped, "the nodes were not queried"},
		{
			"a part not read", &unread, &Check{ID: "a", Parts: model.PartTasks, Run: fake("a").Run}, Skipped,
			"the metadata it needs could not be read",
		},
		{
			"nothing to judge by", c, &Check{ID: "a", Run: func(p *Pass) { p.Skip("nothing is configured") }}, Skipped,
			"nothing is configured",
		},
		{"findings before a skip", c, &Check{ID: "a", Run: func(p *Pass) {
			p.Report(about(Warning, "nodes", "querynode-3"))
			p.Skip("the rest is unknown")
		}}, Found, "the rest is unknown"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := judge(t, x.cluster, x.check)
			if got := r.Results[0]; got.Status != x.want || got.Reason != x.reason {
				t.Errorf("%s: %q; want %s: %q", got.Status, got.Reason, x.want, x.reason)
			}
		})
	}
}

// TestPanicIsAFault checks that a check that panics has failed and has no findings, and that the other checks
// continue.
func TestPanicIsAFault(t *testing.T) {
	wild := &Check{ID: "wild", Run: func(p *Pass) {
		p.Report(about(Error, "nodes", "querynode-3"))
		past := len(p.Sessions)
		_ = p.Sessions[past]
	}}
	r := judge(t, modeltest.Served(), fake("a", about(Info, "nodes", "querynode-6")), wild, fake("b"))
	got := r.Results[1]
	if got.Status != Broken || len(got.Findings) > 0 ||
		!strings.Contains(got.Reason, "a bug in kitescope: runtime error: index out of range") ||
		!strings.Contains(got.Reason, "inspect/check/run_test.go:") {
		t.Errorf("%s: %s, %d findings", got.Status, got.Reason, len(got.Findings))
	}
	if diff := cmp.Diff([]string{"a nodes/querynode-6"}, keysOf(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if r.Results[0].Status != Found || r.Results[2].Status != OK {
		t.Errorf("the others: %s, %s", r.Results[0].Status, r.Results[2].Status)
	}
}

func TestRanking(t *testing.T) {
	f := func(s Severity, cost float64, id string) Finding {
		x := about(s, "segments", id)
		x.Cost = cost
		return x
	}
	r := judge(t, modeltest.Small(),
		fake("first", f(Info, 0.9, "1"), f(Warning, 0.1, "2"), f(Error, 0, "3")),
		fake("second", f(Error, 0.2, "4"), f(Warning, 0.1, "5"), f(Warning, 0.3, "6")),
	)
	want := []string{
		"second segments/4", "first segments/3", // errors, by cost
		"second segments/6", "first segments/2", "second segments/5", // equal costs: in the order of the checks
		"first segments/1",
	}
	if diff := cmp.Diff(want, keysOf(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if worst, ok := r.Worst(); worst != Error || !ok || r.Count(Warning) != 3 {
		t.Errorf("worst %s %v, %d warnings", worst, ok, r.Count(Warning))
	}
}

// TestCauses checks that an effect is placed after its cause and adds its weight to it.
func TestCauses(t *testing.T) {
	follows := func(id string, causes []Cause, findings ...Finding) *Check {
		x := fake(id, findings...)
		x.FollowsFrom = causes
		return x
	}
	lost := about(Error, "collections", "7")
	lost.Cost = 1
	lost.Objects = []model.Ref{{Resource: "nodes", ID: "querynode-3"}}
	other := about(Error, "collections", "8")
	other.Cost = 0.5
	r := judge(t, modeltest.Small(),
		fake("dead", about(Warning, "nodes", "querynode-3"), about(Warning, "nodes", "querynode-6")),
		follows("shard", []Cause{{Check: "dead", Applies: Shares("nodes")}}, lost, other),
		follows("rows", []Cause{{Check: "nothing"}, {Check: "shard", Applies: Shares("collections")}},
			about(Info, "collections", "7")),
	)
	want := []string{
		"dead nodes/querynode-3", "shard collections/7", "rows collections/7", // the warning has its effect's weight
		"shard collections/8",
		"dead nodes/querynode-6",
	}
	if diff := cmp.Diff(want, keysOf(r.Findings)); diff != "" {
		t.Error(diff)
	}
	causes := map[string]string{}
	for _, f := range r.Findings {
		causes[f.Key()] = f.Cause
	}
	if diff := cmp.Diff(map[string]string{
		"dead nodes/querynode-3": "", "dead nodes/querynode-6": "", "shard collections/8": "",
		"shard collections/7": "dead nodes/querynode-3", "rows collections/7": "shard collections/7",
	}, causes); diff != "" {
		t.Error(diff)
	}
}

// TestCauseCycle checks that findings are not lost if two checks name each other as the cause.
func TestCauseCycle(t *testing.T) {
	a, b := fake("a", about(Warning, "nodes", "querynode-3")), fake("b", about(Warning, "nodes", "querynode-3"))
	a.FollowsFrom, b.FollowsFrom = []Cause{{Check: "b"}}, []Cause{{Check: "a"}}
	if got := keysOf(judge(t, modeltest.Small(), a, b).Findings); len(got) != 2 {
		t.Errorf("left are %v", got)
	}
}

func TestAbout(t *testing.T) {
	f := about(Warning, "collections", "7")
	f.Objects = []model.Ref{{Resource: "segments", ID: "1"}}
	r := judge(t, modeltest.Small(), fake("a", f, about(Info, "segments", "7")))
	for _, x := range []struct {
		resource, id string
		want         []string
	}{
		{"collections", "7", []string{"a collections/7"}},
		{"segments", "1", []string{"a collections/7"}},
		{"segments", "7", []string{"a segments/7"}},
		{"segments", "8", []string{}},
	} {
		if diff := cmp.Diff(x.want, keysOf(r.About(x.resource, x.id))); diff != "" {
			t.Errorf("%s/%s: %s", x.resource, x.id, diff)
		}
	}
}

// TestNeeds checks the reason for each need that is not met.
func TestNeeds(t *testing.T) {
	now := modeltest.Now
	silent := model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{Role: "querynode", Node: 3, Outcome: model.Refused, Reason: "connection refused"},
			{
				Role: "querycoord", Node: 1, Outcome: model.Answered,
				Calls: []model.Call{{Method: "GetReplicas", Outcome: model.TimedOut}},
			},
			{Role: "datacoord", Node: 1, Outcome: model.Denied},
		}, Processes: []*model.Process{{Address: "10.0.0.3:9091", Outcome: model.TimedOut}},
		Skipped: []model.Skipped{{What: "message queue", Reason: "RocksMQ is inside the process"}},
	})
	unasked := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{Role: "querynode", Node: 3}}})
	c := modeltest.Small()
	noEtcd := *c
	noEtcd.Etcd = nil
	for _, x := range []struct {
		need    Need
		cluster *model.Cluster
		want    string
	}{
		{
			NeedDistribution, c.WithRuntime(silent),
			"no query node reported what it serves: querynode-3: refused: connection refused",
		},
		{NeedRecovery, c.WithRuntime(silent), "DataCoord did not report what should be served: datacoord-1: denied"},
		{
			NeedQueryCoord, c.WithRuntime(silent),
			"QueryCoord did not report what it has loaded: querycoord-1: GetReplicas timed out",
		},
		{NeedConfig, c.WithRuntime(silent), "no process reported its configuration"},
		{NeedMetrics, c.WithRuntime(silent), "no process reported its metrics"},
		{NeedSystem, c.WithRuntime(silent), "no process reported its CPU and memory"},
		{NeedQueue, c.WithRuntime(silent), "the message queue was not queried: RocksMQ is inside the process"},
		{NeedResponses, c.WithRuntime(silent), ""},
		{NeedResponses, c.WithRuntime(unasked), "no process was queried"},
		{NeedEtcd, &noEtcd, "the health of etcd was not queried"},
		{NeedDistribution, c, "the nodes were not queried"},
	} {
		r := Run(x.cluster, now, []*Check{{ID: "a", Needs: x.need, Run: func(*Pass) {}}})
		if got := r.Results[0].Reason; got != x.want {
			t.Errorf("need %b: %q; want %q", x.need, got, x.want)
		}
	}
}

// TestUnseenNodesReported checks that a check that sees some of the nodes runs and lists the others. A node
// without a session, known only from other nodes, is not listed.
func TestUnseenNodesReported(t *testing.T) {
	c := modeltest.Served()
	parts := c.Runtime.RuntimeParts
	parts.Nodes = append(slices.Clip(parts.Nodes), &model.LiveNode{
		Role: "querynode", Node: 99, Reason: "not asked itself",
	})
	r := Run(c.WithRuntime(model.BuildRuntime(parts)), modeltest.Now,
		[]*Check{{ID: "a", Needs: NeedDistribution, Run: func(*Pass) {}}})
	if diff := cmp.Diff([]string{"querynode-12: timed out: no response within 5s"}, r.Results[0].Unseen); diff != "" {
		t.Error(diff)
	}
}

// TestRunIsDeterministic checks that findings have a fixed order although checks run concurrently.
func TestRunIsDeterministic(t *testing.T) {
	slow := fake("slow", about(Warning, "nodes", "querynode-3"))
	run := slow.Run
	slow.Run = func(p *Pass) {
		time.Sleep(time.Millisecond)
		run(p)
	}
	checks := []*Check{slow}
	for id := range strings.FieldsSeq("b c d e f g h i j k") {
		checks = append(checks,
			fake(id, about(Warning, "nodes", "querynode-3"), about(Warning, "nodes", "querynode-6")))
	}
	first := keysOf(judge(t, modeltest.Small(), checks...).Findings)
	for range 10 {
		if diff := cmp.Diff(first, keysOf(judge(t, modeltest.Small(), checks...).Findings)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestNoResponseRanksFirst checks that the finding that no process answered comes first, however severe the others
// are. If a process answered, it has its usual place.
func TestNoResponseRanksFirst(t *testing.T) {
	silence := fake("silence", about(Info, "", ""))
	silence.Needs = NeedResponses
	for outcome, want := range map[model.Outcome][]string{
		model.Refused: {"silence", "bad"}, model.Answered: {"bad", "silence"},
	} {
		c := modeltest.Small().
			WithRuntime(model.BuildRuntime(model.RuntimeParts{
				Nodes: []*model.LiveNode{{Role: "proxy", Node: 4, Outcome: outcome}},
			}))
		var got []string
		for _, f := range judge(t, c, fake("bad", about(Error, "nodes", "querynode-3")), silence).Findings {
			got = append(got, f.Check)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", outcome, diff)
		}
	}
}

// TestNeedNames checks that each need has its own name.
func TestNeedNames(t *testing.T) {
	if got := (&Check{Needs: NeedStorage}).Reads(); len(needNames) != bits.Len16(uint16(NeedStorage)) ||
		!slices.Contains(got, "files in storage") {
		t.Errorf("%d names, storage is %q", len(needNames), got)
	}
}
