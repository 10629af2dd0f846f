package main

import (
	"slices"
	"strings"
	"testing"

	"kitescope/tools/e2e/lab"
)

func TestSeedDrawsTheSame(t *testing.T) {
	differ := false
	for n := 1; n <= 100; n++ {
		a, b := plan(round(3, n)), plan(round(3, n))
		if a != b {
			t.Errorf("round 3/%d is %q and %q", n, a, b)
		}
		differ = differ || a != plan(round(4, n))
	}
	if !differ {
		t.Error("seeds 3 and 4 draw the same")
	}
}

func TestGrammarIsComplete(t *testing.T) {
	drawn, two := map[string]int{}, 0
	for n := 1; n <= 2000; n++ {
		actions := round(1, n)
		if len(actions) == 2 {
			two++
		}
		for _, a := range actions {
			drawn[a.Family]++
			if len(a.Components) == 0 || a.inject == nil || a.effect == nil {
				t.Errorf("%s lacks a part", a)
			}
			for _, c := range a.Components {
				if _, known := lab.Ports[c]; !known && componentNames[c] == nil {
					t.Errorf("%s: nothing names %s", a, c)
				}
				if slices.Contains(a.neighbors(), c) {
					t.Errorf("%s is a neighbor of itself", a)
				}
			}
		}
	}
	for _, f := range families() {
		if drawn[f.name] < 10 {
			t.Errorf("%s was drawn %d times in 2,000 rounds", f.name, drawn[f.name])
		}
	}
	if two < 200 {
		t.Errorf("two at once in %d of 2,000 rounds", two)
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		action Action
		want   string
	}{
		{Action{Components: []string{"indexnode"}}, "datacoord storage"},
		{Action{Components: []string{"etcd"}}, "datacoord querycoord rootcoord"},
		{Action{Components: []string{"proxy", "kafka"}, Family: "link"}, ""},
		{Action{Components: []string{"client"}}, "host proxy"},
	} {
		if got := strings.Join(c.action.neighbors(), " "); got != c.want {
			t.Errorf("next to %v: %s, want %s", c.action.Components, got, c.want)
		}
	}
}

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		action Action
		want   bool
	}{
		{Action{Family: "cpu", Components: []string{"proxy"}, Args: "0.02 cores"}, true},
		{Action{Family: "signal", Components: []string{"proxy"}, Args: "killed every 4s and started again"}, true},
		{Action{Family: "signal", Components: []string{"kafka"}, Args: "stopped"}, false},
		{Action{Family: "link", Components: []string{"proxy", "etcd"}, Args: "cut"}, false},
	} {
		if got := c.action.checks(); (got != nil) != c.want {
			t.Errorf("%s: %v", &c.action, got)
		}
	}
}

func TestSettings(t *testing.T) {
	yaml := `etcd:
  endpoints: localhost:2379
queryNode:
  cacheSize: 32 # GB
  scheduler:
    cpuRatio: 10.0
  port: 21123
  enableDisk: false
proxy:
  maxNameLength: 255
`
	got := settings(yaml, "querynode")
	want := []setting{
		{"QUERYNODE_CACHESIZE", "32"}, {"QUERYNODE_SCHEDULER_CPURATIO", "10.0"}, {"QUERYNODE_ENABLEDISK", "false"},
	}
	if !slices.Equal(got, want) {
		t.Fatalf("settings of a query node: %v, want %v", got, want)
	}
	for i, want := range []string{"3", "1", "true"} {
		if other := got[i].other(0.1); other != want {
			t.Errorf("%s times 0.1: %s, want %s", got[i].name, other, want)
		}
	}
}
