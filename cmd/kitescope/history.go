package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	show "kitescope/render/history"
	"kitescope/table"
	"kitescope/words/hints"
)

// historyFlags are the flags of history.
type historyFlags struct {
	report       cli.ReportFlags
	since, until string
}

const helpHistory = `Say what happened to a cluster, from etcd itself: nodes that joined and left, channels that were
assigned and rewritten, segments, indexes, collections, loads, replicas, settings, checkpoints that stop
and go on. etcd keeps each revision since it was last compacted, in every file of etcdctl snapshot save,
in a member's db, and live.

SELECTOR is a resource (nodes), one of its objects (collection/docs, node/querynode-4, segment/ID, with *
for any text), or a name alone. A collection's events are those of all that belongs to it.

etcd keeps no times. Timestamps that Milvus reserves every 3 seconds date what is between them: that is
by how much a time may be wrong (-o wide), more where Milvus was down. What repeats is one line with a count.

--since and --until take how long before the newest revision ("10m"), a time of its day ("09:14"), a whole
one ("2026-11-20T09:14:00Z"), or a revision ("rev:24519").

Formats (-o):
`

func historyCommand(a *cli.App) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:  "history [SELECTOR...]",
		Long: helpHistory + strings.TrimSuffix(show.Formats().Doc(), "\n"),
		Example: `  kitescope history --since 10m --from etcd://10.0.0.5:2379
  kitescope history nodes --from etcd_snapshot.db
  kitescope history collection/docs --since 09:00 --until 09:20 -o wide
  kitescope history --where kind=channel_rewritten,node_lost
  kitescope history -o json | jq '.items[] | select(.count > 100) | [.time, .object, .message]'`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return cli.ResourceNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.report.Register(cmd, show.Formats(), 0, "")
	f.report.List(cmd, show.Schema, "kind=node_lost", "-count", "+before,after")
	cmd.Flags().StringVar(&f.since, "since", "", "only what happened since then, such as 10m, 09:14 or rev:24519")
	cmd.Flags().StringVar(&f.until, "until", "", "only what happened until then")
	return cmd
}

func (f *historyFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	format, options, err := f.report.Settle(a, cmd)
	if err != nil {
		return err
	}
	objects, err := parseSelectors(args)
	if err != nil {
		return err
	}
	since, until := moment{word: f.since}, moment{word: f.until}
	if err := since.parse("--since"); err != nil {
		return err
	}
	if err := until.parse("--until"); err != nil {
		return err
	}
	h, gaps, err := readHistory(cmd.Context(), a)
	if err != nil {
		return err
	}
	if h.Until.IsZero() && (since.timed() || until.timed()) {
		return hints.Errorf("name revisions, as --since rev:24519", "no timestamp of Milvus dates the revisions of %s", a.Flags.From)
	}
	w := history.Wanted{Objects: objects}
	w.Since, w.SinceRevision = since.before(h.Until)
	w.Until, w.UntilRevision = until.before(h.Until)
	report := &show.Report{History: h, Events: h.Select(w)}
	if err := a.Write(func(w *bufio.Writer) error { return show.Write(w, report, format, options) }); err != nil {
		return err
	}
	for _, gap := range gaps {
		a.Warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	if a.Flags.Strict && len(gaps) > 0 {
		return &cli.CodeError{Code: cli.ExitIncomplete}
	}
	return nil
}

// readHistory reads all that a source has of the past.
func readHistory(ctx context.Context, a *cli.App) (*history.History, []source.Gap, error) {
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
	oldest, err := past.Oldest(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	first, err := past.PinAt(ctx, head, oldest)
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	h, err := history.Of(ctx, first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
		return past.Changes(ctx, head, oldest, head.Revision, yield)
	})
	if err != nil {
		return nil, nil, err
	}
	if h.Revisions == 0 {
		return nil, nil, hints.Errorf("it was compacted a moment ago: save a snapshot before the next time, or wait",
			"read the past of %s: it holds revision %d and no change since", src.Origin().Location, oldest)
	}
	return h, first.Gaps(), nil
}

// parseSelectors reads "nodes", "collection/docs" and "docs".
func parseSelectors(args []string) ([]history.Selector, error) {
	var list []history.Selector
	for _, arg := range args {
		resource, name, slash := strings.Cut(arg, "/")
		r, err := view.Find(resource)
		switch {
		case arg == "":
			return nil, cli.Usagef("a selector is a resource, an object or a name, and not empty")
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

// moment is what --since and --until name.
type moment struct {
	word     string
	revision int64
	ago      time.Duration
	clock    time.Duration // since the day began, -1: none
	at       time.Time
}

func (m *moment) parse(flag string) error {
	m.clock = -1
	if m.word == "" {
		return nil
	}
	if text, ok := strings.CutPrefix(m.word, "rev:"); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			return cli.Usagef("%s: %q is no revision", flag, text)
		}
		m.revision = n
		return nil
	}
	if t, err := time.Parse(time.RFC3339, m.word); err == nil {
		m.at = t
		return nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, m.word); err == nil {
			m.clock = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
			return nil
		}
	}
	d, err := table.ParseDuration(strings.TrimPrefix(m.word, "-"))
	if err != nil {
		return cli.Usage(fmt.Errorf("%s %q is no time", flag, m.word), `for example: 10m, 09:14, 2026-11-20T09:14:00Z, rev:24519`)
	}
	m.ago = d
	return nil
}

// timed reports whether it is a time and no revision.
func (m *moment) timed() bool { return m.word != "" && m.revision == 0 }

// before is the moment where the newest revision is of a time: as a time or as a revision.
func (m *moment) before(newest time.Time) (at time.Time, revision int64) {
	switch {
	case m.word == "" || m.revision > 0:
		return time.Time{}, m.revision
	case !m.at.IsZero():
		return m.at, 0
	case m.clock >= 0:
		return newest.UTC().Truncate(24 * time.Hour).Add(m.clock), 0
	}
	return newest.Add(-m.ago), 0
}
