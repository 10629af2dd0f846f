// This file has no concurrency. The race detector would find nothing and take up to ten times as long.

//go:build !race

package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// withHistory returns a bundle with all past revisions of a source.
func withHistory(t *testing.T, src source.Source) []byte {
	t.Helper()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap := pin(t, src)
	oldest, err := past.Oldest(t.Context(), snap.Header())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	info := source.BundleInfo{
		Kitescope: "test", History: &source.ManifestHistory{Oldest: oldest},
		Members: func(b *source.BundleWriter) error {
			return b.AddPast(t.Context(), past, snap.Header(), oldest, nil)
		},
	}
	stats, err := source.WriteBundle(t.Context(), &out, snap, info, nil, nil)
	if err != nil || stats.Past.Changes == 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	return out.Bytes()
}

// TestKeysLeftOutOfABundle checks that dropped keys, current or past, are counted once each, however often they
// changed.
func TestKeysLeftOutOfABundle(t *testing.T) {
	src := open(t, backend(t, nil, []change{
		{key: "by-dev/config/secret", value: "1"},
		{key: "by-dev/meta/session/id", value: "1"},
		{key: "by-dev/config/secret", value: "2"},
		{key: "by-dev/config/old-secret", value: "3"},
		{key: "by-dev/config/old-secret", deleted: true},
		{key: "by-dev/meta/session/id", value: "2"},
	}), source.Options{})
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap := pin(t, src)
	secret := func(kv source.KV) (source.KV, bool) { return kv, !bytes.Contains(kv.Key, []byte("secret")) }
	var out bytes.Buffer
	info := source.BundleInfo{History: &source.ManifestHistory{Oldest: 2}, Members: func(b *source.BundleWriter) error {
		return b.AddPast(t.Context(), past, snap.Header(), 2, secret)
	}}
	if stats, err := source.WriteBundle(t.Context(), &out, snap, info, nil, secret); err != nil || stats.Dropped != 2 {
		t.Fatalf("%+v, %v", stats, err)
	}
	file := open(t, store(t, "past.kite", out.Bytes()), source.Options{})
	defer file.Close()
	snap = pin(t, file)
	if keys, err := collect(t.Context(), snap); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
	if gaps := snap.Gaps(); len(gaps) != 1 || gaps[0].Count != 2 || !gaps[0].Unrecorded {
		t.Errorf("gaps %+v", gaps)
	}
}

