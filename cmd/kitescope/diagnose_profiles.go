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
	"kitescope/inspect/session/kept"
	"kitescope/inspect/session/pulled"
	"kitescope/inspect/session/stored"
	"kitescope/profile/pull"
)

// profileKinds are what diagnose pulls: the CPU, the contention that processes record, and goroutines for the second time.
const profileKinds = "cpu,mutex-delta,goroutine"

// checkProfileFlags finds what is wrong with the flags before anything is opened.
func (f *diagnoseFlags) checkProfileFlags() error {
	switch {
	case f.profiles != "" && f.profile > 0:
		return cli.Usage(errors.New("--profiles reads profiles, and --profile pulls them"), "leave one of them out")
	case len(f.symbols) > 0 && f.watch:
		return cli.Usage(errors.New("--symbols belongs to profiles, which --watch does not judge"), "leave one of them out")
	case f.profile < 0 || f.profile > time.Hour || f.profile%time.Second != 0:
		return cli.Usage(fmt.Errorf("--profile is a window of whole seconds, 1s to 1h, not %s", f.profile), "for example: --profile 5s")
	case f.watch && f.storage != "":
		return cli.Usage(errors.New("--watch goes on, and a look into the storage is of one moment"), "leave one of them out")
	case f.watch && (f.profile > 0 || f.profiles != ""):
		return cli.Usage(errors.New("--watch goes on, and profiles are of one moment"), "leave one of them out; kitescope profile pull --every makes a record")
	}
	return nil
}

// checkMoment refuses what is of now beside --at.
func (f *diagnoseFlags) checkMoment(a *cli.App) error {
	switch {
	case a.Flags.At.IsZero():
	case f.profile > 0:
		return cli.Usage(errors.New("--profile takes profiles of what runs now, and --at shows what was"), "leave one of them out")
	case f.storage != "":
		return cli.Usage(errors.New("--storage looks for the files of now, and --at shows what was"), "leave one of them out")
	}
	return nil
}

// loadJudged reads the cluster that is judged with all that judges it: what its processes say, their profiles, its storage.
func (d *diagnosis) loadJudged(ctx context.Context, a *cli.App, conn cli.Connection) (*model.Cluster, error) {
	return d.loadWith(ctx, a, conn, nil)
}

// loadWith is loadJudged with somebody who is told the profiles, where there are some.
func (d *diagnosis) loadWith(ctx context.Context, a *cli.App, conn cli.Connection, read func(context.Context, *pull.Record, *model.Profiles) error) (*model.Cluster, error) {
	f := d.flags
	spec, err := a.Asking(conn, f.nodes)
	if err != nil {
		return nil, err
	}
	spec.Want, spec.Recent = d.want, true
	if f.profile > 0 && !spec.Live {
		return nil, cli.Usage(errors.New("--profile takes profiles of the processes, and --live=false leaves them alone"), "leave one of them out")
	}
	p := pulled.Profiles{Window: f.profile, Symbols: f.symbols, Chosen: noteProfiles(a), Read: read}
	if p.Named, err = readProfiles(ctx, a, f.profiles); err != nil {
		return nil, err
	}
	if f.profile > 0 {
		if p.Pull, err = (&pullFlags{kinds: profileKinds, busyWait: defaultBusyWait}).options(a, nil); err != nil {
			return nil, err
		}
	}
	c, err := pulled.Load(ctx, a.Loader(), spec, p)
	if err != nil {
		return nil, wrongProfiles(err)
	}
	return withStorage(ctx, a, f.storage, c)
}

// noteProfiles says which profiles of a recording are judged: it has those of several times.
func noteProfiles(a *cli.App) func(kept.Pull) {
	return func(p kept.Pull) {
		a.Note("profiles are those of %s, taken at %s for %s", p.Path, p.At.Format("2006-01-02 15:04:05 UTC"), p.Check)
	}
}

// withStorage adds what is missing in the place that --storage names.
func withStorage(ctx context.Context, a *cli.App, place string, c *model.Cluster) (*model.Cluster, error) {
	if place == "" {
		return c, nil
	}
	c, err := stored.Look(ctx, place, a.StorageKeys(), c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usage(err, "--storage names a folder, a tar archive, or s3://BUCKET/PREFIX?endpoint=HOST:PORT")
	}
	return c, err
}

// readProfiles reads what --profiles names: a folder that profile pull wrote, or a bundle with profiles in it.
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
		return nil, cli.Usage(fmt.Errorf("--profiles %s is no folder of profiles, and no bundle with profiles in it", path), "name what kitescope profile pull wrote")
	}
	return record, err
}

// takenProfiles reports whether checks that need profiles owe an answer: they are taken on request, so that without them
// nothing is incomplete, unless such a check is asked for by name.
func (d *diagnosis) takenProfiles(c *model.Cluster, id string) bool {
	if c.Profiles != nil {
		return true
	}
	return slices.Contains(d.flags.only, id)
}
