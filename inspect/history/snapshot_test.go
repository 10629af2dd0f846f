package history_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
)

// TestSnapshot checks that a growing history equals a history of the same length at each step, and that earlier
// results do not change.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cluster-2.3.5-t5", "rollback-2.1.0"} {
		c := openFixture(t, name)
		head, oldest := c.head, c.oldest
		read := func(to int64) (*history.Reader, source.Snapshot) {
			first, err := c.PinAt(t.Context(), head, oldest)
			if err != nil {
				t.Fatal(err)
			}
			r, err := history.NewReader(first.Header())
			if err == nil {
				err = r.Begin(t.Context(), first)
			}
			if err == nil && to > oldest {
				err = c.Changes(t.Context(), head, oldest, to, r.Apply)
			}
			if err != nil {
				t.Fatal(err)
			}
			return r, first
		}
		growing, _ := read(oldest)
		var reading sync.WaitGroup
		texts, looks := []string{}, []*history.History{}
		const parts = 7
		for i, from := 1, oldest; i <= parts; i++ {
			to := oldest + (head.Revision-oldest)*int64(i)/parts
			if err := c.Changes(t.Context(), head, from, to, growing.Apply); err != nil {
				t.Fatal(err)
			}
			from = to
			look := growing.Snapshot(time.Time{})
			reading.Go(func() { _ = format(look) }) // a UI reads it while the history grows
			text := format(look)
			whole, _ := read(to)
			if want := format(whole.Finish()); text != want {
				t.Errorf("%s up to %d: %s", name, to, firstDifference(want, text))
			}
			texts, looks = append(texts, text), append(looks, look)
		}
		reading.Wait()
		for i, look := range looks {
			if got := format(look); got != texts[i] {
				t.Errorf("%s: look %d has changed: %s", name, i, firstDifference(texts[i], got))
			}
		}
	}
}

// TestAxis checks that positions are in order, map back to their revisions, and count events.
func TestAxis(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures() {
		h := readFixture(t, name)
		x := history.NewAxis(h)
		if !x.Dated || x.From >= x.To {
			t.Errorf("%s: from %d to %d", name, x.From, x.To)
		}
		last := x.From
		for i := range x.Len() {
			e := x.Event(i)
			if x.EventPosition(i) < last || x.EventPosition(i) > x.To {
				t.Errorf("%s: event %d is at %d, behind one at %d", name, i, x.EventPosition(i), last)
			}
			last = x.EventPosition(i)
			if n := x.CountUpTo(e.Revision); n <= i || x.Event(n-1).Revision != e.Revision {
				t.Errorf("%s: %d events up to revision %d, which is that of event %d", name, n, e.Revision, i)
			}
			if r := x.Revision(x.Position(e.Revision)); r < e.Revision && x.Position(r) != x.Position(e.Revision) {
				t.Errorf("%s: revision %d is at the place of %d", name, r, e.Revision)
			}
		}
		if n := x.CountBefore(x.To + 1); n != x.Len() || x.CountBefore(x.From) != 0 {
			t.Errorf("%s: %d events before the end, %d before the beginning", name, n, x.CountBefore(x.From))
		}
		at, wrong := x.When(h.To)
		if !at.Equal(h.ToTime) || wrong > 5*time.Second {
			t.Errorf("%s: its end is at %s ±%s", name, at, wrong)
		}
	}
}

// TestUndatedAxis checks that positions are revisions if the store has no times.
func TestUndatedAxis(t *testing.T) {
	t.Parallel()
	r, err := history.NewReader(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(context.Background(), memory{}); err != nil {
		t.Fatal(err)
	}
	for i := range int64(9) {
		kv := source.KV{Key: []byte("by-dev/config/x"), Value: []byte{'0' + byte(i)}, ModRevision: 101 + i}
		if err := r.Apply(101+i, []source.Event{{KV: kv}}); err != nil {
			t.Fatal(err)
		}
	}
	x := history.NewAxis(r.Snapshot(time.Time{}))
	if x.Dated || x.From != 100 || x.To != 109 || x.Len() != 9 || x.EventPosition(3) != 104 || x.Revision(105) != 105 ||
		x.Revision(7) != 100 {
		t.Errorf("%+v: %d events, the fourth at %d", x, x.Len(), x.EventPosition(3))
	}
}
