package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// minPull is what a process gets at least for its profiles beyond their window.
const minPull = 100 * time.Millisecond

// ProfileOptions says which profiles a cluster is judged with.
type ProfileOptions struct {
	// Named are read already; nil: those that the bundle has which the cluster is in, or what is pulled.
	Named *pull.Record
	// Window is for how long all processes are profiled meanwhile, whole seconds; 0: they are left alone. Goroutines are counted
	// before it and after it.
	Window time.Duration
	Pull   pull.Options
	// Chosen is told which profiles of a recording are judged; nil: nobody wants to know.
	Chosen func(Pull)
	// Read is told the profiles that the cluster is judged with, while they can be opened; nil: nobody wants to know.
	Read func(ctx context.Context, record *pull.Record, profiles *model.Profiles) error
}

// LoadProfiled reads a cluster, what its processes say, and their profiles. Profiles that cannot be had are a gap of the cluster: the rest
// is judged all the same.
func LoadProfiled(ctx context.Context, loader *Loader, spec *Spec, p ProfileOptions) (*model.Cluster, error) {
	src, err := loader.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	_, isLive := src.(source.Live)
	if p.Window > 0 && !isLive {
		return nil, &NotLiveError{spec.From}
	}
	var meanwhile *beside
	if p.Window > 0 {
		meanwhile = begin(ctx, loader, *spec, p)
		defer meanwhile.discard()
	}
	again := *spec
	again.Again = true
	c, err := loader.Read(ctx, src, &again)
	if err != nil {
		return nil, err
	}
	record, where := p.Named, ""
	switch bundle, isBundle := src.(*source.Bundle); {
	case record != nil:
	case meanwhile != nil:
		if record, err = meanwhile.record(); err != nil && ctx.Err() != nil {
			return nil, err
		}
		where = "profiles of the processes"
	case isBundle:
		record, err = BundleProfiles(ctx, bundle)
		where = "profiles of " + c.Origin.Location
	default:
		record, err = p.recorded(src, spec, c)
		where = "profiles of " + c.Origin.Location
	}
	if err != nil {
		return c.WithGaps(model.Gap{Where: where, Reason: err.Error()}), nil
	}
	if record == nil {
		return c, nil
	}
	profiles, err := ProfileFacts(ctx, record, c)
	if err != nil {
		return nil, err
	}
	if meanwhile != nil {
		profiles.Location = ""
	}
	if p.Read != nil {
		if err := p.Read(ctx, record, profiles); err != nil {
			return nil, err
		}
	}
	return c.WithProfiles(profiles), nil
}

// recorded are the profiles that a recorder had taken last, by the moment of the cluster where one was asked for; nil where there are
// none, or in any other source.
func (p *ProfileOptions) recorded(src source.Source, spec *Spec, c *model.Cluster) (*pull.Record, error) {
	list, err := Pulls(src)
	if err != nil {
		return nil, err
	}
	var at time.Time
	if !spec.At.IsZero() {
		at = c.Origin.Taken
	}
	last, ok := PullBefore(list, at)
	if !ok {
		return nil, nil //nolint:nilnil // there are none
	}
	if p.Chosen != nil {
		p.Chosen(last)
	}
	return pull.Read(last.Path)
}

// beside is a pull beside the questions to processes.
type beside struct {
	dir  string
	done chan struct{}
	stop context.CancelFunc
	err  error
}

func begin(ctx context.Context, loader *Loader, spec Spec, p ProfileOptions) *beside {
	ctx, stop := context.WithCancel(ctx)
	b := &beside{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(b.done)
		b.err = b.pull(ctx, loader, spec, p)
	}()
	return b
}

// pull keeps to the deadline of each process, which counts from here for all of it, beyond the window: half of it is for asking where
// profiles are, so that one that hangs leaves the others some.
func (b *beside) pull(ctx context.Context, loader *Loader, spec Spec, p ProfileOptions) error {
	until := time.Now().Add(spec.Nodes.Timeout)
	spec.Nodes.Timeout /= 2
	p.Pull.Seconds = int((p.Window + time.Second - 1) / time.Second)
	j, err := NewJob(loader, &spec, nil, spec.Nodes, p.Pull)
	if err != nil {
		return err
	}
	targets, err := j.Targets(ctx)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "kitescope-profiles-"); err != nil {
		return fmt.Errorf("keep the profiles: %w", err)
	}
	for round, kinds := range [][]pull.Kind{{pull.Goroutine}, j.Options.Kinds} {
		options := j.Options
		options.Kinds = kinds
		// The second time begins when the last of the first is done: that one has half of what is left at most.
		options.Total = max(time.Until(until)/time.Duration(2-round), minPull)
		dir := filepath.Join(b.dir, strconv.Itoa(round))
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
func (b *beside) record() (*pull.Record, error) {
	<-b.done
	if b.err != nil {
		return nil, b.err
	}
	all := &pull.Record{Path: "the cluster", Rolling: true}
	for round := range 2 {
		r, err := pull.Read(filepath.Join(b.dir, strconv.Itoa(round)))
		if err != nil {
			return nil, err
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
func (b *beside) discard() {
	b.stop()
	<-b.done
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}
