package demo_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// TestPast checks that the history ends in the captured state, key by key, and that no revision is later than the
// demo's clock.
func TestPast(t *testing.T) {
	c := startDemo(t)
	src := openDemo(t, c)
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	now, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := now.Header()
	oldest, err := past.Oldest(t.Context(), h)
	if err != nil || oldest != 1 {
		t.Fatalf("the oldest is %d: %v", oldest, err)
	}
	first, err := past.PinAt(t.Context(), h, oldest)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for _, kv := range keys(t, first) {
		held[string(kv.Key)] = string(kv.Value)
	}
	err = past.Changes(t.Context(), h, oldest, h.Revision, func(_ int64, events []source.Event) error {
		for _, e := range events {
			if e.Deleted {
				delete(held, string(e.Key))
			} else {
				held[string(e.Key)] = string(e.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, kv := range keys(t, now) {
		if bytes.HasPrefix(kv.Key, []byte(h.Root+"/")) {
			seen++
			if held[string(kv.Key)] != string(kv.Value) {
				t.Errorf("%s ends as %q, is %q", kv.Key, held[string(kv.Key)], kv.Value)
			}
		}
	}
	if seen != len(held) || seen < 500 {
		t.Errorf("%d keys at the end, %d now", len(held), seen)
	}
	for _, revision := range []int64{oldest, 400, 1000, h.Revision} {
		p, err := meta.PointOf(t.Context(), past, h, revision)
		if err != nil || p.Moment.Time.After(demo.Now()) {
			t.Errorf("revision %d was written at %s: %v", revision, p.Moment.Time, err)
		}
	}
	var gone *source.RevisionError
	if _, err := past.PinAt(t.Context(), h, h.Revision+1); !errors.As(err, &gone) || gone.Newest != h.Revision {
		t.Errorf("a revision of later: %v", err)
	}
}

// TestPastHasTheIncident checks that the history has the incident: auto-balance is switched off, then a node joins
// that serves nothing.
func TestPastHasTheIncident(t *testing.T) {
	c := startDemo(t)
	src := openDemo(t, c)
	past, _ := source.PastOf(src)
	now, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := now.Header()
	first, err := past.PinAt(t.Context(), h, 1)
	if err != nil {
		t.Fatal(err)
	}
	told, err := history.Read(t.Context(), first,
		func(ctx context.Context, yield func(int64, []source.Event) error) error {
			return past.Changes(ctx, h, 1, h.Revision, yield)
		})
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	for i := range told.Len() {
		if e := told.Event(i); e.Kind == "config_changed" || strings.HasPrefix(e.Object.Name, "querynode-19") {
			story = append(story, e.Object.Name+" "+strings.Fields(e.Message)[0])
		}
	}
	if want := []string{"queryCoord/autoBalance set", "querynode-19 joined:"}; !slices.Equal(story, want) {
		t.Errorf("%q, want %q", story, want)
	}
	if told.ToTime.After(demo.Now().Add(2 * time.Second)) { // the wall time of the last timestamps is unknown
		t.Errorf("it ends at %s, and it is %s", told.ToTime, demo.Now())
	}
}

// TestPastGoesOn checks that changes made with Put and Delete become part of the past.
func TestPastGoesOn(t *testing.T) {
	c := startDemo(t)
	src := openDemo(t, c)
	past, _ := source.PastOf(src)
	before, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := before.Header()
	key := h.Root + "/config/queryCoord/autoBalance"
	c.Put(key, []byte("true"))
	c.Delete(key)
	for after, want := range map[int64]string{0: "false", 1: "true", 2: ""} {
		kv, err := past.GetAt(t.Context(), h, h.Revision+after, key)
		got := ""
		if kv != nil {
			got = string(kv.Value)
		}
		snap, pinned := past.PinAt(t.Context(), h, h.Revision+after)
		if err != nil || pinned != nil || got != want || snap.Header().Revision != h.Revision+after {
			t.Errorf("%d revisions later it is %q, want %q: %v, %v", after, got, want, err, pinned)
			continue
		}
		loaded, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartConfig})
		if err != nil || (want == "") != (len(loaded.Config) == 0) {
			t.Errorf("%d revisions later there are %d settings: %v", after, len(loaded.Config), err)
		}
	}
	var told []string
	err = past.Changes(t.Context(), h, h.Revision-1, h.Revision+2, func(_ int64, events []source.Event) error {
		for _, e := range events {
			if string(e.Key) == key {
				told = append(told, string(e.Value))
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(told, []string{"true", ""}) {
		t.Errorf("it was %q: %v", told, err)
	}
}
