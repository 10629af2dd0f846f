package main

import (
	"bufio"
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/internal/hints"
	"kitescope/render/clusters"
)

// historyFlags holds the flags of the history command.
type historyFlags struct {
	report       cli.ReportFlags
	since, until session.At
}

const helpHistory = `Show a cluster's history from etcd: nodes that joined and left, channels assigned
and rewritten, segments, indexes, collections, loads, replicas, settings, and
checkpoints that stop and resume. etcd keeps every revision since its last
compaction: live, in a member's db and in etcdctl snapshots.

SELECTOR is a resource (nodes), an object (collection/docs, node/querynode-4,
segment/ID, with * for any text), or a bare name. A collection's events include
those of everything in it.

etcd keeps no times: events are dated by the timestamps Milvus reserves every 3
seconds (-o wide has the error). Repeated events are one line with a count.

--since and --until take a duration before the newest revision (10m), a time of
that day (09:14), a full time (2026-11-20T09:14:00Z), or a revision (rev:24519).`

func historyCommand(a *cli.App) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:  "history [SELECTOR...]",
		Long: helpHistory,
		Example: `  kitescope history --since 10m --from etcd://10.0.0.5:2379
  kitescope history nodes --from etcd_snapshot.db
  kitescope history collection/docs --since 09:00 --until 09:20 -o wide
  kitescope history --where kind=channel_rewritten,node_lost`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return cli.ResourceNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.report.Register(cmd, clusters.HistoryFormats(), 0, "")
	f.report.List(cmd, clusters.HistorySchema, "kind=node_lost", "-count", "+before,after")
	cmd.Flags().Var(&f.since, "since", "only events since this time: "+session.AtForms)
	cmd.Flags().Var(&f.until, "until", "only events until this time")
	return cmd
}

func (f *historyFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	format, options, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	objects, err := parseSelectors(args)
	if err != nil {
		return err
	}
	since, until := &f.since, &f.until
	h, gaps, err := readHistory(cmd.Context(), a, since)
	if err != nil {
		return err
	}
	if h.ToTime.IsZero() && (since.IsTime() || until.IsTime()) {
		return hints.Errorf("use revisions: --since rev:24519", "no Milvus timestamps to date the revisions of %s",
			a.Flags.From)
	}
	w := history.Filter{
		Objects: objects, Since: since.When(h.ToTime), SinceRevision: since.Revision(), Until: until.When(h.ToTime),
		UntilRevision: until.Revision(),
	}
	report := &clusters.HistoryReport{History: h, Events: h.Select(w), Wanted: w}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.WriteHistory(w, report, format, options) }); err !=
		nil {
		return err
	}
	return a.WarnGaps(gaps)
}

// historyBefore is the additional time that is read before --since. A group of repeated events may have begun
// earlier, and a stopped checkpoint is detected only after eleven minutes.
const historyBefore = 15 * time.Minute

// readHistory reads the history of the source from historyBefore before since, or from the oldest revision if since is
// not set. It returns an error if the source holds only one revision.
func readHistory(ctx context.Context, a *cli.App, since *session.At) (*history.History, []source.Gap, error) {
	src, err := a.Open(ctx, a.Flags.From)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		return nil, nil, err
	}
	newest, err := src.Pin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer newest.Close()
	head := newest.Header()
	var from int64
	if since.IsSet() {
		// If that moment is not in the history, read the whole history. Then either no event matches, or a later
		// error has the reason.
		if from, err = startOf(ctx, past, head, since, head.Taken, historyBefore); err != nil {
			from = 0
		}
	}
	if from == 0 {
		if from, err = past.Oldest(ctx, head); err != nil {
			return nil, nil, err
		}
	}
	h, gaps, err := history.ReadBetween(ctx, past, head, from, head.Revision)
	if err != nil {
		return nil, nil, err
	}
	if h.Revisions > 0 {
		return h, gaps, nil
	}
	if oldest, err := past.Oldest(ctx, head); err != nil || oldest == head.Revision {
		hint := "nothing has changed since: wait, or use a longer recording"
		if src.Origin().Kind == source.KindEtcd {
			hint = "it was just compacted: save a snapshot before the next compaction, or wait"
		}
		return nil, nil,
			cmp.Or(err,
				hints.Errorf(hint, "read the history of %s: it has only revision %d, what happened before is unknown",
					src.Origin().Location, oldest))
	}
	return h, gaps, nil
}

// parseSelectors parses history selectors: a resource (nodes), an object (collection/docs), or a name (docs).
func parseSelectors(args []string) ([]history.Selector, error) {
	var list []history.Selector
	for _, arg := range args {
		resource, name, slash := strings.Cut(arg, "/")
		r, err := view.Find(resource)
		switch {
		case arg == "":
			return nil, cli.Usagef("empty selector: expected a resource, an object or a name")
		case err == nil:
			list = append(list, history.Selector{Resource: r.Name, Name: name})
		case slash:
			return nil, cli.Usage(err, "see: kitescope history --help")
		default:
			list = append(list, history.Selector{Name: arg})
		}
	}
	return list, nil
}
