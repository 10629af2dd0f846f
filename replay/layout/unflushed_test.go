package layout_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
)

func TestUnflushedDeletes(t *testing.T) {
	const unseen = "deletes"
	for _, version := range []string{"2.1.0", "2.2.16"} {
		c := capture(t, "standalone-"+version)
		if l := layoutOf(t, c, "truth_small"); !hasNote(l, "unflushed deletes are not visible: Milvus "+version[:3]) {
			t.Errorf("%s: notes %q", version, l.Notes)
		}
		if l := layoutOf(t, c, "empty_one"); hasNote(l, unseen) {
			t.Errorf("%s: a collection without segments: notes %q", version, l.Notes)
		}
	}
	c := capture(t, "standalone-2.3.5")
	var id model.CollectionID
	for _, x := range c.Collections {
		if x.Name == "truth_small" {
			id = x.ID
		}
	}
	channels := c.VChannelsOf(id)
	if len(channels) == 0 {
		t.Fatal("truth_small has no channels")
	}
	c.Origin.Taken, c.Origin.FileDate = time.Date(2026, 11, 20, 9, 10, 0, 0, time.UTC), false
	at := func(age time.Duration) {
		for _, v := range channels {
			v.Checkpoint.At = model.TSOFromTime(c.Origin.Taken)
		}
		channels[0].Checkpoint.At = model.TSOFromTime(c.Origin.Taken.Add(-age))
	}
	for _, x := range []struct {
		age  time.Duration
		want bool
	}{{0, false}, {90 * time.Second, false}, {9 * time.Minute, true}} {
		at(x.age)
		if l := layoutOf(t, c, "truth_small"); hasNote(l, "deletes since 2026-11-20 09:01:00, the oldest checkpoint") !=
			x.want || hasNote(l, unseen) != x.want {
			t.Errorf("checkpoint %s old: notes %q", x.age, l.Notes)
		}
	}
	// The date of a file is not reliable, and without a checkpoint nothing is known.
	c.Origin.FileDate = true
	if l := layoutOf(t, c, "truth_small"); hasNote(l, unseen) {
		t.Errorf("by a file's date: notes %q", l.Notes)
	}
	c.Origin.FileDate = false
	for _, v := range channels {
		v.Checkpoint.At = 0
	}
	if l := layoutOf(t, c, "truth_small"); hasNote(l, unseen) {
		t.Errorf("without a checkpoint: notes %q", l.Notes)
	}
}
