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

// busyRevisions is how many revisions a second are too many to read those of model.StartsPast.
const busyRevisions = 200

// withRecent adds to a cluster what was written to its store in the last minute, which a file brings along, and the starts of its processes,
// if the source keeps past revisions. If they cannot be read these stay unknown, which is no error.
func withRecent(ctx context.Context, src source.Source, c *model.Cluster, patience time.Duration) *model.Cluster {
	if t, ok := src.(*then); ok {
		src = t.past
	}
	past, err := source.PastOf(src)
	if err != nil || c.Origin.Revision == 0 {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	newest, err := src.Pin(ctx)
	if err != nil {
		return c
	}
	defer newest.Close()
	if c.Recent == nil {
		written, err := recentOf(ctx, past, newest.Header(), c.Origin.Revision)
		if err != nil {
			return c
		}
		c = c.WithRecent(written)
	}
	if a := c.Recent; a != nil && float64(a.Revisions) > busyRevisions*a.Over.Seconds() {
		return c
	}
	starts, err := startsOf(ctx, past, newest.Header(), c.Origin.Revision)
	if err != nil {
		return c
	}
	return c.WithStarts(starts)
}

func recentOf(ctx context.Context, past source.Past, newest source.Header, revision int64) (*model.EtcdActivity, error) {
	from, err := revisionBefore(ctx, past, newest, revision, source.RecentSpan+recentSlack)
	if err != nil || from >= revision {
		return nil, err
	}
	return source.RecentOf(ctx, past, newest, from, revision)
}

// revisionBefore returns the revision of so long before another one, or the oldest there is; the same one if nothing dates it.
func revisionBefore(ctx context.Context, past source.Past, newest source.Header, revision int64, span time.Duration) (int64, error) {
	p, err := meta.PointOf(ctx, past, newest, revision)
	if err != nil || !p.Dated {
		return revision, err
	}
	from, err := meta.PointAt(ctx, past, newest, p.Moment.Time.Add(-span))
	if errors.Is(err, meta.ErrBeforePast) || errors.Is(err, source.ErrCompacted) {
		return past.Oldest(ctx, newest)
	}
	return from.Revision, err
}
