package news

import (
	"context"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
)

// Past is what a source that is followed keeps of what was, for who steps through it. Its methods read, so that they are called off any
// loop that draws; several goroutines may call them, and one waits for the other.
type Past interface {
	// History is what happened until now. Asked again, it reads what came since then.
	History(ctx context.Context) (*history.History, error)
	// At is the cluster as it was at a revision.
	At(ctx context.Context, revision int64) (*model.Cluster, error)
	// Film is what the source keeps of what was, up to a revision at least: for who looks at many moments. It is read until ctx ends.
	Film(ctx context.Context, revision int64) (Film, error)
	// Find is the revision that a person means by one of the forms that --at takes.
	Find(ctx context.Context, form string) (int64, error)
}

// Film is a cluster as it was at each revision between two, as meta.Film has it.
type Film interface {
	From() int64
	To() int64
	At(revision int64) (*model.Cluster, error)
	Moment(revision int64) (m meta.Moment, known bool)
	Ticks() []int64
	Revisions(from, to int64) []int64
}
