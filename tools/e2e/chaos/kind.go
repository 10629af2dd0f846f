// Command chaos breaks a real Milvus cluster in ways that nobody wrote down beforehand, and scores
// what kitescope says of it.
//
// A seed draws rounds from a grammar: what is done (a Kind), to which processes, collections and
// keys, how hard, and whether two things happen at once. -plan prints them, without a cluster. Each
// round begins on a cluster that is well, by a script that shares nothing with kitescope and by
// kitescope; the fault is injected and seen to be there by other means; kitescope is asked at
// several times, once and in --watch; the fault is healed, and kitescope is asked again. What has
// to be said stands with the Kind, and was written before any run.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Args is what was drawn for one Kind. Which fields count depends on the Kind.
type Args struct {
	Processes  []string `json:"processes,omitempty"`
	Percent    int      `json:"percent,omitempty"` // of the time that a process is stopped
	Period     int      `json:"period_ms,omitempty"`
	Collection string   `json:"collection,omitempty"`
	What       string   `json:"what,omitempty"` // files, a key, an index, as the Kind says
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

// Want is what an on-call person needs to hear of a fault.
type Want struct {
	// Checks are ids, one of which has to be the first or the second finding.
	Checks []string
	// Names has a list for each guilty thing, and of each list one has to be in those findings. What
	// begins with @ is a process of the lab, and stands for its session, its id and its address.
	Names [][]string
	// Follow are checks that say something true because of the fault; anything else of severity
	// warning or above is a false finding, unless kitescope says that it follows from a wanted one.
	Follow []string
	// Unreadable: etcd itself is gone. Nothing can be judged; that it does not answer has to be said.
	Unreadable bool
}

// Seen is what other means than kitescope say of a fault.
type Seen struct {
	There bool   `json:"there"`
	What  string `json:"what"`
	// Processes are those to be named now, if it is about processes: one whose work others have taken over is none.
	Processes []string `json:"processes,omitempty"`
}

// Kind is one production of the grammar.
type Kind struct {
	Name   string
	Weight int
	// Decoy only looks like a fault: any finding of severity warning or above is false, but for Follow.
	Decoy bool
	// Draw chooses arguments. Two kinds of one round may not touch the same things.
	Draw    func(d *dice) Args
	Touches func(a Args) []string
	Want    func(a Args) Want
	Inject  func(ctx context.Context, l *Lab, a Args) error
	// There says by other means than kitescope whether the fault is there now, and what is seen.
	There func(ctx context.Context, l *Lab, a Args) Seen
	Heal  func(ctx context.Context, l *Lab, a Args) error
	// Limit is the time from injection in which it should be named, Hold how long it is left at least.
	Limit, Hold time.Duration
	// Fresh: nothing but a new cluster heals it.
	Fresh bool
	// Anew: what is injected is a new process, to be named by its own session.
	Anew bool
	// Storage: whoever suspects files says where they are, with --storage.
	Storage bool
	// Alone: never one of two at once.
	Alone bool
}

// Draw is one Kind with its arguments.
type Draw struct {
	Kind *Kind
	Args Args
}

func (d Draw) String() string { return strings.TrimSpace(d.Kind.Name + " " + d.Args.String()) }

// kinds is the grammar.
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
