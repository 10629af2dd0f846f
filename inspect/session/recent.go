package session

import (
	"context"
	"errors"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// recentSlack is by how much more than counted is read: a revision is between two timestamps that Milvus reserved.
const recentSlack = 10 * time.Second

// withRecent lays over a cluster what was written to its store in the last minute, where the source keeps past revisions. A file tells
// it by itself. Where it cannot be told nothing is known, which is no error.
func withRecent(ctx context.Context, src source.Source, c *model.Cluster, patience time.Duration) *model.Cluster {
	if t, ok := src.(*then); ok {
		src = t.past
	}
	past, err := source.PastOf(src)
	if err != nil || c.Recent != nil || c.Origin.Revision == 0 {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	newest, err := src.Pin(ctx)
	if err != nil {
		return c
	}
	defer newest.Close()
	written, err := recentOf(ctx, past, newest.Header(), c.Origin.Revision)
	if err != nil {
		return c
	}
	return c.WithRecent(written)
}

func recentOf(ctx context.Context, past source.Past, newest source.Header, revision int64) (*model.EtcdActivity, error) {
	p, err := meta.PointOf(ctx, past, newest, revision)
	if err != nil || !p.Dated {
		return nil, err
	}
	from, err := meta.PointAt(ctx, past, newest, p.Moment.Time.Add(-source.RecentSpan-recentSlack))
	if errors.Is(err, meta.ErrBeforePast) || errors.Is(err, source.ErrCompacted) {
		from.Revision, err = past.Oldest(ctx, newest)
	}
	if err != nil || from.Revision >= revision {
		return nil, err
	}
	return source.RecentOf(ctx, past, newest, from.Revision, revision)
}