// TestPastOfABundle compares a bundle with its etcd at each revision. Readers without history support read the
// newest keys.
func TestPastOfABundle(t *testing.T) {
	t.Parallel()
	s := newScenario(t, 120)
	file := open(t, saveSnapshot(t, s.server), source.Options{})
	defer file.Close()
	content := withHistory(t, file)
	src := open(t, store(t, "story.kite", content), source.Options{})
	defer src.Close()
	testPast(t, src, s)

	members := untar(t, content)
	var manifest map[string]any
	if err := json.Unmarshal(members[0].content, &manifest); err != nil {
		t.Fatal(err)
	}
	delete(manifest, "history")
	var err error
	if members[0].content, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	old := open(t, store(t, "old.kite", retar(t, members)), source.Options{})
	defer old.Close()
	snap := pin(t, old)
	got := map[string]string{}
	if err := snap.Scan(t.Context(), []source.Range{{}}, func(kv source.KV) error {
		got[string(kv.Key)] = line(kv)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := s.at(t, s.newest); snap.Header().Revision != s.newest || !maps.Equal(want, got) {
		t.Errorf("without history: %d keys at revision %d, want %d at %d", len(got), snap.Header().Revision, len(want),
			s.newest)
	}
	if _, err := source.PastOf(old); err == nil {
		t.Error("a bundle without history has a past")
	}
}

// chunkOf writes a recording chunk with revisions of a past, a few in each member. ends maps the offset of the
// end of each member to its last revision.
func chunkOf(
	t *testing.T, past source.Past, h source.Header, first, last int64, closed bool,
) (content []byte, ends map[int]int64) {
	t.Helper()
	snap, err := past.PinAt(t.Context(), h, first)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var out bytes.Buffer
	head := snap.Header()
	head.Taken = began.Add(time.Duration(first) * time.Second)
	w, err := source.NewBundleWriter(&out, head, source.BundleInfo{
		Kitescope: "test", History: &source.ManifestHistory{Oldest: first, Recorded: true},
	})
	if err == nil {
		err = w.Base(t.Context(), snap, nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ends = map[int]int64{out.Len(): first}
	changes, at := w.Changes(first), time.Time{}
	flush := func() error {
		if err := changes.Flush(at); err != nil {
			return err
		}
		if err := w.AddHistory("answers", at, fmt.Appendf(nil, "after revision %d", changes.Revision())); err != nil {
			return err
		}
		err := w.Sync()
		ends[out.Len()] = changes.Revision()
		return err
	}
	before := first
	err = past.Changes(t.Context(), h, first, last, func(revision int64, events []source.Event) error {
		at = began.Add(time.Duration(revision) * time.Second)
		if revision >= before+20 {
			before = revision
			if err := flush(); err != nil {
				return err
			}
		}
		return changes.Add(at, revision, events)
	})
	if err == nil {
		err = changes.Add(at, last, nil)
	}
	if err == nil {
		err = flush()
	}
	if err == nil && closed {
		_, err = w.Close(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), ends
}

var began = time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)

// recordingOf returns a directory with chunks.
func recordingOf(t *testing.T, chunks ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	for i, content := range chunks {
		if err := os.WriteFile(filepath.Join(dir, source.ChunkName(i+1, began)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// savedScenario makes a story with a number of steps, and opens a snapshot of its etcd.
func savedScenario(t *testing.T, steps int) (*scenario, source.Past, source.Header) {
	t.Helper()
	s := newScenario(t, steps)
	file := open(t, saveSnapshot(t, s.server), source.Options{})
	past, err := source.PastOf(file)
	if err != nil {
		t.Fatal(err)
	}
	return s, past, pin(t, file).Header()
}

// TestPastOfARecording joins chunks: one that starts where another ends, one that starts before the end of
// another, and one that was not closed.
func TestPastOfARecording(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 120)
	third := (s.newest - s.compacted) / 3
	one, two := s.compacted+third, s.compacted+2*third
	a, _ := chunkOf(t, past, h, s.compacted, one+7, true)
	b, _ := chunkOf(t, past, h, one, two, false)
	c, _ := chunkOf(t, past, h, two, s.newest, false)
	dir := recordingOf(t, a, b, c)
	src := open(t, dir, source.Options{})
	defer src.Close()
	testPast(t, src, s)
	head := pin(t, src).Header()
	if want := began.Add(time.Duration(s.newest) * time.Second); !head.Taken.Equal(want) ||
		head.Origin.Kind != source.KindRecording || head.Origin.Location != dir {
		t.Errorf("the header is %+v, want a recording of %s", head, want)
	}
	var keys []source.KV
	snap, err := past.PinAt(t.Context(), h, s.newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := snap.Scan(t.Context(), []source.Range{source.Prefix("by-dev/")}, func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		keys = append(keys, kv)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(keys, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	sourcetest.Run(t, open(t, dir, source.Options{}), sourcetest.Want{
		Kind: source.KindRecording, Root: "by-dev", MetaPath: "meta", Revision: s.newest, Keys: keys, Exact: true,
	})
}

// TestRecordingOverlaps checks that a chunk with only its initial keys does not hide later revisions of the
// previous one.
func TestRecordingOverlaps(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 120)
	third := (s.newest - s.compacted) / 3
	one, two := s.compacted+third, s.compacted+2*third
	a, _ := chunkOf(t, past, h, s.compacted, two, false)
	b, _ := chunkOf(t, past, h, one, one, false)
	c, _ := chunkOf(t, past, h, two, s.newest, false)
	src := open(t, recordingOf(t, a, b, c), source.Options{})
	defer src.Close()
	testPast(t, src, s)
}

// TestRecordingWithAHole checks that unrecorded revisions return an error, and that the differences after them
// are yielded.
func TestRecordingWithAHole(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 160)
	quarter := (s.newest - s.compacted) / 4
	from, to := s.compacted+quarter, s.compacted+3*quarter
	a, _ := chunkOf(t, past, h, s.compacted, from, false)
	b, _ := chunkOf(t, past, h, to, s.newest, false)
	src := open(t, recordingOf(t, a, b), source.Options{})
	defer src.Close()
	recorded, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	h = pin(t, src).Header()
	for _, revision := range []int64{from + 1, to - 1} {
		if _, err := recorded.PinAt(t.Context(), h, revision); err == nil ||
			!strings.Contains(err.Error(), "was not recorded") {
			t.Errorf("revision %d: %v", revision, err)
		}
		if err := recorded.Changes(t.Context(), h, revision, s.newest, nil); err == nil ||
			!strings.Contains(err.Error(), "was not recorded") {
			t.Errorf("changes from %d: %v", revision, err)
		}
	}
	// Applied to the initial state, the changes must lead to each recorded state.
	now := state(t, recorded, h, s.compacted)
	held := func(revision int64) {
		if revision >= from && revision < to {
			return // the next change is in the unrecorded period
		}
		if want := s.at(t, revision); !maps.Equal(want, now) {
			t.Errorf("at revision %d: %d keys, want %d", revision, len(now), len(want))
		}
	}
	last := s.compacted
	err = recorded.Changes(t.Context(), h, s.compacted, s.newest, func(revision int64, events []source.Event) error {
		held(last)
		for _, e := range events {
			if now[string(e.Key)] = line(e.KV); e.Deleted {
				delete(now, string(e.Key))
			}
		}
		if revision < last {
			t.Errorf("revision %d behind %d", revision, last)
		}
		last = revision
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	held(s.newest)
	gaps := pin(t, src).Gaps()
	if len(gaps) != 1 || gaps[0].Where != fmt.Sprintf("revisions %d to %d", from+1, to) ||
		!strings.HasPrefix(gaps[0].Reason, "not recorded from") {
		t.Errorf("gaps %+v", gaps)
	}
}

// TestRecordingCutAnywhere truncates the last chunk at many offsets and checks that it is read up to its last
// complete member.
func TestRecordingCutAnywhere(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 80)
	middle := s.newest - 25
	first, _ := chunkOf(t, past, h, s.compacted, middle, true)
	second, ends := chunkOf(t, past, h, middle, s.newest, false)
	dir := recordingOf(t, first, second)
	path := filepath.Join(dir, source.ChunkName(2, began))
	want := middle // the end of the previous chunk, until this one has its initial keys
	base := len(second)
	for end := range ends {
		base = min(base, end)
	}
	for cut := 0; cut <= len(second); cut++ {
		end, ends := ends[cut]
		if ends {
			want = end
		}
		if !ends && cut%53 != 0 && cut != base-1 && cut != len(second) {
			continue
		}
		if err := os.WriteFile(path, second[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := source.Open(t.Context(), dir, source.Options{})
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(second), err)
		}
		snap := pin(t, src)
		if got := snap.Header().Revision; got != want {
			t.Fatalf("cut at %d of %d: revision %d, want %d", cut, len(second), got, want)
		}
		if ends || cut%97 == 0 { // a scan each time takes too long
			got := state(t, src.(source.Past), snap.Header(), want)
			if !maps.Equal(s.at(t, want), got) {
				t.Fatalf("cut at %d: the state of revision %d is another", cut, want)
			}
		}
		_ = src.Close()
	}
}

// TestRecordingOfAnotherEtcd checks that chunks with restarted revisions are treated as another etcd and are
// not joined.
func TestRecordingOfAnotherEtcd(t *testing.T) {
	t.Parallel()
	s, past, h := savedScenario(t, 80)
	later, _ := chunkOf(t, past, h, s.newest-20, s.newest, false)
	sooner, _ := chunkOf(t, past, h, s.compacted, s.compacted+20, false)
	src := open(t, recordingOf(t, later, sooner), source.Options{})
	defer src.Close()
	snap := pin(t, src)
	if got := snap.Header().Revision; got != s.compacted+20 {
		t.Errorf("revision %d, want %d", got, s.compacted+20)
	}
	if gaps := snap.Gaps(); len(gaps) != 1 || !strings.Contains(gaps[0].Reason, "another etcd") {
		t.Errorf("gaps %+v", gaps)
	}
}

func TestRecordingFolders(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	several := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(several, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(several, source.ChunkName(1, began)), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{empty, "without a recording"},
		{filepath.Dir(several), "a directory of several recordings"},
		{several, "not a file that holds Milvus metadata"},
	} {
		if _, err := source.Open(t.Context(), c.dir, source.Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.dir, err, c.want)
		}
	}
}

// FuzzBundleHistory checks that no history causes a panic or a hang, and that reading it twice gives the same
// result.
func FuzzBundleHistory(f *testing.F) {
	put := "\x03r/a\x012\x05\x06\x02\x00" // r/a = 2, created at 5, written at 6
	f.Add([]byte("\x05\x06" + put + "|\x03r/a\x011\x05\x05\x01\x00|lost"))
	f.Add([]byte("\x05\x09" + put + "\x03r/a\x00\x00\x07\x00\x00"))
	f.Add([]byte("\x05\x09||\x09\x0a" + put))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, recorded := range []bool{false, true} {
			var out bytes.Buffer
			h := source.Header{Root: "r", MetaPath: "meta", Revision: 5}
			oldest := int64(5)
			if !recorded {
				h.Revision, oldest = 9, 5
			}
			w, err := source.NewBundleWriter(&out, h,
				source.BundleInfo{History: &source.ManifestHistory{Oldest: oldest, Recorded: recorded}})
			if err != nil {
				t.Fatal(err)
			}
			_ = w.Write(
				source.KV{Key: []byte("r/a"), Value: []byte("1"), ModRevision: 5, CreateRevision: 5, Version: 1},
			)
			for i, part := range bytes.Split(content, []byte("|")) {
				_ = w.AddHistory([]string{"changes", "before", "gaps"}[i%3], time.Unix(1, 0), part)
			}
			_, _ = w.Close(nil)
			readPast(t, out.Bytes())
		}
	})
}

func readPast(t *testing.T, content []byte) {
	t.Helper()
	src, err := source.Open(t.Context(), "-", source.Options{Stdin: bytes.NewReader(content)})
	if err != nil {
		return
	}
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(t.Context())
	if err != nil {
		return
	}
	h := snap.Header()
	_ = snap.Scan(t.Context(), []source.Range{{}}, func(source.KV) error { return nil })
	last := int64(0)
	_ = past.Changes(t.Context(), h, 5, h.Revision, func(revision int64, events []source.Event) error {
		if revision < last || len(events) == 0 {
			t.Errorf("revision %d behind %d, %d events", revision, last, len(events))
		}
		last = revision
		return nil
	})
	_, _ = past.GetAt(t.Context(), h, 5, "r/a")
	_ = src.(*source.Bundle).Members(t.Context(), func(string, int64, io.Reader) error { return nil })
}

// TestChunkNumber checks that only file names of a recorder are chunks.
func TestChunkNumber(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		source.ChunkName(7, began): 7, source.ChunkName(123456789, began): 123456789,
		"000001-.kite": -1, "00001-2T.kite": -1, "1234567890-2T.kite": -1, "000001-2x.kite": -1,
		"000001-2T.kite.part": -1, "00000x-2T.kite": -1, "+00001-2T.kite": -1,
	} {
		if n, ok := source.ChunkNumber(name); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}

// TestTooManyChunks checks that too many chunks are rejected before they are sorted or opened.
func TestTooManyChunks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := filepath.Join(dir, source.ChunkName(0, began))
	if err := os.WriteFile(first, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 20_000; n++ {
		switch err := os.Link(first, filepath.Join(dir, source.ChunkName(n, began))); {
		case err != nil && runtime.GOOS == "windows": // NTFS allows 1,024 names for a file
			t.Skip(err)
		case err != nil:
			t.Fatal(err)
		}
	}
	start := time.Now()
	if _, err := source.ChunkNames(dir); err == nil || !strings.Contains(err.Error(), "more than 20000 chunks") ||
		time.Since(start) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
