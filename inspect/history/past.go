package history

import (
	"context"

	"kitescope/inspect/model"
)

// Past gives access to the past of a followed source. Its methods read from the source, so a UI must not call them
// in its draw loop. They may be called concurrently, and then run one after the other.
type Past interface {
	// History returns the events until now. Later calls read only the changes since the previous call.
	History(ctx context.Context) (*History, error)
	// At returns the cluster at some revisions, which must be in increasing order.
	At(ctx context.Context, revisions ...int64) ([]*model.Cluster, error)
	// Survey calls visit with the cluster at approximately the given revisions, which must be in increasing order.
	// For a recording these are the last rounds of responses before the revisions. It reads forward, once.
	Survey(ctx context.Context, revisions []int64, visit func(*model.Cluster) error) error
	// Find resolves a point in one of the forms that --at accepts to a revision.
	Find(ctx context.Context, form string) (int64, error)
	// Progress describes how much of a moment has been read, for display; "" if nothing is being read. It may be
	// called at any time.
	Progress() string
}
