package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/session/profiled"
	"kitescope/inspect/session/stored"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// profileKinds are what diagnose pulls: the CPU, the contention that processes record, and goroutines for the second time.
const profileKinds = "cpu,mutex-delta,goroutine"

// minPull is what a process gets at least for its profiles beyond their window.
const minPull = 100 * time.Millisecond

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

// loadJudged reads the cluster that is judged with all that judges it: what its processes say, their profiles, its storage.
func (d *diagnosis) loadJudged(ctx context.Context, a *cli.App, conn cli.Connection) (*model.Cluster, error) {
	c, err := d.loadProfiled(ctx, a, conn)
	if err != nil {
		return nil, err
	}
	return withStorage(ctx, a, d.flags.storage, c)
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

// loadProfiled reads the cluster that is judged, what its processes say, and their profiles: those that are named, those that are
// pulled meanwhile, or those of the bundle that it is in.
func (d *diagnosis) loadProfiled(ctx context.Context, a *cli.App, conn cli.Connection) (*model.Cluster, error) {
	spec, err := a.Asking(conn, d.flags.nodes)
	if err != nil {
		return nil, err
	}
	spec.Want = d.want
	if d.flags.profile > 0 && !spec.Live {
		return nil, cli.Usage(errors.New("--profile takes profiles of the processes, and --live=false leaves them alone"), "leave one of them out")
	}
	named, err := readProfiles(ctx, d.flags.profiles)
	if err != nil {
		return nil, err
	}
	loader := a.Loader()
	src, err := loader.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if _, isLive := src.(source.Live); d.flags.profile > 0 && !isLive {
		return nil, notLive(conn.From)
	}
	pulled := profileMeanwhile(ctx, a, d.flags.profile, spec)
	defer func() { pulled.discard() }()
	c, err := loader.Read(ctx, src, spec)
	if err != nil {
		return nil, err
	}
	if etcd, isLive := src.(source.Live); isLive && spec.Asks(src) {
		c = session.ReadAgain(ctx, etcd, c, spec.Nodes.Timeout)
	}
	switch bundle, isBundle := src.(*source.Bundle); {
	case named != nil:
	case d.flags.profile > 0:
		if named, err = pulled.record(); err != nil && ctx.Err() != nil {
			return nil, err
		} else if err != nil { // the rest is judged all the same
			return c.WithGaps(model.Gap{Where: "profiles of the processes", Reason: err.Error()}), nil
		}
	case isBundle:
		if named, err = kept.Profiles(ctx, bundle); err != nil {
			return c.WithGaps(model.Gap{Where: "profiles of " + c.Origin.Location, Reason: err.Error()}), nil
		}
	}
	if named == nil {
		return c, nil
	}
	profiles, err := profiled.Facts(ctx, named, c, d.flags.symbols)
	if err != nil {
		return nil, err
	}
	if d.flags.profile > 0 {
		profiles.Location = ""
	}
	return c.WithProfiles(profiles), nil
}

// readProfiles reads what --profiles names: a folder that profile pull wrote, or a bundle with profiles in it.
func readProfiles(ctx context.Context, path string) (*pull.Record, error) {
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
	wrong := cli.Usage(fmt.Errorf("--profiles %s is no folder of profiles, and no bundle with profiles in it", path), "name what kitescope profile pull wrote")
	src, err := source.Open(ctx, path, source.Options{})
	if err != nil {
		return nil, wrong
	}
	defer src.Close()
	bundle, ok := src.(*source.Bundle)
	if !ok {
		return nil, wrong
	}
	record, err := kept.Profiles(ctx, bundle)
	if err == nil && record == nil {
		return nil, wrong
	}
	return record, err
}

// pulling is a pull beside the questions to processes.
type pulling struct {
	dir  string
	done chan struct{}
	stop context.CancelFunc
	err  error
}

// profileMeanwhile starts to profile all processes, nil without a window. Goroutines are counted before the window and after it.
func profileMeanwhile(ctx context.Context, a *cli.App, window time.Duration, spec *session.Spec) *pulling {
	if window <= 0 {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	p := &pulling{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(p.done)
		p.err = pullTwice(ctx, a, window, *spec, p)
	}()
	return p
}

// pullTwice keeps to the deadline of each process, which counts from here for all of it, beyond the window: half of it is for asking where
// profiles are, so that one that hangs leaves the others some.
func pullTwice(ctx context.Context, a *cli.App, window time.Duration, spec session.Spec, p *pulling) error {
	until := time.Now().Add(spec.Nodes.Timeout)
	spec.Nodes.Timeout /= 2
	seconds := int((window + time.Second - 1) / time.Second)
	j, err := (&pullFlags{seconds: seconds, kinds: profileKinds, busyWait: defaultBusyWait}).pullJobOf(a, nil, &spec, spec.Nodes)
	if err != nil {
		return err
	}
	targets, err := j.targets(ctx)
	if err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "kitescope-profiles-"); err != nil {
		return fmt.Errorf("keep the profiles: %w", err)
	}
	for round, kinds := range [][]pull.Kind{{pull.Goroutine}, j.options.Kinds} {
		options := j.options
		options.Kinds = kinds
		// The second time begins when the last of the first is done: that one has half of what is left at most.
		options.Total = max(time.Until(until)/time.Duration(2-round), minPull)
		dir := filepath.Join(p.dir, strconv.Itoa(round))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("keep the profiles: %w", err)
		}
		if _, err := pull.RunTo(ctx, targets, options, dir); err != nil {
			return err
		}
	}
	return nil
}

// record waits for the profiles. Those of both rounds are one record.
func (p *pulling) record() (*pull.Record, error) {
	<-p.done
	if p.err != nil {
		return nil, p.err
	}
	var all *pull.Record
	for round := range 2 {
		r, err := pull.Read(filepath.Join(p.dir, strconv.Itoa(round)))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = &pull.Record{Path: "the cluster", Rolling: true}
		}
		for _, item := range r.Items {
			item.Round = len(all.Rounds)
			all.Items = append(all.Items, item)
		}
		all.Rounds = append(all.Rounds, r.Rounds...)
		all.Problems = append(all.Problems, r.Problems...)
	}
	return all, nil
}

// discard ends a pull and removes its files.
func (p *pulling) discard() {
	if p == nil {
		return
	}
	p.stop()
	<-p.done
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// takenProfiles reports whether checks that need profiles owe an answer: they are taken on request, so that without them
// nothing is incomplete, unless such a check is asked for by name.
func (d *diagnosis) takenProfiles(c *model.Cluster, id string) bool {
	if c.Profiles != nil {
		return true
	}
	return slices.Contains(d.flags.only, id)
}
