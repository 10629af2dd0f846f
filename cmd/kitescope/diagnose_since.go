package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/why"
	"kitescope/render/clusters"
)

// parseSince parses the value of --since: a time, or else a source to compare with. A word that parses as a
// time is a time. To name a file called 09:00, use ./09:00.
func parseSince(word string) (at session.At, file string, err error) {
	if word == "" {
		return at, "", nil
	}
	err = at.Set(word)
	switch {
	case err == nil:
		return at, "", nil
	case strings.HasPrefix(word, "rev:"), strings.HasPrefix(word, "-") && word != "-":
		return at, "", cli.Usagef("--since: %v", err)
	}
	return session.At{}, word, nil
}

// maxCauses is the maximum number of events listed as a possible cause of a finding. causesBefore is how
// long before the time of --since such events are searched.
const (
	maxCauses     = 2
	causesBefore  = 30 * time.Minute
	errSinceStdin = "--since with a time needs to read the source twice; standard input can be read only once"
)

// addStarts adds to shown the start of each finding, at the earliest the time of --since, and the changes before
// it. It returns the history that starts causesBefore earlier than --since. The history may be non-nil even
// if an error is returned.
func (d *diagnosis) addStarts(ctx context.Context, a *cli.App, shown *clusters.Diagnosis) (*history.History, error) {
	src, err := d.openPast(ctx, a)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	past, err := session.PastOf(src, d.want)
	if err != nil {
		return nil, err
	}
	of, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	newest, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	head, c := newest.Header(), shown.Report.Cluster
	end := head.Taken
	if !a.Flags.At.IsZero() {
		end = c.Origin.Taken
	}
	h, err := causesSince(ctx, of, head, &d.since, end, c.Origin.Revision)
	if err != nil {
		return nil, err
	}
	from, err := startOf(ctx, of, head, &d.since, end, 0)
	if err != nil {
		return h, err
	}
	onsets, err := why.Find(ctx, past.Survey, h, shown.Report, why.Options{
		Checks: d.checks, From: from, Before: maxCauses,
	})
	if err != nil {
		return h, err
	}
	shown.Onsets = why.ByFinding(onsets)
	return h, nil
}

// openPast opens the source at its newest state. It fails for standard input, which cannot be read twice.
func (d *diagnosis) openPast(ctx context.Context, a *cli.App) (source.Source, error) {
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	if conn.From == "-" {
		return nil, cli.Usage(errors.New(errSinceStdin), "write it to a file first")
	}
	return a.Loader().Open(ctx, a.Spec(conn.Newest()))
}

// startOf returns the revision at the time of since, or at the given duration before it. If that revision is
// gone, it returns the oldest one.
func startOf(
	ctx context.Context, past source.Past, head source.Header, since *session.At, end time.Time, before time.Duration,
) (int64, error) {
	p, err := since.Point(ctx, past, head, end)
	if err == nil && before > 0 && p.Dated {
		p, err = meta.PointAt(ctx, past, head, p.Moment.Time.Add(-before))
	}
	if errors.Is(err, meta.ErrBeforePast) || errors.Is(err, source.ErrCompacted) {
		return past.Oldest(ctx, head)
	}
	return p.Revision, err
}

// causesSince reads the history from causesBefore before since up to revision to.
func causesSince(
	ctx context.Context, past source.Past, head source.Header, since *session.At, end time.Time, to int64,
) (*history.History, error) {
	from, err := startOf(ctx, past, head, since, end, causesBefore)
	if err != nil {
		return nil, err
	}
	h, _, err := history.ReadBetween(ctx, past, head, min(from, to), to)
	return h, err
}
