package why_test

import (
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/why"
)

// searchOf returns the budget of a search of 200 ms: 150 ms wait for consistency, 40 ms search growing segments
// on query nodes 3 and 4 (30 ms and 10 ms), 6 ms reduce on the proxy, 4 ms are unexplained.
func searchOf(id model.CollectionID, name string) *latency.Budget {
	part := func(name latency.Name, ms float64) *latency.Phase {
		return &latency.Phase{
			Name: name, Parent: latency.WaitForNodes, Role: "querynode", Known: true, Ms: ms, Share: ms / 200,
		}
	}
	growing := part(latency.KernelGrowing, 40)
	growing.Nodes = []latency.NodePhase{
		{Role: "querynode", Node: 3, Waited: 30}, {Role: "querynode", Node: 4, Waited: 10},
	}
	return &latency.Budget{
		Collection: id, Name: name, Request: latency.Search, Requests: 100, Ms: 200,
		Root: &latency.Phase{Name: latency.Total, Known: true, Ms: 200, Share: 1, Children: []*latency.Phase{
			{
				Name: latency.WaitForNodes, Parent: latency.Total, Known: true, Ms: 190, Share: 0.95,
				Children: []*latency.Phase{growing, part(latency.ConsistencyWait, 150)},
				Nodes:    []latency.NodePhase{{Role: "querynode", Node: 3, Waited: 190}},
			},
			part(latency.ReduceProxy, 6), part(latency.Unexplained, 4),
		}},
	}
}

func report(c *model.Cluster, findings ...*check.Finding) *check.Report {
	r := &check.Report{Cluster: c, Findings: findings}
	for _, x := range []*check.Check{
		{ID: "waits"},
		{ID: "grows", Phases: []latency.Name{latency.KernelGrowing}},
		{ID: "other", Phases: []latency.Name{latency.ReduceProxy}},
		{ID: "stops", Phases: []latency.Name{latency.WaitForNodes}},
	} {
		r.Results = append(r.Results, &check.Result{Check: x})
	}
	return r
}

