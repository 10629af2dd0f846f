package main

import (
	"slices"
	"strings"

	"kitescope/tools/e2e/lab"
)

// states lists by what a client felt the states of a kind of request that say so. What is refused before it is counted
// cannot be seen: it is unknown.
var states = map[string][]string{
	"failed":  {"failing"},
	"refused": {"refused", "failing", "unknown"},
	"hanging": {"hanging", "failing"},
	"slow":    {"slow", "hanging"},
}

// Impact is what the impact of a look says of one kind of request that was felt.
type Impact struct {
	Kind  string `json:"kind"`
	State string `json:"state"` // "" if the look has none
	Right bool   `json:"right"`
}

// impactOf holds the impact of a look against what was felt.
func impactOf(felt []Symptom, look *lab.Diagnosis) []Impact {
	var all []Impact
	for _, f := range felt {
		i := Impact{Kind: f.Kind}
		for _, said := range look.Impact {
			right := slices.ContainsFunc(f.Failures, func(way string) bool {
				return slices.Contains(states[way], said.State) ||
					way == "hanging" && said.State == "slow" && said.Mean >= 1000*window/2
			})
			switch {
			case said.Request == f.Kind:
				i.State, i.Right = said.State, i.Right || right
			case said.Request == "describe" && f.Kind == "ddl": // the client waits for one before and after each
				i.Right = i.Right || right
			}
		}
		all = append(all, i)
	}
	return all
}

// hasAlert reports whether a look has a warning or an error, or could not read etcd and says so.
func hasAlert(look *lab.Diagnosis) bool {
	return slices.ContainsFunc(look.Findings, func(f lab.Finding) bool { return f.IsAlert() }) || unreadable(look)
}

func unreadable(look *lab.Diagnosis) bool {
	return len(look.Findings) == 0 && look.Exit != 0 && strings.Contains(look.Stderr, lab.EtcdAddress)
}

// place returns at which place, from 1 on, a finding that follows from no other names one of these, 0 if none does.
// Only those count that are loud, or that a loud one follows from.
func place(look *lab.Diagnosis, names []string) int {
	if unreadable(look) && lab.Mentions(strings.ToLower(look.Stderr), names) {
		return 1
	}
	at := 0
	for i := range look.Findings {
		f := &look.Findings[i]
		follows := func(g lab.Finding) bool {
			return g.IsAlert() && g.Cause != nil && g.Cause.Check == f.Check && g.Cause.Object == f.Object
		}
		if f.Cause != nil || !f.IsAlert() && !slices.ContainsFunc(look.Findings, follows) {
			continue
		}
		if at++; namesOne(f, names) {
			return at
		}
	}
	return 0
}

// namesOne reports whether a finding names one of these: one about many objects at once names none of them.
func namesOne(f *lab.Finding, names []string) bool {
	short := *f
	// those of requests are the proxies at which clients feel it
	if len(f.Objects) > 3 || strings.HasPrefix(f.Check, "requests-") {
		short.Objects = nil
	}
	return lab.Mentions(short.Text(), names)
}

// root returns the finding that a finding follows from, directly or over others, or the finding itself.
func root(look *lab.Diagnosis, f *lab.Finding) *lab.Finding {
	for range look.Findings { // at most as often, in case that causes form a cycle
		i := -1
		if f.Cause != nil {
			i = slices.IndexFunc(look.Findings, func(g lab.Finding) bool {
				return g.Check == f.Cause.Check && g.Object == f.Cause.Object
			})
		}
		if i < 0 {
			return f
		}
		f = &look.Findings[i]
	}
	return f
}

// firstAlert returns the seconds until the first loud finding of --watch that names one of these, 0 if there is none.
func firstAlert(events []lab.Finding, names []string, since float64) float64 {
	for i := range events {
		f := &events[i]
		if f.IsAlert() && (names == nil || namesOne(f, names)) {
			return max(round1(unix(f.Time())-since), 0.1)
		}
	}
	return 0
}

func lines(findings []lab.Finding, severity string) []string {
	var all []string
	for i := range findings {
		if findings[i].Severity == severity {
			all = append(all, findings[i].String())
		}
	}
	return all
}
