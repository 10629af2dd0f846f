package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/prometheus"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// Spec says what is loaded: of which source, as whom, and what its processes are asked.
type Spec struct {
	// From is what source.Open takes. Root is Milvus's root path, "" where there is but one.
	From, Root string
	// User and Password are those of etcd. Password is called when a source is opened that wants one, nil: there is none.
	User     string
	Password func(context.Context) (string, error)
	TLS      source.TLS
	// At is the moment of which it is loaded; zero: the newest. Nobody is asked how it was at another.
	At At
	// Salvage reads what is left of a damaged file, StaleRead what one etcd member has.
	Salvage, StaleRead bool
	// Live asks the processes of a live source, as Nodes says. Recordings are laid over the cluster instead.
	Live       bool
	Nodes      live.Options
	Recordings []string
	// Prometheus has what processes measured, where nobody is asked and nothing was recorded; nil: none is named.
	Prometheus *prometheus.Options
	// Want are the parts of the metadata.
	Want meta.Want
	// Recent counts what was written to a live etcd in its last minute, too, out of the past revisions that it keeps. Of a file that is
	// known without asking.
	Recent bool
	// Again reads what is small once more after the processes have answered: see ReadAgain.
	Again bool
	// Outage reports a live store that takes connections and does not answer as a cluster of which only that is known, and not as an error.
	Outage bool
	// Known is the cluster as it was at an earlier look: its processes are asked while the store does not answer. nil: there was none.
	Known *model.Cluster
}

// IsLive reports whether the source is one that is asked, and no file or past moment.
func (s *Spec) IsLive() bool { return s.At.IsZero() && s.isServer() }

func (s *Spec) isServer() bool {
	return strings.Contains(s.From, "://") && !strings.HasPrefix(s.From, "file://")
}

// Asks reports whether the processes of a source are asked: they are not where recordings stand for them, or in a file.
func (s *Spec) Asks(src source.Source) bool {
	_, isLive := src.(source.Live)
	return isLive && s.Live && len(s.Recordings) == 0 && s.Prometheus == nil
}

// WantsPassword reports whether the source asks for one: a file does not, whoever the user is.
func (s *Spec) WantsPassword() bool { return s.User != "" && s.isServer() }

// nodes are the options of who asks processes. Whoever wants the tasks in etcd wants those in memory, too.
func (s *Spec) nodes() live.Options {
	options := s.Nodes
	options.Tasks, options.Targets = s.Want.Parts.Has(model.PartTasks), s.Want.Parts.Has(model.PartTargets)
	options.Reported, options.Levels = s.Want.Parts.Has(model.PartReported), s.Want.Parts.Has(model.PartLevels)
	return options
}

// NodeNeeds are the parts of the metadata that say whom to ask what.
const NodeNeeds = model.PartCatalog | model.PartChannels | model.PartSegments

// maxDial bounds connecting, however long a request may take.
const maxDial = 5 * time.Second

// Loader loads clusters.
type Loader struct {
	// Now is the clock.
	Now func() time.Time
	// Stdin is what "-" names.
	Stdin io.Reader
	// Timeout is the deadline of each request.
	Timeout time.Duration
	// OpenOwn opens what source.Open does not know, the demo; known is false for everything else. nil: there is no such thing.
	OpenOwn func(ctx context.Context, spec *Spec) (src source.Source, known bool, err error)
	// AsOf is told which moment a Spec's At came to be. nil: nobody wants to know.
	AsOf func(meta.Point)
	// Tell hears of each call to etcd, in a line; nil: nobody listens. That of processes is in Spec.Nodes.
	Tell func(line string)
	// Reading is told of each snapshot that is read, which it may wrap; done is called at the end. nil: nobody wants to know.
	Reading func(source.Snapshot) (read source.Snapshot, done func())
}

