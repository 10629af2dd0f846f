package session_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/profile/pull"
)

func recordOf(t *testing.T, state string) *pull.Record {
	t.Helper()
	r, err := pull.Read(filepath.Join("..", "..", "testdata", "profiles", state))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFacts checks the facts of a real cluster with one query node that serves nothing: each process has its cores
// and peers, and only that node is idle.
func TestFacts(t *testing.T) {
	c := model.Build(model.Parts{})
	facts, err := session.ProfileFacts(t.Context(), recordOf(t, "t5"), c)
	if err != nil {
		t.Fatal(err)
	}
	idle := 0
	for _, x := range facts.Processes {
		if !strings.HasPrefix(x.Name, "querynode") {
			continue
		}
		switch {
		case x.CPU == nil:
			t.Errorf("%s has no CPU profile: %s", x.Name, x.CPUReason)
		case x.CPU.Peers != 3:
			t.Errorf("%s has %d peers", x.Name, x.CPU.Peers)
		case (x.CPU.Load == model.LoadIdle) != (x.Name == "querynode2"):
			t.Errorf("%s: load %v with %.2f cores", x.Name, x.CPU.Load, x.CPU.Cores)
		case x.CPU.Load == model.LoadIdle:
			idle++
		}
	}
	if idle != 1 || facts.From.IsZero() || !facts.To.After(facts.From) || len(facts.Problems) > 0 {
		t.Errorf("%d idle, %s to %s, problems %q", idle, facts.From, facts.To, facts.Problems)
	}
}

// TestBrokenProfile checks that an unreadable profile becomes a problem and the rest is used, and that a canceled
// context returns an error.
func TestBrokenProfile(t *testing.T) {
	r, c := recordOf(t, "t5"), model.Build(model.Parts{})
	r.Items[0].Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("no profile")), nil }
	facts, err := session.ProfileFacts(t.Context(), r, c)
	if err != nil || len(facts.Problems) != 1 || !strings.HasPrefix(facts.Problems[0], r.Items[0].Name+": ") ||
		len(facts.Processes) < 4 {
		t.Errorf("error %v, facts %+v", err, facts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := session.ProfileFacts(ctx, r, c); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestBusiestOfABrokenRecord checks that Busiest returns nil without an error if the profiles are unreadable, and
// that it opens only CPU profiles.
func TestBusiestOfABrokenRecord(t *testing.T) {
	r, c := recordOf(t, "t5"), model.Build(model.Parts{})
	facts, err := session.ProfileFacts(t.Context(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	p, x, err := session.Busiest(t.Context(), r, facts)
	if err != nil || p == nil || x == nil {
		t.Fatalf("of a whole record: %v, %v, %v", p, x, err)
	}
	opened := map[pull.Kind]int{}
	for i := range r.Items {
		kind := r.Items[i].Kind
		r.Items[i].Open = func() (io.ReadCloser, error) {
			opened[kind]++
			return io.NopCloser(strings.NewReader("no profile")), nil
		}
	}
	p, x, err = session.Busiest(t.Context(), r, facts)
	if err != nil || p != nil || x != nil {
		t.Errorf("of a broken record: %v, %v, %v", p, x, err)
	}
	if len(opened) != 1 || opened[pull.CPU] == 0 {
		t.Errorf("it opened %v", opened)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := session.Busiest(ctx, r, facts); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
