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

// minPull is the minimum time that a process gets for its profiles in addition to their window.
const minPull = 100 * time.Millisecond

// ProfileOptions selects the profiles that checks of a cluster use.
type ProfileOptions struct {
	// Record holds profiles that are already read. If it is nil, they come from the cluster's bundle or recording,
	// or are pulled.
	Record *pull.Record
	// Window is the time for which all processes are profiled during the queries, rounded up to whole seconds. 0
	// disables it. Goroutines are counted before and after it.
	Window time.Duration
	Pull   pull.Options
	// OnPull is called with the selected pull of a recording. It may be nil.
	OnPull func(Pull)
	// OnProfiles is called with the profiles in use while they can be opened. It may be nil.
	OnProfiles func(ctx context.Context, record *pull.Record, profiles *model.Profiles) error
}

// LoadProfiled loads a cluster, the state of its processes, and their profiles. Unavailable profiles become a gap
// of the cluster. It returns a *NotLiveError if p.Window is set and the source is not live.
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
	var meanwhile *concurrentPull
	if p.Window > 0 {
		meanwhile = startPull(ctx, loader, *spec, p)
		defer meanwhile.discard()
	}
	again := *spec
	again.Reread = true
	c, err := loader.Read(ctx, src, &again)
	if err != nil {
		return nil, err
	}
	record, where := p.Record, ""
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
		record, err = p.lastPull(src, spec, c)
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
	if p.OnProfiles != nil {
		if err := p.OnProfiles(ctx, record, profiles); err != nil {
			return nil, err
		}
	}
	return c.WithProfiles(profiles), nil
}

// lastPull returns the last profiles that a recorder pulled, or the last ones before the cluster's moment if
// spec.At is set. It returns nil if there are none or src is not a recording.
func (p *ProfileOptions) lastPull(src source.Source, spec *Spec, c *model.Cluster) (*pull.Record, error) {
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
	if p.OnPull != nil {
		p.OnPull(last)
	}
	return pull.Read(last.Path)
}

// concurrentPull is a pull of profiles that runs concurrently with the queries to processes.
type concurrentPull struct {
	dir  string
	done chan struct{}
	stop context.CancelFunc
	err  error
}

func startPull(ctx context.Context, loader *Loader, spec Spec, p ProfileOptions) *concurrentPull {
	ctx, stop := context.WithCancel(ctx)
	b := &concurrentPull{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(b.done)
		b.err = b.pull(ctx, loader, spec, p)
	}()
	return b
}

// pull pulls two rounds of profiles: goroutines, then all kinds. The timeout of a process, counted from here,
// applies to the whole pull in addition to the window. At most half of the timeout is for finding the
// targets, so that a process that hangs leaves time for the others.
func (b *concurrentPull) pull(ctx context.Context, loader *Loader, spec Spec, p ProfileOptions) error {
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
		return fmt.Errorf("save the profiles: %w", err)
	}
	for round, kinds := range [][]pull.Kind{{pull.Goroutine}, j.Options.Kinds} {
		options := j.Options
		options.Kinds = kinds
		// The second round begins when the first is complete, so the first gets at most half of the remaining time.
		options.Total = max(time.Until(until)/time.Duration(2-round), minPull)
		dir := filepath.Join(b.dir, strconv.Itoa(round))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("save the profiles: %w", err)
		}
		if _, err := pull.RunTo(ctx, targets, options, dir); err != nil {
			return err
		}
	}
	return nil
}

// record waits for the pull and returns the profiles of both rounds as one record.
func (b *concurrentPull) record() (*pull.Record, error) {
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

// discard stops the pull and removes its files.
func (b *concurrentPull) discard() {
	b.stop()
	<-b.done
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}
