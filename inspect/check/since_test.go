package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func changeTexts(changes []Change) []string {
	list := []string{}
	for i := range changes {
		c := &changes[i]
		list = append(list, c.Kind.String()+" "+c.Finding().Key())
	}
	return list
}

func TestSince(t *testing.T) {
	with := func(f Finding, s Severity, cost float64, objects int) Finding {
		f.Severity, f.Cost, f.Objects = s, cost, make([]model.Ref, objects)
		return f
	}
	a := about(Warning, "collections", docs)
	for _, x := range []struct {
		name          string
		before, after *Check
		want          []string
	}{
		{"nothing", fake("x"), fake("x"), []string{}},
		{"new", fake("x"), fake("x", a), []string{"new x collections/" + docs}},
		{"same", fake("x", a), fake("x", a), []string{"same x collections/" + docs}},
		{"gone", fake("x", a), fake("x"), []string{"gone x collections/" + docs}},
		{
			"another object", fake("x", a), fake("x", about(Warning, "collections", "5")),
			[]string{"new x collections/5", "gone x collections/" + docs},
		},
		{"more severe", fake("x", a), fake("x", with(a, Error, 0, 0)), []string{"worse x collections/" + docs}},
		{"less severe", fake("x", a), fake("x", with(a, Info, 0.9, 9)), []string{"better x collections/" + docs}},
		{
			"dearer", fake("x", with(a, Warning, 0.20, 0)), fake("x", with(a, Warning, 0.25, 0)),
			[]string{"worse x collections/" + docs},
		},
		{
			"cheaper", fake("x", with(a, Warning, 0.25, 0)), fake("x", with(a, Warning, 0.20, 0)),
			[]string{"better x collections/" + docs},
		},
		{
			"noise of cost", fake("x", with(a, Warning, 0.500, 0)), fake("x", with(a, Warning, 0.525, 0)),
			[]string{"same x collections/" + docs},
		},
		{
			"noise of a small cost", fake("x", with(a, Warning, 0.001, 0)), fake("x", with(a, Warning, 0.01, 0)),
			[]string{"same x collections/" + docs},
		},
		{
			"more objects", fake("x", with(a, Warning, 0.1, 4)), fake("x", with(a, Warning, 0.1, 5)),
			[]string{"worse x collections/" + docs},
		},
		{
			"fewer objects", fake("x", with(a, Warning, 0, 4)), fake("x", with(a, Warning, 0, 1)),
			[]string{"better x collections/" + docs},
		},
		{
			"noise of objects", fake("x", with(a, Warning, 0, 40)), fake("x", with(a, Warning, 0, 41)),
			[]string{"same x collections/" + docs},
		},
		{"not looked at before", unable("x"), fake("x", a), []string{"unsure x collections/" + docs}},
		{"partly looked at before", blind("x"), fake("x", a), []string{"unsure x collections/" + docs}},
		{"did not run before", fake("y"), fake("x", a), []string{"unsure x collections/" + docs}},
		{"cannot look now", fake("x", a), unable("x"), []string{"lost x collections/" + docs}},
		{"broken now", fake("x", a), broken("x"), []string{"lost x collections/" + docs}},
		{"cannot look everywhere now", fake("x", a), blind("x"), []string{"lost x collections/" + docs}},
		{"did not run now", fake("x", a), fake("y"), []string{"lost x collections/" + docs}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := Since(judge(t, modeltest.Small(), x.before), judge(t, modeltest.Small(), x.after))
			if diff := cmp.Diff(x.want, changeTexts(c.Changes)); diff != "" {
				t.Error(diff)
			}
			for i := range c.Changes {
				ch := &c.Changes[i]
				if needs := ch.Kind == Unsure || ch.Kind == Lost; needs != (ch.Why != "") {
					t.Errorf("%s has the reason %q", ch.Kind, ch.Why)
				}
				if ch.After != nil && c.ChangeOf(ch.After) != ch {
					t.Error("Of does not find it")
				}
			}
		})
	}
}

// TestSinceFollowsObjects checks that a restarted node, a reloaded collection and a compacted segment match
// their earlier objects.
func TestSinceFollowsObjects(t *testing.T) {
	parts := modeltest.SmallParts()
	for _, s := range parts.Sessions {
		if s.Node == 6 {
			restarted := *s
			restarted.Node = 60
			*s = restarted
		}
	}
	for _, r := range parts.Replicas {
		r.ID += 100
	}
	after := model.Build(parts)
	c := Since(
		judge(t, modeltest.Small(),
			fake("x", about(Info, "nodes", "querynode-6"), about(Info, "replicas", "470590570311974919"),
				about(Info, "segments", "470590569932852601"), about(Info, "segments", "470590569932852602"))),
		judge(t, after, fake("x", about(Info, "nodes", "querynode-60"), about(Info, "replicas", "470590570311975019"),
			about(Info, "segments", "470590569932852667"))),
	)
	got := map[string]string{}
	for _, ch := range c.Changes {
		from := ""
		if ch.Before != nil {
			from = ch.Before.Object.ID
		}
		got[ch.Finding().Object.ID] = ch.Kind.String() + " " + from
	}
	want := map[string]string{
		"querynode-60": "same querynode-6", "470590570311975019": "same 470590570311974919",
		"470590569932852667": "same 470590569932852601",
		"470590569932852602": "gone 470590569932852602", // compacted into the same segment
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTracker(t *testing.T) {
	a, b := about(Warning, "collections", docs), about(Warning, "nodes", "querynode-3")
	worse := a
	worse.Severity = Error
	steps := []struct {
		check   *Check
		changes []string
		blind   []string
	}{
		{fake("x", a), []string{"new x collections/" + docs}, nil},
		{fake("x", a), nil, nil},
		{fake("x", a, b), []string{"new x nodes/querynode-3"}, nil},
		{unable("x"), nil, []string{"x: the nodes were not queried"}},
		{unable("x"), nil, nil},
		{blind("x", a), nil, []string{"x: not fully checked: querynode-7: timed out"}},
		{fake("x", worse), []string{"worse x collections/" + docs, "gone x nodes/querynode-3"}, []string{"x: "}},
		{fake("x"), []string{"gone x collections/" + docs}, nil},
		{fake("x", a), []string{"new x collections/" + docs}, nil},
	}
	var tracker Tracker
	for i, step := range steps {
		changes, blind := tracker.Next(judge(t, modeltest.Small(), step.check))
		var list []string
		for _, x := range blind {
			list = append(list, x.Check.ID+": "+x.Why)
		}
		if diff := cmp.Diff(append([]string{}, step.changes...), changeTexts(changes)); diff != "" {
			t.Errorf("step %d:\n%s", i, diff)
		}
		if diff := cmp.Diff(step.blind, list); diff != "" {
			t.Errorf("step %d:\n%s", i, diff)
		}
	}
}

// TestTrackerAddsSmallSteps checks that small steps add up to Worse.
func TestTrackerAddsSmallSteps(t *testing.T) {
	var tracker Tracker
	var kinds []string
	for i := range 12 {
		f := about(Warning, "collections", docs)
		f.Cost = 0.20 + 0.04*float64(i)
		changes, _ := tracker.Next(judge(t, modeltest.Small(), fake("x", f)))
		for _, c := range changes {
			kinds = append(kinds, fmt.Sprintf("%d %s", i, c.Kind))
		}
	}
	if diff := cmp.Diff([]string{"0 new", "5 worse"}, kinds); diff != "" {
		t.Error(diff)
	}
}