// Open opens the source of a Spec, and asks for the password that it wants.
func (l *Loader) Open(ctx context.Context, spec *Spec) (source.Source, error) {
	password := ""
	if spec.WantsPassword() && spec.Password != nil {
		var err error
		if password, err = spec.Password(ctx); err != nil {
			return nil, err
		}
	}
	src, known, err := source.Source(nil), false, error(nil)
	if l.OpenOwn != nil {
		src, known, err = l.OpenOwn(ctx, spec)
	}
	if !known && err == nil {
		src, err = source.Open(ctx, spec.From, source.Options{
			Root: spec.Root, Username: spec.User, Password: password, TLS: spec.TLS,
			DialTimeout: min(l.Timeout, maxDial), RequestTimeout: l.Timeout,
			Stdin: Interruptible(ctx, l.Stdin), Salvage: spec.Salvage, StaleRead: spec.StaleRead, Now: l.Now, Tell: l.Tell,
		})
	}
	if err != nil {
		return nil, err
	}
	asked, err := l.Then(src, spec.At)
	if err != nil {
		_ = src.Close()
	}
	return asked, err
}

// Load opens a source, and loads the cluster and what its processes say.
func (l *Loader) Load(ctx context.Context, spec *Spec) (*model.Cluster, error) {
	src, err := l.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return l.Read(ctx, src, spec)
}

// Metadata is what Load loads of a source that is open, without what processes say.
func (l *Loader) Metadata(ctx context.Context, src source.Source, want meta.Want) (*model.Cluster, error) {
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if l.Reading != nil {
		read, done := l.Reading(snapshot)
		defer done()
		snapshot = read
	}
	return meta.Load(ctx, snapshot, want)
}

// Read is Load of a source that is open: the processes are asked where that is wanted and the source is live, else what they say is
// that of the recordings or of the bundle. What is broken in recordings is a gap of the cluster.
func (l *Loader) Read(ctx context.Context, src source.Source, spec *Spec) (*model.Cluster, error) {
	want := spec.Want
	if spec.Asks(src) {
		want.Parts |= NodeNeeds
	}
	want.Parts &^= model.PartAsked
	c, err := l.Metadata(ctx, src, want)
	if err != nil {
		return l.outage(ctx, src, spec, err)
	}
	etcd, isLive := src.(source.Live)
	if isLive && spec.Live && len(spec.Recordings) == 0 && spec.Prometheus == nil {
		return l.ask(ctx, etcd, spec, c)
	}
	if spec.Recent {
		c = withRecent(ctx, src, c, min(l.Timeout, maxDial))
	}
	switch {
	case len(spec.Recordings) > 0:
		r, gaps, err := ReadRecordings(spec.Recordings)
		if err != nil {
			return nil, err
		}
		return c.WithRuntime(r).WithGaps(gaps...), nil
	case spec.Prometheus != nil:
		r, gaps, err := prometheus.Read(ctx, *spec.Prometheus, c, l.moment(spec, c))
		if err != nil {
			return nil, err
		}
		return c.WithRuntime(r).WithGaps(gaps...), nil
	case isLive:
		return c.WithEtcd(EtcdHealth(ctx, src)), nil
	}
	return WithKept(ctx, src, c)
}

// ask adds to a cluster what its processes and its etcd report, and what was written of late, all within the deadline of a process.
func (l *Loader) ask(ctx context.Context, etcd source.Live, spec *Spec, c *model.Cluster) (*model.Cluster, error) {
	options, begun := spec.nodes(), time.Now()
	recent := c
	var reading sync.WaitGroup
	if spec.Recent {
		reading.Go(func() { recent = withRecent(ctx, etcd, c, min(l.Timeout, maxDial, options.Patience())) })
	}
	asked, err := Ask(ctx, etcd, options, c)
	reading.Wait()
	if err != nil {
		return nil, err
	}
	asked = asked.WithRecent(recent.Recent).WithStarts(recent.Starts)
	if spec.Again && !asked.Etcd.Silent() {
		asked = ReadAgain(ctx, etcd, asked, max(grace, time.Until(begun.Add(options.Patience()))))
	}
	return asked, nil
}

