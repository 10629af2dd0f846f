package pull_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/profile/pull"
)

// rounds runs a record until count rounds are done, and returns their paths.
func rounds(t *testing.T, r *pull.Rolling, url string, count int) []string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var paths []string
	err := r.Run(ctx, func(ctx context.Context, dir string) (*pull.Manifest, error) {
		return pull.Run(ctx, []pull.Target{target(t, "q="+url)}, pull.Options{Kinds: []pull.Kind{pull.Heap}}, dir)
	}, func(path string, m *pull.Manifest, err error) {
		if err != nil || m == nil {
			t.Errorf("round %s: %v", path, err)
		}
		paths = append(paths, path)
		if len(paths) == count {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestRolling checks that the newest rounds are kept across restarts and clock changes, and that foreign files are
// kept.
func TestRolling(t *testing.T) {
	s := start(t, realServer(""))
	dir := filepath.Join(t.TempDir(), "record")
	at := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	r := &pull.Rolling{Dir: dir, Every: 10 * time.Millisecond, Keep: 3, Now: func() time.Time { return at }}
	first := rounds(t, r, s.URL, 2)
	if filepath.Base(first[0]) != "20261120T160000Z" || filepath.Base(first[1]) != "20261120T160000Z-2" {
		t.Errorf("rounds within a second: %v", first)
	}
	foreign := filepath.Join(dir, "20250101T000000Z")
	for _, d := range []string{foreign, filepath.Join(dir, "mine")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "keep.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A foreign file in a round.
	note := filepath.Join(first[0], "note.txt")
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// An old folder of a killed process, and one that is in use.
	old, now := filepath.Join(dir, ".kitescope-pull-1"), filepath.Join(dir, ".kitescope-pull-2")
	for _, d := range []string{old, now} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-100 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	at = at.Add(-24 * time.Hour) // the clock was set back, and kitescope was restarted
	later := rounds(t, r, s.URL, 4)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{".kitescope-pull-2", "20250101T000000Z", filepath.Base(first[0]), "mine"}
	for _, path := range later[1:] {
		want = append(want, filepath.Base(path))
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("left %v, want %v", names, want)
	}
	if inside, _ := os.ReadDir(first[0]); len(inside) != 1 || inside[0].Name() != "note.txt" {
		t.Errorf("of the round with a note is left: %v", inside)
	}
	record, err := pull.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !record.Rolling || len(record.Rounds) != 3 || len(record.Items) != 3 {
		t.Fatalf("%d rounds, %d items", len(record.Rounds), len(record.Items))
	}
	for i, round := range record.Rounds {
		if round.Manifest.Sequence != int64(4+i) || record.Items[i].Round != i || record.Items[i].Node != "q" {
			t.Errorf("round %d: %+v", i, round)
		}
	}
}

// TestRollingAfterFailedRound checks that a record continues after a failed round, and saves a round in which all pulls
// failed.
func TestRollingAfterFailedRound(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	var told []string
	r := &pull.Rolling{Dir: dir, Every: time.Millisecond}
	err := r.Run(ctx, func(ctx context.Context, dir string) (*pull.Manifest, error) {
		if n++; n == 1 {
			return nil, errors.New("etcd is away")
		}
		return pull.Run(ctx, []pull.Target{target(t, "127.0.0.1:1")}, pull.Options{}, dir)
	}, func(_ string, m *pull.Manifest, err error) {
		if m == nil {
			told = append(told, err.Error())
			return
		}
		told = append(told, string(m.Profiles[0].Outcome))
		stop()
	})
	if err != nil || strings.Join(told, ",") != "etcd is away,refused" {
		t.Errorf("%v: %v", err, told)
	}
	record, err := pull.Read(dir)
	if err != nil || len(record.Rounds) != 1 || len(record.Items) != 0 {
		t.Errorf("%v: %+v", err, record)
	}
}

// TestRollingStops checks that a record that stops within a round leaves no files.
func TestRollingStops(t *testing.T) {
	t.Parallel()
	s := start(t, realServer(""))
	profilerMu.Lock()
	defer profilerMu.Unlock()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, stop)
	r := &pull.Rolling{Dir: dir, Every: time.Minute}
	begun := time.Now()
	err := r.Run(ctx, func(ctx context.Context, dir string) (*pull.Manifest, error) {
		return pull.Run(ctx, []pull.Target{target(t, s.URL)}, pull.Options{Seconds: 20}, dir)
	}, func(path string, _ *pull.Manifest, _ error) { t.Errorf("a round was told: %s", path) })
	if entries, _ := os.ReadDir(dir); err != nil || len(entries) > 0 || time.Since(begun) > 15*time.Second {
		t.Errorf("%v, %v after %s", err, entries, time.Since(begun))
	}
}

// TestRollingDiskFull checks that a record ends if rounds cannot be saved.
func TestRollingDiskFull(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	single := t.TempDir()
	if err := os.WriteFile(filepath.Join(single, pull.ManifestName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*pull.Rolling{
		{Dir: single, Every: time.Second},
		{Dir: file, Every: time.Second},
		{Dir: t.TempDir()},
		{Dir: t.TempDir(), Every: time.Second, Keep: -1},
	} {
		if err := r.Run(t.Context(), nil, nil); err == nil {
			t.Errorf("%+v was run", r)
		}
	}
}
