package session_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// TestInterruptible checks that a read that would block forever ends with its context.
func TestInterruptible(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	in := session.Interruptible(ctx, r)
	go func() { _, _ = io.WriteString(w, "abc") }()
	p := make([]byte, 2)
	n, err := io.ReadFull(in, p)
	if err != nil || string(p[:n]) != "ab" {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	if n, err := in.Read(p); err != nil || string(p[:n]) != "c" {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	time.AfterFunc(10*time.Millisecond, stop)
	if _, err := in.Read(p); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v", err)
	}
}

// TestLoad checks that a bundle is loaded with its stored process state, that a missing recording is an error, and
// that the loader calls OnRead and OpenCustom.
func TestLoad(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "broken", "healthy-idle.kite")
	began, ended := 0, 0
	loader := &session.Loader{
		Now: time.Now, Timeout: time.Second,
		OnRead: func(s source.Snapshot) (source.Snapshot, func()) {
			began++
			return s, func() { ended++ }
		},
	}
	spec := &session.Spec{From: path, Live: true, Want: meta.Want{Parts: model.PartAll}}
	c, err := loader.Load(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if c.Runtime == nil || len(c.Runtime.Nodes) == 0 || c.Etcd == nil || began != 1 || ended != 1 {
		t.Errorf("runtime %+v, etcd %+v; %d readings began, %d ended", c.Runtime, c.Etcd, began, ended)
	}
	spec.Recordings = []string{filepath.Join(t.TempDir(), "none")}
	if _, err := loader.Load(t.Context(), spec); err == nil {
		t.Error("a recording that is not there is no error")
	}
	refused := errors.New("not this one")
	loader.OpenCustom = func(context.Context, *session.Spec) (source.Source, bool, error) { return nil, false, refused }
	if _, err := loader.Load(t.Context(), spec); !errors.Is(err, refused) {
		t.Errorf("opened: %v", err)
	}
}

// TestPassword checks that a password is requested only for a live source with a user, and that its error is
// returned by Open.
func TestPassword(t *testing.T) {
	none := errors.New("no password")
	for from, wants := range map[string]bool{
		"etcd://127.0.0.1:1": true, "file://x.db": false, "x.db": false, "-": false,
	} {
		spec := &session.Spec{
			From: from, User: "u", Password: func(context.Context) (string, error) { return "", none },
		}
		if spec.WantsPassword() != wants {
			t.Errorf("%s wants a password: %v", from, !wants)
		}
		if _, err := (&session.Loader{Timeout: time.Second}).Open(t.Context(), spec); errors.Is(err, none) != wants {
			t.Errorf("%s: %v", from, err)
		}
	}
	if spec := (&session.Spec{From: "etcd://127.0.0.1:1"}); spec.WantsPassword() {
		t.Error("nobody wants a password")
	}
}

// TestLoadLive checks that the processes of a live source are queried only if wanted.
func TestLoadLive(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		loader := &session.Loader{
			Now: time.Now, Timeout: time.Second,
			OpenCustom: func(context.Context, *session.Spec) (source.Source, bool, error) {
				return etcd, true, nil
			},
		}
		spec := &session.Spec{From: "demo://", Want: meta.Want{Parts: model.PartSegments}}
		c, err := loader.Load(t.Context(), spec)
		if err != nil || c.Runtime != nil || c.Etcd == nil || c.Loaded&model.PartSegments == 0 {
			t.Errorf("left alone: %v, runtime %v, etcd %v", err, c.Runtime != nil, c.Etcd)
		}
		if spec.QueriesProcesses(etcd) {
			t.Error("it would ask")
		}
		spec.Live = true
		if !spec.QueriesProcesses(etcd) {
			t.Error("it would not ask")
		}
	})
}
