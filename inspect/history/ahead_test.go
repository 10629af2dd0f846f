package history_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
)

// TestReadAhead: what two goroutines read is what one reads, also where a revision changes nothing, and an error ends it.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"livelock-2.2.16", "cluster-2.3.5-t7", "standalone-2.1.0"} {
		src, err := source.Open(t.Context(), filepath.Join("..", "..", "testdata", "snapshots", name, "etcd_snapshot.db.gz"), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		past, err := source.PastOf(src)
		if err != nil {
			t.Fatal(err)
		}
		newest, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		head := newest.Header()
		oldest, err := past.Oldest(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		first, err := past.PinAt(t.Context(), head, oldest)
		if err != nil {
			t.Fatal(err)
		}
		// Between two revisions there is one that changes nothing, as a watch may bring it.
		changes := func(ctx context.Context, yield func(int64, []source.Event) error) error {
			return past.Changes(ctx, head, oldest, head.Revision, func(revision int64, events []source.Event) error {
				return errors.Join(yield(revision, events), yield(revision, nil))
			})
		}
		alone, err := history.NewReader(first.Header())
		if err == nil {
			err = alone.Begin(t.Context(), first)
		}
		if err == nil {
			err = changes(t.Context(), alone.Apply)
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := history.Of(t.Context(), first, changes)
		if err != nil {
			t.Fatal(err)
		}
		one := alone.Finish()
		if got, want := written(h), written(one); got != want || h.Changes < 500 || h.Revisions != one.Revisions {
			t.Errorf("%s: %d changes: %s", name, h.Changes, firstDifference(want, got))
		}
		broken := errors.New("broken")
		if h, err := history.Of(t.Context(), first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
			return errors.Join(changes(ctx, yield), broken)
		}); h != nil || !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
