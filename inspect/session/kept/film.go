package kept

import (
	"context"
	"sync"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Moments lays over the moments of a film what a recording has of processes, and remembers what it read for it: moments that are
// close have the same round. It is safe for concurrent use; one reads at a time.
type Moments struct {
	src  source.Source
	film *meta.Film
	end  time.Time

	mu    sync.Mutex
	known memo
}

// MomentsOf are those of a film of a source. The last revision is looked at as of its end, zero: as any other.
func MomentsOf(src source.Source, film *meta.Film, end time.Time) *Moments {
	return &Moments{src: src, film: film, end: end}
}

// At is the cluster as it was at a revision, with what processes said by then; of a source that keeps nothing of past moments without.
func (m *Moments) At(ctx context.Context, revision int64) (*model.Cluster, error) {
	c, err := m.film.At(revision)
	if err != nil || !recordsMoments(m.src) {
		return c, err
	}
	if !m.end.IsZero() && revision == m.film.To() {
		c = c.At(revision, m.end)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	chunks, err := chunksOf(ctx, m.src, c.Origin.Revision, c.Origin.Taken)
	if err != nil {
		return nil, err
	}
	return withRecorded(ctx, m.src, chunks, c, &m.known, othersIn(m.film))
}

// Film is a film of which each moment has what processes said by then.
type Film struct {
	*meta.Film
	at func(revision int64) (*model.Cluster, error)
}

// At is the cluster as it was at a revision.
func (f *Film) At(revision int64) (*model.Cluster, error) { return f.at(revision) }

// Film is what the moments are of, with them, for who reads it until ctx ends.
func (m *Moments) Film(ctx context.Context) *Film {
	return &Film{m.film, func(revision int64) (*model.Cluster, error) { return m.At(ctx, revision) }}
}