// outage returns the cluster of a store that failed with an error, if an outage is a result.
func (l *Loader) outage(ctx context.Context, src source.Source, spec *Spec, err error) (*model.Cluster, error) {
	hangs, ok := errors.AsType[*source.HangingError](err)
	if !ok || !spec.Outage || !spec.Asks(src) {
		return nil, err
	}
	from := src.Origin()
	parts := model.Parts{Origin: model.Origin{Kind: from.Kind, Location: from.Location, Root: spec.Root, Taken: l.Now(), ByClock: true}}
	if spec.Known != nil {
		parts.Sessions, parts.Loaded, parts.Version = spec.Known.Sessions, model.PartSessions, spec.Known.Version
	}
	health := silentEtcd(hangs.Endpoint, fmt.Sprintf("it takes connections, but gave no answer within %s", hangs.After))
	c := model.Build(parts).WithEtcd(health).WithGaps(model.Gap{Where: "metadata", Reason: "etcd does not answer"})
	if spec.Known == nil {
		return c, nil
	}
	client, err := live.Open(spec.nodes())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	runtime, err := client.Ask(ctx, c)
	if err != nil {
		return nil, err
	}
	return c.WithRuntime(runtime), nil
}

// moment is the one of which a cluster shows what there was.
func (l *Loader) moment(spec *Spec, c *model.Cluster) time.Time {
	if spec.IsLive() || c.Origin.Taken.IsZero() {
		return l.Now()
	}
	return c.Origin.Taken
}

// Feed follows the source of a Spec. What processes say it has of recordings, of the file that is shown, or of the processes. done
// ends the connections to them.
func (l *Loader) Feed(spec *Spec) (f *Feed, done func(), err error) {
	f, done = &Feed{Open: func(ctx context.Context) (source.Source, error) { return l.Open(ctx, spec) }}, func() {}
	switch {
	case len(spec.Recordings) > 0:
		read := sync.OnceValues(func() (recorded, error) {
			r, gaps, err := ReadRecordings(spec.Recordings)
			return recorded{r, gaps}, err
		})
		f.Kept = func(_ context.Context, _ source.Source, c *model.Cluster) (*model.Cluster, error) {
			r, err := read()
			return c.WithRuntime(r.runtime).WithGaps(r.gaps...), err
		}
	case !spec.IsLive():
		f.Kept = WithKept
	case spec.Live:
		options := spec.nodes()
		options.Window = 0 // one round remembers the counters of the one before
		client, err := live.Open(options)
		if err != nil {
			return nil, nil, err
		}
		f.Ask = client
		done = func() { _ = client.Close() }
	}
	return f, done, nil
}

// recorded is what recordings say, and what is broken in them.
type recorded struct {
	runtime *model.Runtime
	gaps    []model.Gap
}

// Profiles are those that the bundle keeps which a Spec names, nil where there are none. isBundle is false for every other source.
func (l *Loader) Profiles(ctx context.Context, spec *Spec) (record *pull.Record, isBundle bool, err error) {
	src, err := l.Open(ctx, spec)
	if err != nil {
		return nil, false, err
	}
	defer src.Close()
	bundle, isBundle := src.(*source.Bundle)
	if !isBundle {
		return nil, false, nil
	}
	record, err = BundleProfiles(ctx, bundle)
	return record, true, err
}

// Interruptible is a reader that gives up when a context ends: a pipe whose writer hangs must not keep an interrupted command
// alive. The read that is under way is left to itself. nil stays nil.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if r == nil {
		return nil
	}
	return &interruptible{ctx: ctx, r: r}
}

type interruptible struct {
	ctx context.Context
	r   io.Reader
	buf []byte // what is read into: p is the caller's again once Read has returned
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	if i.buf == nil {
		i.buf = make([]byte, 64<<10)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	size := min(len(p), len(i.buf))
	go func() {
		n, err := i.r.Read(i.buf[:size])
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return copy(p, i.buf[:got.n]), got.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
