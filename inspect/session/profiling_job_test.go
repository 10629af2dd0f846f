package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/internal/hints"
	"kitescope/profile/pull"
)

// demoLoader returns a loader and a Spec for a running demo.
func demoLoader(t *testing.T) (*session.Loader, *session.Spec) {
	t.Helper()
	cluster, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	loader := &session.Loader{
		Now: demo.Now, Timeout: time.Minute,
		OpenCustom: func(_ context.Context, spec *session.Spec) (source.Source, bool, error) {
			if spec.From != demo.From {
				return nil, false, nil
			}
			src, err := cluster.Source(spec.Root)
			return src, true, err
		},
	}
	spec := &session.Spec{
		From: demo.From, Live: true, Want: meta.Want{Parts: model.PartAll},
		Nodes: live.Options{Timeout: 5 * time.Second, Now: demo.Now},
	}
	return loader, spec
}

// TestTargets checks that the targets are the processes of a cluster and a named service, and that a file has none.
func TestTargets(t *testing.T) {
	loader, spec := demoLoader(t)
	named, err := pull.ParseTarget("mine=http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	j, err := session.NewJob(loader, spec, []pull.Target{named}, spec.Nodes, pull.Options{})
	if err != nil {
		t.Fatal(err)
	}
	targets, err := j.Targets(t.Context())
	if err != nil || len(targets) < 5 || targets[len(targets)-1].Node != "mine" || j.Options.Root == "" {
		t.Errorf("%d targets of %q: %v", len(targets), j.Options.Root, err)
	}
	alone, err := session.NewJob(loader, nil, []pull.Target{named}, spec.Nodes, pull.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if targets, err = alone.Targets(t.Context()); err != nil || len(targets) != 1 {
		t.Errorf("of no cluster: %d targets, %v", len(targets), err)
	}
	file := &session.Spec{From: filepath.Join("..", "..", "testdata", "broken", "healthy-idle.kite")}
	var notLive *session.NotLiveError
	if _, err := session.Processes(t.Context(), loader, file); !errors.As(err, &notLive) || hints.Of(err) == "" {
		t.Errorf("of a file: %v", err)
	}
	if _, err := session.LoadProfiled(t.Context(), loader, file,
		session.ProfileOptions{Window: time.Second}); !errors.As(err, &notLive) {
		t.Errorf("beside a file: %v", err)
	}
}

// TestLoadWithProfiles checks that profiles that are given, pulled or stored in a bundle are used, and that
// unavailable ones are reported.
func TestLoadWithProfiles(t *testing.T) {
	loader, spec := demoLoader(t)
	record, err := pull.Read(filepath.Join("..", "..", "testdata", "profiles", "t3"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := session.LoadProfiled(t.Context(), loader, spec, session.ProfileOptions{Record: record})
	if err != nil || c.Runtime == nil || c.Profiles == nil || c.Profiles.Location == "" {
		t.Fatalf("named: %v", err)
	}
	c, err = session.LoadProfiled(t.Context(), loader, spec, session.ProfileOptions{})
	if err != nil || c.Profiles != nil || len(c.Gaps) != 0 {
		t.Fatalf("none: %v", err)
	}
	c, err = session.LoadProfiled(t.Context(), loader, spec, session.ProfileOptions{
		Window: time.Second, Pull: pull.Options{Kinds: []pull.Kind{pull.CPU}, BusyWait: -1},
	})
	if err != nil || c.Profiles == nil || c.Profiles.Location != "" || len(c.Profiles.Processes) == 0 {
		t.Fatalf("pulled: %v; gaps %v, profiles %+v", err, c.Gaps, c.Profiles)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = session.LoadProfiled(ctx, loader, spec, session.ProfileOptions{Window: time.Second}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
