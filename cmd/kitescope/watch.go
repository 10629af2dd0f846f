package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render"
)

// watch answers a question once, and then again with the rows that changed, until
// it is interrupted.
func (q *question) watch(ctx context.Context, a *cli.App) error {
	if !followable(q.options.Format.Name()) {
		return &cli.UsageError{Err: fmt.Errorf("--watch cannot write %s: a document has an end", q.options.Format.Name()), Advice: "use -o jsonl, table, wide, csv or name"}
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	src, err := a.Loader().Open(ctx, a.Spec(conn))
	if err != nil {
		return err
	}
	defer src.Close()
	live, ok := src.(source.Watcher)
	if !ok {
		return &cli.UsageError{Err: fmt.Errorf("--watch: %s does not change", src.Origin().Location), Advice: "it needs a live source: --from etcd://host:port"}
	}
	w := &watcher{App: a, question: q}
	q.options.Layout = new(render.Layout)
	lost := newLossTeller(a)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = q.followQuestion(ctx, a, conn, live, func(u news.Update) {
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
func (q *question) followQuestion(ctx context.Context, a *cli.App, conn cli.Connection, src source.Watcher, shown func(news.Update)) error {
	if !q.nodes.Live {
		feed := &session.Feed{Interval: cli.RefreshInterval, Quiet: true}
		return feed.FollowLive(ctx, src, q.want, shown)
	}
	spec, err := a.Following(conn, &q.nodes)
	if err != nil {
		return err
	}
	feed, done, err := a.Loader().Feed(spec)
	if err != nil {
		return err
	}
	defer done()
	feed.Interval = cli.RefreshInterval
	want := q.want
	want.Parts |= session.NodeNeeds
	want.Parts &^= model.PartRuntime
	return feed.FollowLive(ctx, src, want, func(u news.Update) {
		if u.Cluster != nil && u.Cluster.Runtime == nil {
			u.Cluster = nil
		}
		shown(u)
	})
}

// watcher remembers what was shown.
type watcher struct {
	*cli.App
	question *question
	shown    *view.Grid // nil before the first
}

func (w *watcher) show(c *model.Cluster) error {
	grid, err := w.question.answer(w.App, c)
	if err != nil {
		return err
	}
	first := w.shown == nil
	var changed []int32
	var left []string
	if first { // what is read later, or found empty now, adds no column to rows that have their header
		w.question.query.Columns = nil
		for _, i := range grid.Columns {
			w.question.query.Columns = append(w.question.query.Columns, grid.Table.Resource().Columns[i].Name)
		}
		changed = grid.Rows
	} else {
		changed, left = newRows(w.shown, grid)
	}
	for _, id := range left {
		w.Warn("%s: %s %s", w.question.farewell(), w.question.resource.Singular, id)
	}
	w.shown = grid
	if len(changed) == 0 && !first {
		return nil
	}
	options := w.question.options
	options.NoHeader = options.NoHeader || !first
	subset := *grid
	subset.Rows = changed
	if err := w.Write(func(out *bufio.Writer) error { return render.Grid(out, &subset, options) }); err != nil || !first {
		return err
	}
	w.question.footnotes(w.App, grid)
	return w.Completeness(c)
}

// newRows are the rows that have come or changed from one answer to the next, and the ids of those that are no longer in it:
// the objects are gone, or the selection or --limit does not take them any more.
func newRows(before, now *view.Grid) (changed []int32, left []string) {
	if changes, ok := view.RowChanges(before.Table, now.Table); ok && before.Rows == nil && now.Rows == nil {
		for _, c := range changes {
			switch {
			case c.After < 0:
				left = append(left, before.Table.Ref(c.Before).ID)
			case c.Before < 0 || !view.SameRow(before.Table, c.Before, now.Table, c.After, now.Columns):
				changed = append(changed, int32(c.After))
			}
		}
		slices.Sort(left)
		return changed, left
	}
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Table.Ref(before.Row(i)).ID] = before.Row(i)
	}
	there := make(map[string]bool, now.Len())
	for i := range now.Len() {
		row := now.Row(i)
		id := now.Table.Ref(row).ID
		there[id] = true
		if old, ok := rows[id]; !ok || !view.SameRow(before.Table, old, now.Table, row, now.Columns) {
			changed = append(changed, int32(row))
		}
	}
	for id := range rows {
		if !there[id] {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	return changed, left
}

// farewell is what is certain of a row that has left the answer.
func (q *question) farewell() string {
	if q.query.Where.Empty() && q.query.Limit == 0 {
		return "gone"
	}
	return "no longer in the list"
}

// followable reports whether more rows can follow in a format.
func followable(format string) bool {
	switch format {
	case "table", "wide", "jsonl", "csv", "name":
		return true
	}
	return false
}
