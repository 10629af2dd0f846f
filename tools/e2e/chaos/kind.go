// Command chaos injects random faults into a real Milvus cluster and scores kitescope's findings.
//
// A seed draws rounds from a grammar: the action (a Kind), its processes, collections and keys, its
// intensity, and whether two actions happen at once. -plan prints the rounds without a cluster.
//
// A round begins on a cluster that is healthy according to kitescope and to a script that shares no code with
// it. The fault is injected and confirmed by other means. kitescope is run several times, once per look and
// with --watch. Then the fault is healed and kitescope is run again. The expected findings are part of each
// Kind and were written before any run.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Args holds the arguments that were drawn for a Kind. The Kind determines which fields are used.
type Args struct {
	Processes  []string `json:"processes,omitempty"`
	Percent    int      `json:"percent,omitempty"` // share of the time that a process is stopped
	Period     int      `json:"period_ms,omitempty"`
	Collection string   `json:"collection,omitempty"`
	What       string   `json:"what,omitempty"` // kind of files, key or index, depending on the Kind
	Value      string   `json:"value,omitempty"`
}

func (a Args) String() string {
	var words []string
	if len(a.Processes) > 0 {
		words = append(words, strings.Join(a.Processes, "+"))
	}
	if a.Percent > 0 {
		words = append(words, fmt.Sprintf("%d%% of %d ms", a.Percent, a.Period))
	}
	for _, w := range []string{a.Collection, a.What, a.Value} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Want describes the findings that an on-call person needs for a fault.
type Want struct {
	// Checks lists check ids. One of them has to be the first or the second finding.
	Checks []string
	// Names has one list for each guilty thing. Those findings must contain one word of each list. A word
	// that begins with @ is a process of the lab and stands for its session and its address.
	Names [][]string
	// Follow lists checks whose findings are true because of the fault. Other findings of severity warning or
	// above are false, unless kitescope reports a wanted one as their cause.
	Follow []string
	// Unreadable is set if etcd itself is gone. Nothing can be checked then, and the failure of etcd has to
	// be reported.
	Unreadable bool
}

// Observation is the state of a fault according to other means than kitescope.
type Observation struct {
	Present bool   `json:"there"`
	What    string `json:"what"`
	// Processes lists the processes to be named now, if the fault is about processes. It omits a process
	// whose work others have taken over.
	Processes []string `json:"processes,omitempty"`
}

// Kind is one production of the grammar.
type Kind struct {
	Name   string
	Weight int
	// Decoy is set if the action only looks like a fault. Findings of severity warning or above are false
	// then, except those in Follow.
	Decoy bool
	// Draw chooses arguments. Targets lists the things that an action touches. Two actions of one round must
	// not share any.
	Draw    func(d *dice) Args
	Targets func(a Args) []string
	Want    func(a Args) Want
	Inject  func(ctx context.Context, l *Lab, a Args) error
	// Observe returns whether the fault is there now, according to other means than kitescope, and what was
	// observed.
	Observe func(ctx context.Context, l *Lab, a Args) Observation
	Heal    func(ctx context.Context, l *Lab, a Args) error
	// Limit is the maximum time from the injection to a finding that names the fault. Hold is the minimum
	// time that the fault stays.
	Limit, Hold time.Duration
	// Fresh is set if only a new cluster heals the fault.
	Fresh bool
	// Anew is set if a new process is injected, which has to be named by its own session.
	Anew bool
	// Storage is set if diagnose gets --storage with the location of the files.
	Storage bool
	// Alone is set if the action is never combined with another.
	Alone bool
}

// Draw is a Kind with its arguments.
type Draw struct {
	Kind *Kind
	Args Args
}

func (d Draw) String() string { return strings.TrimSpace(d.Kind.Name + " " + d.Args.String()) }

// kinds returns the grammar.
func kinds() []*Kind {
	return slices.Concat(processKinds(), sessionKinds(), storageKinds(), serviceKinds(), metadataKinds(), decoys())
}

func kindNamed(name string) *Kind {
	for _, k := range kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}
