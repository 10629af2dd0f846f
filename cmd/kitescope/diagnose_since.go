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

// parseSince tells what --since names: a moment, or else a source to compare with. What reads as a time is one; a file of that name
// is ./09:00.
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

// Of each finding so many events are told that can be its cause; they are looked for so long before the moment of --since.
const (
	toldBefore    = 2
	causesBefore  = 30 * time.Minute
	errSinceStdin = "--since with a time needs to read the source twice; standard input can be read only once"
)

// began says when each finding that is shown began, back to the moment of --since, and what changed before it. What happened since a while
// before that moment it returns, with an error too, where it was read.
func (d *diagnosis) began(ctx context.Context, a *cli.App, shown *clusters.Diagnosis) (*history.History, error) {
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
	onsets, err := why.Find(ctx, past.Survey, h, shown.Report, why.Options{Checks: d.checks, From: from, Before: toldBefore})
	if err != nil {
		return h, err
	}
	shown.Onsets = why.ByFinding(onsets)
	return h, nil
}

// openPast opens the source that is judged, as it is now.
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

// startOf is the revision of a moment, or of so long before it; the oldest where that is gone.
func startOf(ctx context.Context, past source.Past, head source.Header, since *session.At, end time.Time, before time.Duration) (int64, error) {
	p, err := since.Point(ctx, past, head, end)
	if err == nil && before > 0 && p.Dated {
		p, err = meta.PointAt(ctx, past, head, p.Moment.Time.Add(-before))
	}
	if errors.Is(err, meta.ErrBeforePast) || errors.Is(err, source.ErrCompacted) {
		return past.Oldest(ctx, head)
	}
	return p.Revision, err
}

// causesSince reads what happened from a while before a moment on.
func causesSince(ctx context.Context, past source.Past, head source.Header, since *session.At, end time.Time, to int64) (*history.History, error) {
	from, err := startOf(ctx, past, head, since, end, causesBefore)
	if err != nil {
		return nil, err
	}
	h, _, err := history.Between(ctx, past, head, min(from, to), to)
	return h, err
}
