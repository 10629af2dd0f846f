// Nothing runs side by side here, so that the race detector would find nothing, in up to ten times the time.

//go:build !race

package meta

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// compareAt holds a film at a revision against a load of the store as it was then.
func compareAt(t *testing.T, f *Film, past source.Past, newest source.Header, revision int64, options ...gocmp.Option) {
	t.Helper()
	got, err := f.At(revision)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := past.PinAt(t.Context(), newest, revision)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	p, err := PointOf(t.Context(), past, newest, revision)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Load(t.Context(), &firstOf{Snapshot: snap, header: HeaderAt(snap.Header(), newest, p.Moment), reel: newReel(0)}, Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := want.Parts, got.Parts
	a.Keyspace, b.Keyspace = nil, nil
	if !reflect.DeepEqual(a, b) { // which takes a hundredth of the time
		options = append(options, cmpopts.EquateEmpty())
		if diff := gocmp.Diff(a, b, options...); diff != "" {
			t.Fatalf("revision %d (-loaded +film):\n%s", revision, diff)
		}
	}
	if !reflect.DeepEqual(totals(want), totals(got)) {
		t.Fatalf("revision %d: totals (-loaded +film):\n%s", revision, gocmp.Diff(totals(want), totals(got)))
	}
	if want.Keyspace.Len() != got.Keyspace.Len() {
		t.Fatalf("revision %d: %d keys, want %d", revision, got.Keyspace.Len(), want.Keyspace.Len())
	}
	for i := range want.Keyspace.Len() {
		if x, y := want.Keyspace.Info(i), got.Keyspace.Info(i); x != y {
			t.Fatalf("revision %d: key %+v, want %+v", revision, y, x)
		}
	}
	for range min(20, want.Keyspace.Len()) { // a value costs more than all of the rest
		i := rand.IntN(want.Keyspace.Len())
		if x, y := want.Keyspace.Record(i), got.Keyspace.Record(i); !reflect.DeepEqual(x, y) {
			t.Fatalf("revision %d: record %+v, want %+v", revision, y, x)
		}
	}
}

// TestFilmOfCaptures moves the films of captured servers to random revisions, forth and back.
func TestFilmOfCaptures(t *testing.T) { //nolint:tparallel // its parts share what is random
	t.Parallel()
	captures, err := filepath.Glob("../../testdata/snapshots/*/etcd_snapshot.db.gz")
	if err != nil || len(captures) < 10 {
		t.Fatalf("captures: %d, %v", len(captures), err)
	}
	random := rand.New(rand.NewPCG(21, 22))
	for _, path := range captures {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			src, err := source.Open(t.Context(), path, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			f, past, newest := filmOf(t, src, FilmOptions{})
			if f.To() != newest.Revision || f.Cut() {
				t.Errorf("it ends at %d, cut %v, want %d", f.To(), f.Cut(), newest.Revision)
			}
			at := []int64{f.From(), f.To(), f.From()}
			for range 9 {
				at = append(at, f.From()+random.Int64N(f.To()-f.From()+1))
			}
			for step, revision := 0, f.To(); step < 5; step++ { // and step by step
				revision, _ = f.Before(revision)
				at = append(at, revision)
			}
			for _, revision := range at {
				compareAt(t, f, past, newest, revision)
			}
		})
	}
}

