package history

import (
	"context"

	"kitescope/inspect/model"
)

// Past is what a source that is followed keeps of what was, for who steps through it. Its methods read, so that they are called off any
// loop that draws; several goroutines may call them, and one waits for the other.
type Past interface {
	// History is what happened until now. Asked again, it reads what came since then.
	History(ctx context.Context) (*History, error)
	// At returns the cluster as it was at some revisions, which rise.
	At(ctx context.Context, revisions ...int64) ([]*model.Cluster, error)
	// Survey calls visit with the cluster as it was at about some revisions, which rise: of a recording, at the last rounds of answers
	// before them. It reads forward, once.
	Survey(ctx context.Context, revisions []int64, visit func(*model.Cluster) error) error
	// Find is the revision that a person means by one of the forms that --at takes.
	Find(ctx context.Context, form string) (int64, error)
	// Progress returns how far a moment is read, for people; "" while none is. It may be called at any time.
	Progress() string
}
