package kept

import (
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Moments are those of a film of a recording, each with what processes said by then. They are not safe for concurrent use.
type Moments struct {
	source source.Source
	film   *meta.Film
	end    time.Time
	known  memo
}

// MomentsOf lays what a recording has of processes over the moments of a film of it; ok is false of a source that has nothing of past
// moments. The last revision of the film is looked at as of its end, where one is given.
func MomentsOf(ctx context.Context, src source.Source, film *meta.Film, end time.Time) (m *Moments, ok bool) {
	if chunks, err := chunksOf(ctx, src, film.To(), end); err == nil && len(chunks) == 0 {
		return nil, false
	}
	return &Moments{source: src, film: film, end: end}, true
}

// At is the cluster as it was at a revision. It costs what is between that and the one before.
func (m *Moments) At(ctx context.Context, revision int64) (*model.Cluster, error) {
	c, err := m.film.At(revision)
	if err != nil {
		return nil, err
	}
	if revision == m.film.To() && !m.end.IsZero() {
		c = c.At(revision, m.end)
	}
	chunks, err := chunksOf(ctx, m.source, revision, c.Origin.Taken)
	if err != nil {
		return nil, err
	}
	return withRecorded(ctx, m.source, chunks, c, &m.known, othersIn(m.film))
}

// Film is a film of a recording: each moment has what processes said by then.
type Film struct {
	*meta.Film
	at func(revision int64) (*model.Cluster, error)
}

// At is the cluster as it was at a revision.
func (f *Film) At(revision int64) (*model.Cluster, error) { return f.at(revision) }

// FilmOf is MomentsOf for who asks for them within one context.
func FilmOf(ctx context.Context, src source.Source, film *meta.Film, end time.Time) (f *Film, ok bool) {
	m, ok := MomentsOf(ctx, src, film, end)
	if !ok {
		return nil, false
	}
	return &Film{film, func(revision int64) (*model.Cluster, error) { return m.At(ctx, revision) }}, true
}