// TestFilmSteps goes over every revision there is, both ways, and looks that nothing is passed over.
func TestFilmSteps(t *testing.T) {
	src, err := source.Open(t.Context(), fixturePath("standalone-2.3.5", "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f, past, newest := filmOf(t, src, FilmOptions{})
	var changed []int64
	err = past.Changes(t.Context(), newest, f.From(), f.To(), func(revision int64, _ []source.Event) error {
		changed = append(changed, revision)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	changed = slices.Compact(changed)
	var forth, back []int64
	for r, ok := f.Next(f.From()); ok; r, ok = f.Next(r) {
		forth = append(forth, r)
	}
	for r, ok := f.Before(f.To() + 1); ok && r > f.From(); r, ok = f.Before(r) {
		back = append(back, r)
	}
	slices.Reverse(back)
	if !slices.Equal(forth, changed) || !slices.Equal(back, changed) {
		t.Errorf("%d steps forth, %d back, want %d", len(forth), len(back), len(changed))
	}
	few, before := 0, (*model.Cluster)(nil)
	for _, r := range slices.Backward(changed) {
		c, err := f.At(r)
		if err != nil {
			t.Fatal(err)
		}
		if before == nil || len(model.ChangedSegments(c.Segments, before.Segments)) < 10 {
			few++
		}
		before = c
	}
	if few < len(changed)*9/10 {
		t.Errorf("%d of %d steps share nearly all segments with the one before", few, len(changed))
	}
	for _, revision := range []int64{f.From() - 1, f.To() + 1} {
		gone, ok := errors.AsType[*source.RevisionError](errorOf(f.At(revision)))
		if !ok || gone.Wanted != revision || gone.Oldest != f.From() || gone.Newest != f.To() {
			t.Errorf("revision %d: %+v", revision, gone)
		}
	}
}

func errorOf(_ *model.Cluster, err error) error { return err }

// TestFilmOfAnEtcd follows an etcd that is changed at random, in one film that grows and in one that may hold little.
func TestFilmOfAnEtcd(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	kvs := metatest.Cluster("2.6")
	server.Load(t, kvs)
	src, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	random := rand.New(rand.NewPCG(31, 32))
	change := func() {
		ops := make(map[string]clientv3.Op)
		for range 1 + random.IntN(6) {
			op, _ := randomChange(random, kvs)
			ops[string(op.KeyBytes())] = op
		}
		list := make([]clientv3.Op, 0, len(ops))
		for _, op := range ops {
			list = append(list, op)
		}
		if _, err := server.Client.Txn(t.Context()).Then(list...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 {
		change()
	}
	const little = 60_000
	whole, _, _ := filmOf(t, src, FilmOptions{Grow: true})
	small, _, _ := filmOf(t, src, FilmOptions{Grow: true, Most: little})
	for range 12 {
		for range 10 {
			change()
		}
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		newest := snap.Header()
		past := src.(source.Past)
		for _, f := range []*Film{whole, small} {
			err := past.Changes(t.Context(), newest, f.To(), newest.Revision, func(revision int64, events []source.Event) error {
				return f.Add(revision, newest.Taken, events)
			})
			if err != nil || f.To() != newest.Revision {
				t.Fatalf("it ends at %d, want %d: %v", f.To(), newest.Revision, err)
			}
			for range 3 {
				revision := f.From() + random.Int64N(f.To()-f.From()+1)
				compareAt(t, f, past, newest, revision, cmpopts.IgnoreFields(model.Origin{}, "Taken"), cmpopts.IgnoreFields(model.Parts{}, "Recent"))
			}
		}
		_ = snap.Close()
	}
	if whole.Cut() || !small.Cut() || small.From() <= whole.From() || small.reel.bytes > little*5/4 {
		t.Errorf("the whole film is cut: %v; the small one begins at %d, not %d, and has %d bytes", whole.Cut(), small.From(), whole.From(), small.reel.bytes)
	}
	if err := whole.Add(whole.To()-1, time.Time{}, nil); err == nil {
		t.Error("a change behind the end is taken")
	}
}

// TestFilmOfACompaction: etcd is compacted while a film is read, so that the state that it would begin with is gone.
func TestFilmOfACompaction(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, metatest.Cluster("2.6"))
	src, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var last int64
	for i := range 20 {
		answer, err := server.Client.Put(t.Context(), "by-dev/config/queryCoord/autoBalance", strconv.FormatBool(i%2 == 0))
		if err != nil {
			t.Fatal(err)
		}
		last = answer.Header.Revision
	}
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	past := &compactedOnce{Past: src.(source.Past), compact: func() {
		if _, err := server.Client.Compact(t.Context(), last-5, clientv3.WithCompactPhysical()); err != nil {
			t.Error(err)
		}
	}}
	f, err := ReadFilm(t.Context(), past, snap.Header(), Want{Parts: model.PartAll, Records: true}, FilmOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f.From() != last-5 || f.To() != last {
		t.Errorf("revisions %d to %d, want %d to %d", f.From(), f.To(), last-5, last)
	}
	for r := f.From(); r <= f.To(); r++ {
		compareAt(t, f, src.(source.Past), snap.Header(), r, cmpopts.IgnoreFields(model.Origin{}, "Taken"), cmpopts.IgnoreFields(model.Parts{}, "Recent"))
	}
}

// compactedOnce is compacted when its changes have been read.
type compactedOnce struct {
	source.Past
	compact func()
}

func (c *compactedOnce) Changes(ctx context.Context, h source.Header, from, to int64, yield func(int64, []source.Event) error) error {
	err := c.Past.Changes(ctx, h, from, to, yield)
	if c.compact != nil {
		c.compact()
		c.compact = nil
	}
	return err
}
