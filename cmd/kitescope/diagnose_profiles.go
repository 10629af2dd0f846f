package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/profile/pull"
)

// profileKinds lists the profiles that diagnose pulls: CPU, mutex contention during the window, and
// goroutines for the comparison with an earlier goroutine profile.
const profileKinds = "cpu,mutex-delta,goroutine"

// checkProfileFlags validates the profile and storage flags before any source is opened.
func (f *diagnoseFlags) checkProfileFlags() error {
	switch {
	case f.profiles != "" && f.profile > 0:
		return cli.Usage(errors.New("--profiles reads profiles, --profile pulls them"), "use only one of them")
	case f.profile < 0 || f.profile > time.Hour || f.profile%time.Second != 0:
		return cli.Usage(fmt.Errorf("--profile must be whole seconds, 1s to 1h, not %s", f.profile),
			"for example: --profile 5s")
	case f.watch && f.storage != "":
		return cli.Usage(errors.New("--watch keeps running, --storage checks once"), "use only one of them")
	case f.watch && (f.profile > 0 || f.profiles != ""):
		return cli.Usage(errors.New("--watch keeps running, profiles are of one moment"),
			"use only one of them; to record profiles: kitescope profile pull --every")
	}
	return nil
}

// checkMoment rejects --profile and --storage together with --at, because both look at the present.
func (f *diagnoseFlags) checkMoment(a *cli.App) error {
	switch {
	case a.Flags.At.IsZero():
	case f.profile > 0:
		return cli.Usage(errors.New("--profile profiles the present, --at shows a past moment"), "use only one of them")
	case f.storage != "":
		return cli.Usage(errors.New("--storage checks present files, --at shows a past moment"), "use only one of them")
	}
	return nil
}

// loadJudged reads the cluster with all data that checks need: metadata, data of its processes, profiles and
// storage.
func (d *diagnosis) loadJudged(ctx context.Context, a *cli.App, conn cli.Connection) (*model.Cluster, error) {
	return d.loadWith(ctx, a, conn, nil)
}

// loadWith is like loadJudged. It also calls read, if not nil, with the profiles, if there are any.
func (d *diagnosis) loadWith(
	ctx context.Context, a *cli.App, conn cli.Connection,
	read func(context.Context, *pull.Record, *model.Profiles) error,
) (*model.Cluster, error) {
	f := d.flags
	spec, err := a.LiveSpec(conn, f.nodes)
	if err != nil {
		return nil, err
	}
	spec.Want, spec.Recent, spec.Fallback = d.want, true, d.olderCluster
	if f.profile > 0 && !spec.Live {
		return nil,
			cli.Usage(errors.New("--profile needs the processes, --live=false does not contact them"),
				"use only one of them")
	}
	p := session.ProfileOptions{Window: f.profile, OnPull: noteProfiles(a), OnProfiles: read}
	if p.Record, err = readProfiles(ctx, a, f.profiles); err != nil {
		return nil, err
	}
	if f.profile > 0 {
		if p.Pull, err = (&pullFlags{kinds: profileKinds, busyWait: defaultBusyWait}).options(a, nil); err != nil {
			return nil, err
		}
	}
	c, err := session.LoadProfiled(ctx, a.Loader(), spec, p)
	if err != nil {
		return nil, profilesError(err)
	}
	return withStorage(ctx, a, f.storage, c)
}

// noteProfiles returns a function that prints which profiles of a recording are used. A recording may hold
// profiles of several times.
func noteProfiles(a *cli.App) func(session.Pull) {
	return func(p session.Pull) {
		a.Note("profiles: from %s, taken at %s for %s", p.Path, p.At.Format("2006-01-02 15:04:05 UTC"), p.Check)
	}
}

// withStorage adds the files that are missing in the --storage location. It returns c if place is empty.
func withStorage(ctx context.Context, a *cli.App, place string, c *model.Cluster) (*model.Cluster, error) {
	if place == "" {
		return c, nil
	}
	c, err := session.CheckStorage(ctx, place, a.StorageKeys(), c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usage(err, "--storage takes a folder, a tar archive, or s3://BUCKET/PREFIX?endpoint=HOST:PORT")
	}
	return c, err
}

// readProfiles reads the --profiles argument: a folder written by profile pull, or a bundle with profiles. It
// returns nil if path is empty.
func readProfiles(ctx context.Context, a *cli.App, path string) (*pull.Record, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the profiles: %w", err)
	}
	if info.IsDir() {
		return pull.Read(path)
	}
	record, isBundle, err := a.Loader().Profiles(ctx, &session.Spec{From: path})
	if !isBundle || err == nil && record == nil {
		return nil,
			cli.Usage(fmt.Errorf("--profiles %s is not a folder or bundle with profiles", path),
				"give a folder or bundle from kitescope profile pull")
	}
	return record, err
}

// expectsProfiles reports whether a profile check without a result counts as incomplete. Profiles are taken on
// request only, so without them nothing is incomplete, unless the check was selected with --only.
func (d *diagnosis) expectsProfiles(c *model.Cluster, id string) bool {
	if c.Profiles != nil {
		return true
	}
	return slices.Contains(d.flags.only, id)
}
