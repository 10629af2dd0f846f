package history_test

import (
	"context"
	"errors"
	"testing"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
)

// TestReadAhead: what two goroutines read is what one reads, also where a revision changes nothing, and an error ends it.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"livelock-2.2.16", "cluster-2.3.5-t7", "standalone-2.1.0"} {
		c := openFixture(t, name)
		// Between two revisions there is one that changes nothing, as a watch may bring it.
		changes := func(ctx context.Context, yield func(int64, []source.Event) error) error {
			return c.changes(ctx, func(revision int64, events []source.Event) error {
				return errors.Join(yield(revision, events), yield(revision, nil))
			})
		}
		alone, err := history.NewReader(c.first.Header())
		if err == nil {
			err = alone.Begin(t.Context(), c.first)
		}
		if err == nil {
			err = changes(t.Context(), alone.Apply)
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := history.Of(t.Context(), c.first, changes)
		if err != nil {
			t.Fatal(err)
		}
		one := alone.Finish()
		if got, want := written(h), written(one); got != want || h.Changes < 500 || h.Revisions != one.Revisions {
			t.Errorf("%s: %d changes: %s", name, h.Changes, firstDifference(want, got))
		}
		broken := errors.New("broken")
		if h, err := history.Of(t.Context(), c.first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
			return errors.Join(changes(ctx, yield), broken)
		}); h != nil || !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
