package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/tui"
)

// watch answers a question once, and then again with the rows that changed, until
// it is interrupted.
func (a *app) watch(ctx context.Context, q *question) error {
	if !followable(q.options.Format.Name()) {
		return &usageError{err: fmt.Errorf("--watch cannot write %s: a document has an end", q.options.Format.Name()), hint: "use -o jsonl, table, wide, csv or name"}
	}
	conn, err := a.connection()
	if err != nil {
		return err
	}
	src, err := a.openConnection(ctx, conn)
	if err != nil {
		return err
	}
	defer src.Close()
	live, ok := src.(source.Watcher)
	if !ok {
		return &usageError{err: fmt.Errorf("--watch: %s does not change", src.Origin().Location), hint: "it needs a live source: --from etcd://host:port"}
	}
	w := &watcher{app: a, question: q, seed: maphash.MakeSeed()}
	q.options.Layout = new(render.Layout)
	lost := newLossTeller(a)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = a.followQuestion(ctx, conn, live, q, func(u tui.Update) {
		lost.take(u)
		if u.Cluster == nil {
			return
		}
		if err := w.show(u.Cluster); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// followQuestion follows the metadata and, where they are wanted, asks the processes again and again. Then nothing is shown
// before they were asked once.
func (a *app) followQuestion(ctx context.Context, conn connection, src source.Watcher, q *question, shown func(tui.Update)) error {
	feed := &sourceFeed{interval: refreshInterval, quiet: !a.nodes.live}
	if !a.nodes.live {
		return feed.followLive(ctx, src, q.want, shown)
	}
	done, err := a.feedRuntime(conn, feed)
	if err != nil {
		return err
	}
	defer done()
	want := q.want
	want.Parts |= runtimeNeeds
	want.Parts &^= model.PartRuntime
	return feed.followLive(ctx, src, want, func(u tui.Update) {
		if u.Cluster != nil && u.Cluster.Runtime == nil {
			u.Cluster = nil
		}
		shown(u)
	})
}

// watcher remembers what was shown: a hash of each row, by the object's identity.
type watcher struct {
	*app
	question *question
	seed     maphash.Seed
	shown    map[string]uint64
}

func (w *watcher) show(c *model.Cluster) error {
	grid, err := w.answer(w.question, c)
	if err != nil {
		return err
	}
	first := w.shown == nil
	if first { // what is read later, or found empty now, adds no column to rows that have their header
		w.question.query.Columns = nil
		for _, i := range grid.Columns {
			w.question.query.Columns = append(w.question.query.Columns, grid.Table.Resource().Columns[i].Name)
		}
	}
	now := make(map[string]uint64, grid.Len())
	changed := []int32{}
	for i := range grid.Len() {
		row := grid.Row(i)
		id := grid.Table.Ref(row).ID
		hash := w.hash(grid, i)
		now[id] = hash
		if old, ok := w.shown[id]; !ok || old != hash {
			changed = append(changed, int32(row))
		}
	}
	w.left(now)
	w.shown = now
	if len(changed) == 0 && !first {
		return nil
	}
	options := w.question.options
	options.NoHeader = options.NoHeader || !first
	subset := *grid
	subset.Rows = changed
	if err := w.write(func(out *bufio.Writer) error { return render.Grid(out, &subset, options) }); err != nil || !first {
		return err
	}
	w.footnotes(w.question, grid)
	return w.completeness(c)
}

// left names the rows that are no longer in the answer: the objects are gone, or the
// selection or --limit does not take them any more.
func (w *watcher) left(now map[string]uint64) {
	for _, id := range slices.Sorted(maps.Keys(w.shown)) {
		if _, ok := now[id]; !ok {
			w.warn("%s: %s %s", w.question.farewell(), w.question.resource.Singular, id)
		}
	}
}

// farewell is what is certain of a row that has left the answer.
func (q *question) farewell() string {
	if q.query.Where.Empty() && q.query.Limit == 0 {
		return "gone"
	}
	return "no longer in the list"
}

// hash leaves durations out: an age changes without anything having happened.
func (w *watcher) hash(g *view.Grid, i int) uint64 {
	var h maphash.Hash
	h.SetSeed(w.seed)
	var number [8]byte
	put := func(v uint64) {
		binary.LittleEndian.PutUint64(number[:], v)
		_, _ = h.Write(number[:])
	}
	for j, column := range g.Columns {
		if g.Table.Resource().Columns[column].Kind == view.Duration {
			continue
		}
		c := g.Cell(i, j)
		put(uint64(c.Absent))
		put(uint64(c.Int))
		put(math.Float64bits(c.Float))
		put(uint64(len(c.Text)))
		_, _ = h.WriteString(c.Text)
		put(uint64(len(c.List)))
		for _, item := range c.List {
			put(uint64(len(item)))
			_, _ = h.WriteString(item)
		}
	}
	return h.Sum64()
}

// followable reports whether more rows can follow in a format.
func followable(format string) bool {
	switch format {
	case "table", "wide", "jsonl", "csv", "name":
		return true
	}
	return false
}
