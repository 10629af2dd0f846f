package meta

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// filmOf reads the film of a source, and what it is held against.
func filmOf(t *testing.T, src source.Source, o FilmOptions) (*Film, source.Past, source.Header) {
	t.Helper()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	f, err := ReadFilm(t.Context(), past, snap.Header(), Want{Parts: model.PartAll, Records: true}, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, past, snap.Header()
}

// moving is a Past in memory: a store, and writes of it one revision each.
type moving struct {
	source.Past
	base   *memory
	writes []source.KV
}

func (m *moving) Oldest(context.Context, source.Header) (int64, error) {
	return m.base.header.Revision, nil
}

func (m *moving) PinAt(context.Context, source.Header, int64) (source.Snapshot, error) {
	return m.base, nil
}

func (m *moving) GetAt(context.Context, source.Header, int64, string) (*source.KV, error) {
	return nil, nil //nolint:nilnil // as source.Past says
}

func (m *moving) Changes(_ context.Context, _ source.Header, _, _ int64, yield func(int64, []source.Event) error) error {
	for i := range m.writes {
		if err := yield(m.writes[i].ModRevision, []source.Event{{KV: m.writes[i]}}); err != nil {
			return err
		}
	}
	return nil
}

// newMoving writes keys of a store again, at random.
func newMoving(tb testing.TB, segments, writes int) (*moving, source.Header) {
	tb.Helper()
	m := &moving{base: manySegments(tb, segments)}
	m.base.header.Revision = int64(len(m.base.kvs)) + 1
	random := rand.New(rand.NewPCG(41, 42))
	h := m.base.header
	for range writes {
		h.Revision++
		kv := m.base.kvs[random.IntN(len(m.base.kvs))]
		kv.ModRevision, kv.Version = h.Revision, 2
		m.writes = append(m.writes, kv)
	}
	slices.SortFunc(m.writes, func(a, b source.KV) int { return cmp.Compare(a.ModRevision, b.ModRevision) })
	return m, h
}

// BenchmarkFilm moves a film of 200,000 segments: by one revision, and anywhere among 100,000.
func BenchmarkFilm(b *testing.B) {
	past, newest := newMoving(b, 200_000, 100_000)
	f, err := ReadFilm(b.Context(), past, newest, Want{Parts: model.PartAll}, FilmOptions{})
	if err != nil {
		b.Fatal(err)
	}
	at := func(revision int64) {
		if _, err := f.At(revision); err != nil {
			b.Fatal(err)
		}
	}
	at(f.To())
	b.Run("step", func(b *testing.B) {
		r := f.To()
		for b.Loop() {
			if r--; r <= f.From() {
				r = f.To()
			}
			at(r)
		}
	})
	random := rand.New(rand.NewPCG(51, 52))
	b.Run("anywhere", func(b *testing.B) {
		for b.Loop() {
			at(f.From() + random.Int64N(f.To()-f.From()+1))
		}
	})
}

// TestFilmForMany: several look at moments of one film at once, each at its own.
func TestFilmForMany(t *testing.T) {
	t.Parallel()
	src, err := source.Open(t.Context(), fixturePath("standalone-2.3.5", "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f, _, _ := filmOf(t, src, FilmOptions{})
	want := make(map[int64]int64)
	for r, ok := f.Next(f.From()); ok; r, ok = f.Next(r) {
		c, err := f.At(r)
		if err != nil {
			t.Fatal(err)
		}
		want[r] = c.Keys
	}
	var looking sync.WaitGroup
	for i := range uint64(4) {
		looking.Go(func() {
			random := rand.New(rand.NewPCG(i, 61))
			for range 60 {
				r, _ := f.Before(f.From() + 1 + random.Int64N(f.To()-f.From()))
				c, err := f.At(r)
				if keys, ok := want[r]; err != nil || c.Origin.Revision != r || ok && c.Keys != keys {
					t.Errorf("revision %d: %v", r, err)
					return
				}
				_, _ = f.Moment(r)
				for _, s := range c.Segments { // while others move it
					if s.ID == 0 {
						t.Error("a segment without an id")
					}
				}
			}
		})
	}
	looking.Wait()
}
