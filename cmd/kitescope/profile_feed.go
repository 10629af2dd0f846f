package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/profile/choose"
	"kitescope/profile/pull"
	"kitescope/tui/profiles"
)

// profileFeed implements profiles.Feed. It lists the profiles of a bundle and pulls profiles from the processes
// of a live cluster.
type profileFeed struct {
	app    *cli.App
	loader *session.Loader
	spec   *session.Spec
	nodes  *cli.NodeFlags

	mu   sync.Mutex
	temp []string // folders of pulled profiles
}

// newProfileFeed returns the feed of a cluster. The UI shows the progress, so the loader should not.
func newProfileFeed(a *cli.App, loader *session.Loader, spec *session.Spec, n *cli.NodeFlags) *profileFeed {
	return &profileFeed{app: a, loader: loader, spec: spec, nodes: n}
}

// close removes the pulled profiles.
func (f *profileFeed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, dir := range f.temp {
		_ = os.RemoveAll(dir)
	}
	f.temp = nil
}

// List implements profiles.Feed. The set is empty unless the source is a file with profiles.
func (f *profileFeed) List(ctx context.Context) (profiles.Set, error) {
	if f.spec.IsLive() || f.spec.From == "-" {
		return profiles.Set{}, nil
	}
	record, _, err := f.loader.Profiles(ctx, f.spec)
	if err != nil || record == nil {
		return profiles.Set{}, err
	}
	path, err := filepath.Abs(f.spec.From) // a copied command may run in another folder
	if err != nil {
		path = f.spec.From
	}
	return f.set(record, path)
}

// CanPull implements profiles.Feed.
func (f *profileFeed) CanPull() string {
	switch {
	case !f.spec.IsLive():
		return "this is a file: open a live cluster to profile its processes"
	case !f.nodes.Live:
		return "--live=false does not contact the processes"
	}
	return ""
}

// Pull implements profiles.Feed.
func (f *profileFeed) Pull(
	ctx context.Context, window time.Duration, progress func(profiles.Progress),
) (profiles.Set, error) {
	o, err := (&pullFlags{kinds: string(pull.CPU), busyWait: defaultBusyWait}).options(f.app, nil)
	if err != nil {
		return profiles.Set{}, err
	}
	o.Seconds = max(1, int(window.Round(time.Second)/time.Second))
	j, err := session.NewJob(f.loader, f.spec, nil, f.spec.Nodes, o)
	if err != nil {
		return profiles.Set{}, err
	}
	targets, err := j.Targets(ctx)
	if err != nil {
		return profiles.Set{}, err
	}
	dir, err := os.MkdirTemp("", "kitescope-profiles-")
	if err != nil {
		return profiles.Set{}, err
	}
	f.mu.Lock()
	f.temp = append(f.temp, dir)
	f.mu.Unlock()
	roles := map[string]string{}
	for i := range targets {
		roles[targets[i].Node] = strings.Join(targets[i].Roles, ",")
	}
	j.Options.Progress = func(e pull.Event) { progress(pullStep(e, roles[e.Node])) }
	m, err := pull.RunTo(ctx, targets, j.Options, dir)
	if err != nil {
		return profiles.Set{}, err
	}
	record, err := pull.Read(dir)
	set := profiles.Set{}
	if m.Failed() < len(m.Profiles) {
		if err != nil {
			return set, err
		}
		if set, err = f.set(record, ""); err != nil {
			return set, err
		}
	}
	for i := range m.Profiles {
		if e := &m.Profiles[i]; e.Outcome != pull.OK {
			set.Items = append(set.Items, profiles.Item{
				Node: e.Node, Role: roles[e.Node], Kind: string(e.Kind), Err: failureText(e),
			})
		}
	}
	return set, nil
}

// failureText returns the outcome, the error and the hint of a failed profile, separated by colons.
func failureText(e *pull.Entry) string {
	words := []string{string(e.Outcome), e.Error, e.Hint}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), ": ")
}

// pullStep converts an event of a pull to the progress shown in the UI.
func pullStep(e pull.Event, role string) profiles.Progress {
	p := profiles.Progress{Node: e.Node, Role: role}
	switch e.State {
	case pull.Connecting:
		p.State = "connecting"
	case pull.Sampling:
		p.State = "profiling"
	case pull.Waiting:
		p.State = "waiting for another profile to end"
	case pull.Done:
		p.Done, p.State = true, string(e.Outcome)
		if e.Outcome != pull.OK {
			p.Err = e.Reason
		}
	}
	return p
}

// set converts a record with profiles of all kinds to a set for the UI.
func (f *profileFeed) set(record *pull.Record, path string) (profiles.Set, error) {
	choice, err := new(choose.Chooser).Record(record, path)
	if err != nil {
		return profiles.Set{}, err
	}
	return profiles.Set{Items: profileItems(choice)}, nil
}