func TestReasons(t *testing.T) {
	c := model.Build(model.Parts{
		Collections: []*model.Collection{{ID: 1, Name: "docs"}, {ID: 2, Name: "pics"}},
		Segments:    []*model.Segment{{ID: 11, Collection: 1}, {ID: 21, Collection: 2}},
		VChannels:   []*model.VChannel{{Name: "dml_0_1v0", Collection: 1}},
	})
	waits := &check.Finding{
		Check: "waits", Severity: check.Warning, Message: "searches are Strong",
		Slows: []check.Slowdown{
			{
				Collection: 1, Request: latency.Search, Phase: latency.ConsistencyWait, Ms: 148,
				Gain: latency.Interval{Low: 140, High: 150},
			},
		},
	}
	slow := func(phase latency.Name, ms float64) *check.Finding {
		return &check.Finding{
			Check: "waits", Severity: check.Warning,
			Slows: []check.Slowdown{{Request: latency.Search, Phase: phase, Ms: ms, Gain: latency.Interval{High: ms}}},
		}
	}
	grows := func(severity check.Severity, ref model.Ref) *check.Finding {
		return &check.Finding{Check: "grows", Severity: severity, Message: "growing", Object: ref}
	}
	both := &check.Finding{Check: "waits", Severity: check.Warning, Slows: []check.Slowdown{{
		Request: latency.Search, Phase: latency.ConsistencyWait, Ms: 170, Gain: latency.Interval{Low: 150, High: 170},
		Parts: []check.SlowPart{
			{Phase: latency.ConsistencyWait, Ms: 140},
			{Phase: latency.KernelGrowing, Parent: latency.WaitForNodes, Ms: 30},
			{Phase: latency.KernelGrowing, Parent: latency.Total, Ms: 900},
		},
	}}}
	growing := func(severity check.Severity, cause string) *check.Finding {
		return &check.Finding{
			Check: "grows", Severity: severity, Cause: cause,
			Object: model.Ref{Resource: "nodes", ID: "querynode-3"}, Slows: []check.Slowdown{
				{Request: latency.Search, Phase: latency.KernelGrowing, Ms: 30, Gain: latency.Interval{High: 30}},
			},
		}
	}
	meant, follows := growing(check.Info, ""), growing(check.Warning, waits.Key())
	round := []*check.Finding{
		growing(check.Warning, "other /"), {Check: "other", Severity: check.Warning, Cause: "grows nodes/querynode-3"},
	}
	behind := grows(check.Warning, model.Ref{Resource: "collections", ID: "1"})
	behind.Cause = (&check.Finding{Check: "root"}).Key()
	tests := []struct {
		name     string
		findings []*check.Finding
		want     string // phase=finding pairs, the longest phase first
	}{
		{"nothing found", nil, "consistency_wait=- kernel_growing=-"},
		{"a finding that says what it costs", []*check.Finding{waits}, "consistency_wait=waits kernel_growing=-"},
		{
			"one that says what it costs above",
			[]*check.Finding{slow(latency.WaitForNodes, 180)},
			"consistency_wait=waits kernel_growing=-",
		},
		{
			"its segment",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "segments", ID: "11"})},
			"consistency_wait=- kernel_growing=grows",
		},
		{
			"its channel",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "vchannels", ID: "dml_0_1v0"})},
			"consistency_wait=- kernel_growing=grows",
		},
		{
			"a node that is waited for",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "nodes", ID: "querynode-4"})},
			"consistency_wait=- kernel_growing=grows",
		},
		{
			"another collection's segment",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "segments", ID: "21"})},
			"consistency_wait=- kernel_growing=-",
		},
		{
			"a segment that is gone",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "segments", ID: "99"})},
			"consistency_wait=- kernel_growing=-",
		},
		{
			"a node that has no part in it",
			[]*check.Finding{grows(check.Warning, model.Ref{Resource: "nodes", ID: "querynode-5"})},
			"consistency_wait=- kernel_growing=-",
		},
		{
			"a node that the whole waits for",
			[]*check.Finding{
				{Check: "stops", Severity: check.Warning, Object: model.Ref{Resource: "nodes", ID: "querynode-3"}},
			},
			"consistency_wait=stops kernel_growing=stops",
		},
		{"two phases of one", []*check.Finding{both}, "consistency_wait=waits kernel_growing=waits"},
		{"what they are behind", []*check.Finding{waits, follows}, "consistency_wait=waits kernel_growing=waits"},
		{
			"what one of its phase is behind",
			[]*check.Finding{{Check: "root", Severity: check.Info}, behind},
			"consistency_wait=- kernel_growing=root",
		},
		{"a circle", []*check.Finding{round[0], round[1]}, "consistency_wait=- kernel_growing=grows"},
		{
			"a warning before what is meant to be",
			[]*check.Finding{meant, slow(latency.KernelGrowing, 15)},
			"consistency_wait=- kernel_growing=waits",
		},
		{
			"a warning about little of it",
			[]*check.Finding{meant, slow(latency.KernelGrowing, 5)},
			"consistency_wait=- kernel_growing=grows",
		},
		{
			"an information explains nothing",
			[]*check.Finding{grows(check.Info, model.Ref{Resource: "collections", ID: "1"})},
			"consistency_wait=- kernel_growing=-",
		},
		{
			"a phase that nobody feels",
			[]*check.Finding{
				{Check: "other", Severity: check.Error, Object: model.Ref{Resource: "collections", ID: "1"}},
			},
			"consistency_wait=- kernel_growing=-",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := why.Explain([]*latency.Budget{searchOf(1, "docs")}, report(c, test.findings...))[0]
			var got []string
			for _, r := range a.Reasons {
				word := "-"
				if r.Finding != nil {
					word = r.Finding.Check
				}
				got = append(got, string(r.Phase.Name)+"="+word)
				if known := r.Finding != nil &&
					(len(r.Finding.Slows) > 0 || r.Effect != nil && len(r.Effect.Slows) > 0); r.Bound == known {
					t.Errorf("%s: bound is %v", r.Phase.Name, r.Bound)
				}
				if r.Bound && r.Gain != (latency.Interval{High: r.Phase.Ms}) {
					t.Errorf("%s gains %v, and more than that is in no phase", r.Phase.Name, r.Gain)
				}
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

// TestVerdict checks that the sentence contains the finding that explains most of the time and the latency
// without it. It leaves out small gains and findings about small phases.
func TestVerdict(t *testing.T) {
	c := model.Build(model.Parts{Collections: []*model.Collection{{ID: 1, Name: "docs"}}})
	slows := func(phase latency.Name, low, high float64) *check.Finding {
		return &check.Finding{
			Check: "waits", Severity: check.Warning, Message: "it is " + string(phase),
			Slows: []check.Slowdown{
				{Request: latency.Search, Phase: phase, Ms: high, Gain: latency.Interval{Low: low, High: high}},
			},
		}
	}
	for _, test := range []struct {
		finding *check.Finding
		want    string
	}{
		{nil, "waiting for consistency, 20% searching growing segments"},
		{slows(latency.ConsistencyWait, 140, 150), "it is consistency_wait; without that about 50 ms"},
		{slows(latency.ConsistencyWait, 60, 150), "it is consistency_wait; without that 50 ms to 140 ms"},
		{slows(latency.ConsistencyWait, 1, 5), "it is consistency_wait"},
		{slows(latency.KernelGrowing, 30, 40), "searching growing segments"},
		{
			&check.Finding{
				Check: "grows", Severity: check.Warning, Message: "growing",
				Object: model.Ref{Resource: "collections", ID: "1"},
			},
			"searching growing segments",
		},
	} {
		r := report(c)
		if test.finding != nil {
			r.Findings = append(r.Findings, test.finding)
		}
		got := why.Explain([]*latency.Budget{searchOf(1, "docs")}, r)[0].Verdict()
		if !strings.HasSuffix(got, test.want) {
			t.Errorf("got %q, want it to end with %q", got, test.want)
		}
	}
}

// TestCause checks that the sentence begins with the cause of a finding. If the cause states a gain, that gain
// is used. Otherwise the sentence adds the effect and its gain.
func TestCause(t *testing.T) {
	c := model.Build(model.Parts{Collections: []*model.Collection{{ID: 1, Name: "docs"}}})
	slows := func(phase latency.Name, low, high float64) []check.Slowdown {
		return []check.Slowdown{
			{Request: latency.Search, Phase: phase, Ms: high, Gain: latency.Interval{Low: low, High: high}},
		}
	}
	root := &check.Finding{Check: "stops", Severity: check.Error, Message: "the broker is gone"}
	late := &check.Finding{Check: "other", Severity: check.Info, Message: "ticks are late", Cause: root.Key()}
	waits := &check.Finding{
		Check: "waits", Severity: check.Warning, Message: "it waits 150 ms", Cause: late.Key(),
		Slows: slows(latency.ConsistencyWait, 140, 150),
	}
	for _, test := range []struct {
		name string
		says []check.Slowdown
		want string
		late []check.Slowdown
	}{
		{
			"what is between says how much", nil,
			"search of docs 200 ms: the broker is gone: ticks are late; without that about 120 ms",
			slows(latency.ConsistencyWait, 79, 80),
		},
		{
			"both do", slows(latency.ConsistencyWait, 90, 100),
			"search of docs 200 ms: the broker is gone; without that about 100 ms",
			slows(latency.ConsistencyWait, 79, 80),
		},
		{
			"a cause that says nothing of time", nil,
			"search of docs 200 ms: the broker is gone: it waits 150 ms; without that about 50 ms", nil,
		},
		{
			"one that says how much", slows(latency.ConsistencyWait, 90, 100),
			"search of docs 200 ms: the broker is gone; without that about 100 ms", nil,
		},
		{
			"one that says it of another phase", slows(latency.KernelGrowing, 9, 10),
			"search of docs 200 ms: the broker is gone: it waits 150 ms; without that about 50 ms", nil,
		},
	} {
		root.Slows, late.Slows = test.says, test.late
		if got := why.Explain([]*latency.Budget{searchOf(1, "docs")}, report(c, root, late, waits))[0].Verdict(); got !=
			test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSpan checks that each phase of a gain over several phases has the whole gain and names the other phases,
// and that a gain never exceeds the whole request.
func TestSpan(t *testing.T) {
	c := model.Build(model.Parts{Collections: []*model.Collection{{ID: 1, Name: "docs"}}})
	f := &check.Finding{Check: "waits", Severity: check.Warning, Slows: []check.Slowdown{{
		Request: latency.Search, Phase: latency.ConsistencyWait, Ms: 170, Gain: latency.Interval{Low: 150, High: 900},
		Parts: []check.SlowPart{
			{Phase: latency.ConsistencyWait, Ms: 140},
			{Phase: latency.KernelGrowing, Ms: 30},
			{Phase: latency.ReduceProxy, Ms: 1},
		},
	}}}
	want := map[latency.Name]string{
		latency.ConsistencyWait: "kernel_growing", latency.KernelGrowing: "consistency_wait",
	}
	for _, r := range why.Explain([]*latency.Budget{searchOf(1, "docs")}, report(c, f))[0].Reasons {
		if len(r.OtherPhases) != 1 || string(r.OtherPhases[0]) != want[r.Phase.Name] ||
			r.Gain != (latency.Interval{Low: 150, High: 200}) {
			t.Errorf("%s: gains %v, with %v", r.Phase.Name, r.Gain, r.OtherPhases)
		}
	}
}

// TestFrames checks that Frames holds only frames of profiled processes that the client waits for in the
// phase.
func TestFrames(t *testing.T) {
	hot := func(node model.NodeID, role, name string) *model.ProfiledProcess {
		return &model.ProfiledProcess{
			Name: role + "-" + node.String(), Roles: []string{role}, Nodes: []model.NodeID{node},
			CPU: &model.CPUProfile{Hottest: []model.HotFrame{{Function: name, Part: 0.7}}},
		}
	}
	c := model.Build(model.Parts{}).WithProfiles(&model.Profiles{Processes: []*model.ProfiledProcess{
		hot(9, "proxy", "reduce"), hot(4, "querynode", "l2sqr"), hot(3, "querynode", "brute"),
		hot(5, "querynode", "idle"),
		{Name: "querynode-3", Roles: []string{"querynode"}, Nodes: []model.NodeID{3}},
	}})
	for _, r := range why.Explain([]*latency.Budget{searchOf(1, "docs")}, report(c))[0].Reasons {
		var got []string
		for _, x := range r.Frames {
			got = append(got, x.Process+" "+x.Hottest[0].Function)
		}
		want := map[latency.Name]string{latency.KernelGrowing: "querynode-3 brute, querynode-4 l2sqr"}[r.Phase.Name]
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: got %q, want %q", r.Phase.Name, text, want)
		}
	}
}

// TestPartOfAll checks that the cost of a finding about one collection is scaled down in the mean of all requests.
func TestPartOfAll(t *testing.T) {
	all, docs := searchOf(0, ""), searchOf(1, "docs")
	all.Requests = 400
	f := &check.Finding{Check: "waits", Slows: []check.Slowdown{{
		Collection: 1, Request: latency.Search, Phase: latency.KernelGrowing, Ms: 40,
		Gain: latency.Interval{Low: 20, High: 40}, Parts: []check.SlowPart{{Phase: latency.KernelGrowing, Ms: 40}},
	}}}
	answers := why.Explain([]*latency.Budget{all, docs},
		report(model.Build(model.Parts{Collections: []*model.Collection{{ID: 1, Name: "docs"}}}), f))
	for i, want := range []latency.Interval{{Low: 5, High: 10}, {Low: 20, High: 40}} {
		r := answers[i].Reasons[1]
		if r.Finding != f || r.Gain != want {
			t.Errorf("answer %d: %v of %s, want %v", i, r.Gain, r.Phase.Name, want)
		}
	}
	if f.Slows[0].Parts[0].Ms != 40 {
		t.Error("the finding was changed")
	}
}

// TestAnotherCollection checks that a finding about a collection without requests explains nothing, even if it
// names a node that the client waits for.
func TestAnotherCollection(t *testing.T) {
	c := model.Build(model.Parts{Collections: []*model.Collection{{ID: 1, Name: "docs"}, {ID: 2, Name: "pics"}}})
	f := &check.Finding{
		Check: "grows", Severity: check.Warning, Object: model.Ref{Resource: "collections", ID: "2"},
		Objects: []model.Ref{{Resource: "nodes", ID: "querynode-3"}},
	}
	all, docs, pics := searchOf(0, ""), searchOf(1, "docs"), searchOf(2, "pics")
	for name, x := range map[string]struct {
		asked []*latency.Budget
		named bool
	}{
		"of another":                   {[]*latency.Budget{docs}, false},
		"of all, another is asked for": {[]*latency.Budget{all, docs}, false},
		"of all, it is asked for":      {[]*latency.Budget{all, docs, pics}, true},
		"of all, nobody tells":         {[]*latency.Budget{all}, true},
		"its own":                      {[]*latency.Budget{pics}, true},
	} {
		if got := why.Explain(x.asked, report(c, f))[0].Reasons[1].Finding; (got == f) != x.named {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestOfAll checks that a finding about all collections is scaled to each collection in proportion to the
// phase, and that the sentence still names the collection.
func TestOfAll(t *testing.T) {
	all, docs := searchOf(0, ""), searchOf(1, "docs")
	all.Root.Find(latency.ConsistencyWait).Ms = 75
	f := &check.Finding{Check: "waits", Severity: check.Warning, Message: "searches wait", Slows: []check.Slowdown{{
		Request: latency.Search, Phase: latency.ConsistencyWait, Ms: 60, Within: 75,
		Gain: latency.Interval{Low: 60, High: 60},
	}}}
	a := why.Explain([]*latency.Budget{docs}, report(model.Build(model.Parts{}), f))[0]
	if got := a.Reasons[0].Gain; got != (latency.Interval{Low: 120, High: 120}) {
		t.Errorf("gains %v", got)
	}
	if got, want := a.Verdict(), "search of docs 200 ms: searches wait; without that about 80 ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
