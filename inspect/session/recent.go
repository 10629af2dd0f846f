package session

import (
	"context"
	"errors"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// recentSlack is the additional time to read beyond the counted span, because a revision is dated only by the
// Milvus timestamps reserved before and after it.
const recentSlack = 10 * time.Second

// busyRevisions is the number of revisions per second above which those within model.StartsWindow are not read.
const busyRevisions = 200

// withRecent adds to a cluster the writes to its store in the last minute, unless a file already has them, and the
// starts of its processes. Both need a source with past revisions. They stay unknown if these cannot be read within
// timeout.
func withRecent(ctx context.Context, src source.Source, c *model.Cluster, timeout time.Duration) *model.Cluster {
	if t, ok := src.(*pastSource); ok {
		src = t.past
	}
	past, err := source.PastOf(src)
	if err != nil || c.Origin.Revision == 0 {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
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

func recentOf(
	ctx context.Context, past source.Past, newest source.Header, revision int64,
) (*model.EtcdActivity, error) {
	from, err := revisionBefore(ctx, past, newest, revision, source.RecentSpan+recentSlack)
	if err != nil || from >= revision {
		return nil, err
	}
	return source.RecentOf(ctx, past, newest, from, revision)
}

// revisionBefore returns the revision at a time span before another one, or the oldest available. It returns the
// given revision if that is not dated.
func revisionBefore(
	ctx context.Context, past source.Past, newest source.Header, revision int64, span time.Duration,
) (int64, error) {
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
