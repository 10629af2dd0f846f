package kept

import (
	"context"
	"sort"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// others are the cluster as it was at other moments than the one that is shown.
type others struct {
	// at has these parts at least, as they were at a revision.
	at func(revision int64, parts model.Part) (*model.Cluster, error)
	// by is the last revision that was not written after a time; false where that is not known.
	by func(at time.Time) (revision int64, known bool)
}

// othersIn are those of a film.
func othersIn(film *meta.Film) *others {
	return &others{
		at: func(revision int64, _ model.Part) (*model.Cluster, error) { return film.At(revision) },
		by: func(at time.Time) (int64, bool) {
			ticks := film.Ticks()
			n := sort.Search(len(ticks), func(i int) bool {
				m, known := film.Moment(ticks[i])
				return known && m.Time.After(at)
			})
			if n == 0 {
				return 0, false
			}
			return ticks[n-1], true
		},
	}
}

// othersOf reads a source.
func othersOf(ctx context.Context, src source.Source) *others {
	return &others{
		at: func(revision int64, parts model.Part) (*model.Cluster, error) {
			past, err := source.PastOf(src)
			if err != nil {
				return nil, err
			}
			snap, err := past.PinAt(ctx, source.Header{}, revision)
			if err != nil {
				return nil, err
			}
			defer snap.Close()
			return meta.Load(ctx, snap, meta.Want{Parts: parts})
		},
		by: func(at time.Time) (int64, bool) {
			past, err := source.PastOf(src)
			if err != nil {
				return 0, false
			}
			newest, err := src.Pin(ctx)
			if err != nil {
				return 0, false
			}
			defer newest.Close()
			p, err := meta.PointAt(ctx, past, newest.Header(), at)
			return p.Revision, err == nil
		},
	}
}

// settled is a cluster that knows what has changed between the revision at which its processes had answered and its own: of that
// metadata and answers say different things, and none is wrong.
func (o *others) settled(c *model.Cluster, revision int64) *model.Cluster {
	if revision == c.Origin.Revision || !c.Loaded.Has(model.PartCatalog) {
		return c
	}
	then, err := o.at(revision, model.PartCatalog)
	if err != nil {
		return c // it is of a chunk that is gone
	}
	return c.ReadAgain(then)
}

// configured is a cluster that knows which dynamic keys have changed since shortly before its processes were asked: what they had not
// taken over then, and what was changed only later, is no difference between them and etcd.
func (o *others) configured(m *moment, c *model.Cluster) *model.Cluster {
	if c.Runtime.From.IsZero() || !c.Loaded.Has(model.PartConfig) {
		return c
	}
	if !m.looked {
		revision, known := o.by(c.Runtime.From.Add(-model.ConfigPast))
		if !known { // that is before the recording
			revision = m.revision
		}
		then, err := o.at(revision, model.PartConfig)
		if err != nil {
			return c // it is of a chunk that is gone
		}
		m.config, m.looked = then.Config, true
	}
	return c.WithConfigChanges(model.ConfigChanges(m.config, c.Config, c.Origin.Taken))
}
