package main

import (
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestWatchPrintsVisibleChanges checks that a change too small to be displayed is not written to a table, but is
// written to formats for scripts.
func TestWatchPrintsVisibleChanges(t *testing.T) {
	was := modeltest.Large(3)
	grown := func(by int64) *model.Cluster {
		p := was.Parts
		p.Segments = append([]*model.Segment(nil), p.Segments...)
		x := *p.Segments[2]
		x.Bytes += by
		p.Segments[2] = &x
		return was.Update(p)
	}
	for _, test := range []struct {
		format string
		by     int64
		told   bool
	}{{"table", 1, false}, {"table", 1 << 40, true}, {"jsonl", 1, true}} {
		var out, errs strings.Builder
		a := &cli.App{Streams: scriptStreams(&out, &errs, nil)}
		q, err := (&getFlags{nodes: new(cli.NodeFlags), output: test.format}).parseQuery(a, []string{
			"segments", "state=Flushed",
		})
		if err != nil {
			t.Fatal(err)
		}
		q.selection.Columns = []string{"id", "size_bytes"}
		w := &watcher{App: a, query: q}
		if err := w.show(was); err != nil {
			t.Fatal(err)
		}
		before := out.Len()
		if err := w.show(grown(test.by)); err != nil {
			t.Fatal(err)
		}
		if got := out.String()[before:]; (got != "") != test.told || strings.Count(got, "\n") > 1 {
			t.Errorf("%s, %d bytes more: %q", test.format, test.by, got)
		}
	}
}
