package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/clusters"
)

// watch prints the rows of a query, then the rows that change, until it is interrupted.
func (q *getQuery) watch(ctx context.Context, a *cli.App) error {
	if !q.options.Format.Appendable() {
		return &cli.UsageError{
			Err:    fmt.Errorf("--watch cannot write %s: it needs an end", q.options.Format.Name()),
			Advice: "use -o jsonl, table, wide, csv or name",
		}
	}
	w := &watcher{App: a, query: q, screen: q.screen(a)}
	if w.screen == nil {
		q.options.Layout = new(render.Layout)
	}
	lost := newLossReporter(a)
	f := watchedSource{App: a, nodes: &q.nodes, want: q.want, quiet: !q.nodes.Live}
	if q.nodes.Live {
		f.want.Parts |= session.NodeNeeds
		f.want.Parts &^= model.PartRuntime
	} else {
		q.nodes.Recordings = nil
	}
	return f.run(ctx, func(u history.Update) error {
		lost.handle(u)
		switch { // print nothing until the wanted processes have responded
		case u.Cluster == nil, q.nodes.Live && u.Cluster.Runtime == nil:
			return nil
		case q.resource.Rates && w.shown == nil && scrapedOnce(u.Cluster):
			return nil
		}
		return w.show(u.Cluster)
	})
}

// scrapedOnce reports whether each process was scraped only once so far. Rates need a second scrape, which is
// coming.
func scrapedOnce(c *model.Cluster) bool {
	once := false
	for _, p := range c.Runtime.Processes {
		if p.Before != nil {
			return false
		}
		once = once || p.Metrics != nil
	}
	return once
}

// watchedSource is a watched live source, with its processes if they are wanted.
type watchedSource struct {
	*cli.App
	nodes *cli.NodeFlags
	want  meta.Want
	every time.Duration // time between rounds of calls to the processes; 0: the feed's own
	quiet bool
}

// run calls handle with each update until handle fails or ctx ends.
func (f *watchedSource) run(ctx context.Context, handle func(history.Update) error) error {
	if !f.Flags.At.IsZero() {
		return cli.Usage(errors.New("--watch starts now, --at shows a past moment"), "use only one of them")
	}
	conn, err := f.Connection()
	if err != nil {
		return err
	}
	src, err := f.Loader().Open(ctx, f.Spec(conn))
	if err != nil {
		return err
	}
	defer src.Close()
	live, ok := src.(source.Watcher)
	if !ok {
		return &cli.UsageError{
			Err:    fmt.Errorf("--watch: %s does not change", src.Origin().Location),
			Advice: "it needs a live source: --from etcd://host:port",
		}
	}
	spec, err := f.FeedSpec(conn, f.nodes)
	if err != nil {
		return err
	}
	spec.Want = f.want
	f.want.Parts &^= model.PartLive
	feed, done, err := f.Loader().Feed(spec)
	if err != nil {
		return err
	}
	defer done()
	feed.Interval, feed.Every, feed.SkipHealth = cli.RefreshInterval, f.every, f.quiet
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = feed.FollowLive(ctx, live, f.want, func(u history.Update) {
		if err := handle(u); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// watcher holds the rows that were shown last.
type watcher struct {
	*cli.App
	query  *getQuery
	shown  *view.Grid // nil before the first answer
	screen *watchScreen
}

func (w *watcher) show(c *model.Cluster) error {
	grid, err := w.query.selectRows(w.App, c)
	if err != nil {
		return err
	}
	if w.screen != nil {
		lacks := w.query.missingParts(c)
		if err := w.screen.draw(grid, lacks); err != nil {
			return err
		}
		return w.Incomplete(len(lacks) > 0)
	}
	first := w.shown == nil
	var changed []int32
	var left []string
	if first { // Columns are fixed once the header is printed, even if later data would add some.
		w.query.selection.Columns = nil
		for _, i := range grid.Columns {
			w.query.selection.Columns = append(w.query.selection.Columns, grid.Table.Resource().Columns[i].Name)
		}
		changed = grid.Rows
	} else {
		same := looksTheSame
		switch own := w.query.resource.Equal; {
		case w.query.options.Format.Structured():
			same = view.SameRow
		case own != nil:
			same = own
		}
		changed, left = view.NewRows(w.shown, grid, same)
	}
	for _, id := range left {
		w.Warn("%s: %s %s", w.query.removedLabel(), w.query.resource.Singular, id)
	}
	w.shown = grid
	if len(changed) == 0 && !first {
		return nil
	}
	options := w.query.options
	options.NoHeader = options.NoHeader || !first
	subset := *grid
	subset.Rows = changed
	if err := w.Write(func(out *bufio.Writer) error { return clusters.Grid(out, &subset, options) }); err != nil ||
		!first {
		return err
	}
	for _, line := range w.query.footnotes(grid) {
		w.Warn("%s", line)
	}
	return w.query.complete(w.App, c)
}

// removedLabel returns the word for a row that left the answer: "gone" only if no filter or limit could have
// removed it.
func (q *getQuery) removedLabel() string {
	if q.selection.Where.Empty() && q.selection.Limit == 0 && !q.selection.Omits(q.resource) {
		return "gone"
	}
	return "no longer in the list"
}
