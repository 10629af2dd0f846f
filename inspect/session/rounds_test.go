package session

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/source"
)

// nine is the time at which the recordings of these tests begin.
var nine = time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)

// emptySnapshot is a snapshot without keys.
type emptySnapshot struct{ header source.Header }

func (s emptySnapshot) Header() source.Header { return s.header }

func (emptySnapshot) Gaps() []source.Gap { return nil }

func (emptySnapshot) Seekable() bool { return true }

func (emptySnapshot) Close() error { return nil }

func (emptySnapshot) Scan(context.Context, []source.Range, func(source.KV) error) error { return nil }

// recordedSource writes a chunk into a folder. It has a round at each given minute, with the minute in its answer,
// and no changes of etcd.
func recordedSource(t *testing.T, dir string, n int, revision int64, minutes ...int) {
	t.Helper()
	at := func(minute int) time.Time { return nine.Add(time.Duration(minute) * time.Minute) }
	var out bytes.Buffer
	snap := emptySnapshot{
		source.Header{
			Root: "by-dev", MetaPath: "meta", Revision: revision, Taken: at(minutes[0]).Add(-time.Second),
			ByClock: true,
		},
	}
	w, err := source.NewBundleWriter(&out, snap.header, source.BundleInfo{
		Kitescope: "test", History: &source.ManifestHistory{Oldest: revision, Recorded: true},
	})
	if err == nil {
		err = w.Base(t.Context(), snap, nil, nil)
	}
	encoder := new(RoundEncoder)
	for _, minute := range minutes {
		r := &Round{At: at(minute), Revision: revision, Every: time.Minute, Records: []live.Record{
			{
				Role: "proxy", Node: 1, Address: "127.0.0.1:1", Method: "/said",
				Response: fmt.Appendf(nil, "%d", minute), At: at(minute), Outcome: "answered",
			},
		}}
		var content []byte
		if err == nil {
			content, err = encoder.Append(nil, r)
		}
		if err == nil {
			err = w.AddHistory(RoundMember, r.At, content)
		}
	}
	if err == nil {
		_, err = w.Close(nil)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, source.ChunkName(n, snap.header.Taken)), out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMomentWhileNothingIsWritten checks that the answers are those of the requested time even if three chunks have
// the same revision.
func TestMomentWhileNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recordedSource(t, dir, 1, 7, 0, 1, 2)
	recordedSource(t, dir, 2, 7, 3, 4, 5)
	recordedSource(t, dir, 3, 7, 6, 7, 8)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for after, want := range map[time.Duration]string{
		30 * time.Second: "0", 2 * time.Minute: "2", 3*time.Minute - time.Second: "2",
		3*time.Minute - time.Second/2: "2",
		4*time.Minute + time.Second:   "4", 6*time.Minute - 2*time.Second: "5", 7 * time.Minute: "7", time.Hour: "",
		-time.Minute: "",
	} {
		rounds := RoundsOf(src)
		lacks, err := rounds.seek(t.Context(), 7, nine.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		var answers [][]byte
		if lacks == "" {
			for _, r := range rounds.decoder.last() {
				answers = append(answers, r.Response)
			}
		}
		rounds.Close()
		got := string(slices.Concat(answers...))
		if got != want || (want == "") != strings.HasPrefix(lacks, "the processes were") {
			t.Errorf("after %s: %q, want %q; lacks %q", after, got, want, lacks)
		}
	}
}
