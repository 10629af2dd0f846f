// Command paths breaks the resources and the paths of a real Milvus cluster, and holds what kitescope reports against
// what a client feels.
//
// A seed draws rounds from a grammar that knows no check of kitescope: a resource of a process is limited, a path
// between two components is slow or cut, a topic, a folder, a key or a setting is changed, or a client misbehaves, at a
// random strength, one or two at once. A client of its own measures requests of every kind all the time. A round counts
// by what that client felt, not by what was done.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kitescope/tools/e2e/lab"
)

// Action is one thing that is done to a resource or a path.
type Action struct {
	Family     string
	Components []string // what it is done to: processes, "kafka", "etcd", "storage", "host", "client"
	Args       string
	Fresh      bool // only a new cluster undoes it

	// by which a finding may name what it is done to, beside the components; some are known only at injection
	names  []string
	inject func(ctx context.Context, l *Lab, a *Action) error
	// effect reports by other means than kitescope whether the action took effect, and how that was seen.
	effect func(ctx context.Context, l *Lab) (bool, string)
}

func (a *Action) String() string {
	return strings.TrimSpace(a.Family + " " + strings.Join(a.Components, ">") + " " + a.Args)
}

// calls lists by component those that serve its part of requests, by the documented path of each kind of request of
// Milvus 2.3.
var calls = map[string][]string{
	"client":     {"proxy", "host"}, // who floods a cluster takes the processors of its host
	"proxy":      {"rootcoord", "datacoord", "querycoord", "querynode1", "querynode2", "querynode3", "kafka"},
	"rootcoord":  {"etcd", "kafka", "datacoord", "querycoord", "proxy"},
	"datacoord":  {"etcd", "rootcoord", "datanode", "indexnode", "storage"},
	"querycoord": {"etcd", "rootcoord", "datacoord", "querynode1", "querynode2", "querynode3"},
	"datanode":   {"kafka", "storage", "datacoord", "rootcoord"},
	"indexnode":  {"storage", "datacoord"},
	"querynode1": {"kafka", "storage", "querynode2", "querynode3"},
	"querynode2": {"kafka", "storage", "querynode1", "querynode3"},
	"querynode3": {"kafka", "storage", "querynode1", "querynode2"},
}

// neighbors returns the components next to those of an action on any path. A link has none: both of its ends are
// injected.
func (a *Action) neighbors() []string {
	if a.Family == "link" {
		return nil
	}
	var all []string
	for from, to := range calls {
		for _, c := range to {
			if slices.Contains(a.Components, from) {
				all = append(all, c)
			}
			// every finding may name what the client uses
			if slices.Contains(a.Components, c) && (from != "client" || c == "host") {
				all = append(all, from)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(c string) bool { return slices.Contains(a.Components, c) })
}

// componentNames are the names of components that are no registered process, or the only one of their role.
var componentNames = map[string][]string{
	"proxy": {"proxy", "proxies"}, "rootcoord": {"rootcoord"}, "datacoord": {"datacoord"}, "querycoord": {"querycoord"},
	"datanode": {"datanode", "data node"}, "indexnode": {"indexnode", "index node"},
	"kafka": {"kafka", "message queue", "the queue", lab.KafkaAddress}, "etcd": {"etcd"},
	"storage": {"storage", "disk"},
	"host":    {"host", "machine"}, "client": {"client", "collection " + probeCollection, probeCollection},
}

// probeCollection is the collection of the client to which all that misbehaves goes, too.
const probeCollection = "felt"

// checks returns the checks of kitescope that are for what is done to a process, nil if there is none, or it depends on
// what was drawn. A component at which requests break is named by the checks about requests, and by no other one then.
func (a *Action) checks() []string {
	if len(a.Components) > 1 || slices.Contains(services, a.Components[0]) {
		return nil
	}
	how, _, _ := strings.Cut(a.Args, " ")
	switch {
	case a.Family == "cpu", how == "stopped":
		return []string{"process-slow", "component-hanging", "node-unreachable", "requests-failing", "requests-slow"}
	case a.Family == "memory", how == "killed":
		return []string{"node-unreachable", "role-missing", "stale-session", "process-restarting", "memory-pressure"}
	}
	return nil
}

// namesOf returns the words by which a finding may name these components.
func (l *Lab) namesOf(components []string) []string {
	var all []string
	for _, c := range components {
		all = append(all, componentNames[c]...)
		all = append(all, l.sessionNames[c]...)
	}
	return all
}

// recordSessions adds the sessions that processes have now to the names they have had in this round.
func (l *Lab) recordSessions(ctx context.Context) {
	sessions, err := l.Sessions(ctx)
	if err != nil {
		return
	}
	for process, s := range sessions {
		for _, name := range []string{fmt.Sprintf("%s-%d", s.Role, s.ID), s.Address} {
			if !slices.Contains(l.sessionNames[process], name) {
				l.sessionNames[process] = append(l.sessionNames[process], name)
			}
		}
	}
}
