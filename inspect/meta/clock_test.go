package meta_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
)

// countingPast is a Past that counts its reads of keys.
type countingPast struct {
	source.Past
	reads int
}

func (c *countingPast) GetAt(ctx context.Context, h source.Header, revision int64, key string) (*source.KV, error) {
	c.reads++
	return c.Past.GetAt(ctx, h, revision, key)
}

// pastOf opens a capture of a real server.
func pastOf(t *testing.T, path string) (*countingPast, source.Header) {
	t.Helper()
	src, err := source.Open(t.Context(), path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return &countingPast{Past: past}, snap.Header()
}

// clockOf returns a clock without ticks for the store of a header.
func clockOf(h source.Header) *meta.Clock {
	var seen time.Time
	if h.ByClock {
		seen = h.Taken
	}
	return meta.ClockOf(h.Root).UpTo(h.Revision, seen)
}

// TestPointsOfCaptures checks that a point found with few reads equals the result of a clock with all ticks.
func TestPointsOfCaptures(t *testing.T) {
	t.Parallel()
	captures, err := filepath.Glob("../../testdata/snapshots/*/etcd_snapshot.db.gz")
	if err != nil || len(captures) < 10 {
		t.Fatalf("captures: %d, %v", len(captures), err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, path := range captures {
		past, h := pastOf(t, path)
		oldest, err := past.Oldest(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		clock := clockOf(h)
		for _, key := range []string{"gid", "tso"} {
			kv, err := past.GetAt(t.Context(), h, oldest, h.Root+"/kv/"+key+"/timestamp")
			if err != nil {
				t.Fatal(err)
			}
			if kv != nil {
				clock.Put(*kv)
			}
		}
		err = past.Changes(t.Context(), h, oldest, h.Revision, func(_ int64, events []source.Event) error {
			for _, e := range events {
				clock.Put(e.KV)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		end, known := clock.At(h.Revision)
		if !known || end.Time.After(h.Taken) || h.Taken.Sub(end.Time) > 4*time.Second ||
			end.Open != (end.Error > 100*time.Millisecond) {
			t.Errorf("%s: it ends at %+v, was taken %s", path, end, h.Taken)
		}
		looks := 0
		for range 40 {
			revision := oldest + random.Int64N(h.Revision-oldest+1)
			want, dated := clock.At(revision)
			got, err := meta.PointOf(t.Context(), past, h, revision)
			if err != nil || got != (meta.Point{Revision: revision, Moment: want, Dated: dated}) {
				t.Errorf("%s, revision %d: %+v, want %+v: %v", path, revision, got, want, err)
			}
			at := h.Taken.Add(-time.Duration(random.Int64N(int64(2 * time.Minute))))
			past.reads = 0
			point, err := meta.PointAt(t.Context(), past, h, at)
			looks = max(looks, past.reads)
			last, known := clock.Revision(at)
			if known != (err == nil) || known && point.Revision != last {
				t.Errorf("%s at %s: %+v, want revision %d: %v", path, at, point, last, err)
			}
		}
		if looks > 60 { // two keys at each revision
			t.Errorf("%s: %d looks for one time", path, looks)
		}
	}
}

// tickStore is a store that only holds the key of the clock, compacted at its oldest revision.
type tickStore struct {
	source.Past
	oldest, newest int64
	ticks          []source.KV
	reads          int
}

func (p *tickStore) Oldest(context.Context, source.Header) (int64, error) { return p.oldest, nil }

func (p *tickStore) GetAt(_ context.Context, _ source.Header, revision int64, key string) (*source.KV, error) {
	p.reads++
	if revision < p.oldest || revision > p.newest {
		return nil, &source.RevisionError{Where: "the store", Wanted: revision, Oldest: p.oldest, Newest: p.newest}
	}
	for _, kv := range slices.Backward(p.ticks) {
		if string(kv.Key) == key && kv.ModRevision <= revision {
			return &kv, nil
		}
	}
	return nil, nil //nolint:nilnil // as source.Past says
}

// TestPointsOfACompactedStore finds times in a long history with a varying pace, and before its beginning.
func TestPointsOfACompactedStore(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	past := &tickStore{newest: 1}
	at := start
	for range 3000 { // an idle hour, a busy one, RootCoord down for a while
		past.newest += 1 + random.Int64N(3)
		if n := len(past.ticks); n > 1200 && n < 1800 {
			past.newest += random.Int64N(2000)
		}
		past.ticks = append(past.ticks, reservedAt(past.newest, at))
		at = at.Add(3*time.Second + time.Duration(random.Int64N(int64(60*time.Millisecond))))
		if len(past.ticks) == 2000 {
			at = at.Add(20 * time.Minute)
		}
	}
	h := source.Header{Root: "by-dev", Origin: source.Origin{Location: "the store"}, Revision: past.newest, Taken: at}
	first := 500
	past.oldest = past.ticks[first].ModRevision + 1
	clock := clockOf(h)
	for _, kv := range past.ticks {
		clock.Put(kv)
	}
	oldest, _ := clock.At(past.oldest)
	found, refused := 0, 0
	gone, _ := clock.At(past.oldest - 1) // its tick is in the compacted store, but its revision is not
	for i := range 500 {
		when := start.Add(time.Duration(random.Int64N(int64(at.Sub(start)))))
		if i == 0 {
			when = gone.Time.Add(time.Second)
		}
		past.reads = 0
		p, err := meta.PointAt(t.Context(), past, h, when)
		want, _ := clock.Revision(when)
		switch {
		case want < past.oldest:
			refused++
			text := "is before the oldest state available: " +
				oldest.Time.Add(time.Second-1).Format("2006-01-02 15:04:05 UTC")
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s, of revision %d, which is gone: %+v, %v, want %q", when, want, p, err, text)
			}
		case err != nil || p.Revision != want || !p.Dated || p.Moment.Time.After(when):
			t.Errorf("%s: %+v, want revision %d: %v", when, p, want, err)
		default:
			found++
		}
		if past.reads > 60 {
			t.Errorf("%s: %d looks", when, past.reads)
		}
	}
	if found < 100 || refused < 50 {
		t.Errorf("%d found, %d refused: both are to be seen", found, refused)
	}
}

func reservedAt(revision int64, at time.Time) source.KV {
	return source.KV{
		Key: []byte("by-dev/kv/gid/timestamp"), ModRevision: revision,
		Value: binary.BigEndian.AppendUint64(nil, uint64(at.Add(3*time.Second).UnixNano())),
	}
}

// TestClock checks the dates that known ticks give to revisions.
func TestClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	h := source.Header{Root: "by-dev", Revision: 1_000_200, Taken: start.Add(20 * time.Second), ByClock: true}
	clock := clockOf(h)
	if _, known := clock.At(1_000_000); known {
		t.Error("no tick dates a revision")
	}
	clock.Put(reservedAt(1_000_000, start))
	clock.Put(reservedAt(1_000_100, start.Add(3020*time.Millisecond)))
	// RootCoord restarted before its reservation was over.
	clock.Put(reservedAt(1_000_110, start.Add(3020*time.Millisecond+3001*time.Millisecond)))
	clock.Put(source.KV{Key: []byte("by-dev/kv/gid/timestamp"), ModRevision: 1_000_120, Value: []byte("no time")})
	clock.Put(source.KV{Key: []byte("by-dev/meta/gid/timestamp"), ModRevision: 1_000_130, Value: make([]byte, 8)})
	second := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for revision, want := range map[int64]meta.Moment{
		1_000_000: {Time: start, Error: second(0.1)},
		1_000_001: {Time: start.Add(second(1.51)), Error: second(1.61)},
		1_000_099: {Time: start.Add(second(1.51)), Error: second(1.61)},
		1_000_100: {Time: start.Add(second(3.02)), Error: second(0.1)},
		1_000_110: {Time: start.Add(second(6.021)), Error: second(3)},
		1_000_200: {Time: start.Add(second((6.021 + 20) / 2)), Error: second((6.021+20)/2 - 3.021)},
	} {
		if got, known := clock.At(revision); !known || got.Time.Sub(want.Time).Abs() > time.Microsecond ||
			(got.Error-want.Error).Abs() > time.Microsecond || got.Open {
			t.Errorf("revision %d: %+v, want %+v", revision, got, want)
		}
	}
	for after, want := range map[float64]int64{
		0: 1_000_000, 1.5: 1_000_000, 1.52: 1_000_099, 3.01: 1_000_099, 3.02: 1_000_100, 20: 1_000_200,
	} {
		if got, known := clock.Revision(start.Add(second(after))); !known || got != want {
			t.Errorf("%v s: revision %d, want %d", after, got, want)
		}
	}
}
