package kept

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Film is a film of a recording: each moment has what processes said by then.
type Film struct {
	*meta.Film
	at func(*model.Cluster) (*model.Cluster, error)
}

// At is the cluster as it was at a revision.
func (f *Film) At(revision int64) (*model.Cluster, error) {
	c, err := f.Film.At(revision)
	if err != nil {
		return nil, err
	}
	return f.at(c)
}

// FilmOf lays what a recording has of processes over the moments of a film of it; ok is false of a source that has nothing of past
// moments. The last revision of the film is looked at as of its end.
func FilmOf(ctx context.Context, src source.Source, film *meta.Film, end time.Time) (f *Film, ok bool) {
	if chunks, err := chunksOf(ctx, src, film.To(), end); err == nil && len(chunks) == 0 {
		return nil, false
	}
	known, then := &memo{}, othersIn(film)
	return &Film{film, func(c *model.Cluster) (*model.Cluster, error) {
		if c.Origin.Revision == film.To() && !end.IsZero() {
			c = c.At(c.Origin.Revision, end)
		}
		chunks, err := chunksOf(ctx, src, c.Origin.Revision, c.Origin.Taken)
		if err != nil {
			return nil, err
		}
		return withRecorded(ctx, src, chunks, c, known, then)
	}}, true
}

// memo is what was read of a recording: moments that are close have the same round.
type memo struct {
	marks  map[*source.Bundle][]mark
	chunk  *source.Bundle
	n      int
	moment *moment
}

// rounds lists the rounds of a chunk.
func (k *memo) rounds(ctx context.Context, chunk *source.Bundle) ([]mark, error) {
	if marks, ok := k.marks[chunk]; ok {
		return marks, nil
	}
	marks, err := roundsOf(ctx, chunk)
	if err == nil {
		if k.marks == nil {
			k.marks = map[*source.Bundle][]mark{}
		}
		k.marks[chunk] = marks
	}
	return marks, err
}

// read reads the n-th round of a chunk.
func (k *memo) read(ctx context.Context, chunk, before *source.Bundle, n int) (*moment, error) {
	if k.moment != nil && k.chunk == chunk && k.n == n {
		return k.moment, nil
	}
	m, err := read(ctx, chunk, before, n)
	if err == nil {
		k.chunk, k.n, k.moment = chunk, n, m
	}
	return m, err
}
