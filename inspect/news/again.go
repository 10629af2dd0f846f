package news

import "context"

// Again is a Feed that can be told to look at once, before its time comes.
type Again interface {
	// Again asks all that a live source is asked, anew, and returns when what was said is told: the Update came before. It ends with ctx,
	// whose error it returns then. It only reads.
	Again(ctx context.Context) error
}
