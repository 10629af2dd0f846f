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

// Spec describes what to load: the source, the credentials, the parts, and the queries to processes.
type Spec struct {
	// From is the location, as for source.Open. Root is Milvus's root path; it may be "" if there is only one.
	From, Root string
	// User and Password are the credentials of etcd. Password is called when a source that needs one is opened. It
	// is nil if there is none.
	User     string
	Password func(context.Context) (string, error)
	TLS      source.TLS
	// At is the moment to load; zero means the newest. Processes are queried only for the newest.
	At At
	// Salvage reads the intact parts of a damaged file. StaleRead reads from a single etcd member
	// without a quorum.
	Salvage, StaleRead bool
	// Live queries the processes of a live source with the options Nodes. If Recordings are set, their answers are
	// used instead.
	Live       bool
	Nodes      live.Options
	Recordings []string
	// Prometheus is a source of the processes' metrics, used instead of queries if Recordings is empty. nil
	// means no Prometheus.
	Prometheus *prometheus.Options
	// Want selects the parts of the metadata.
	Want meta.Want
	// Recent also counts the writes to a live etcd in the last minute, from the past revisions that it keeps. Files
	// already have these counts.
	Recent bool
	// Reread reads the catalog and the configuration again after the processes were queried; see Reread.
	Reread bool
	// Outage returns a cluster that has only the outage if the live store accepts connections but does not respond.
	// Otherwise that is an error.
	Outage bool
	// LongWindow watches the requests of a live cluster for diagnoseWindow instead of Nodes.Window, because trouble may
	// come in bursts a few seconds apart.
	LongWindow bool
	// Fallback is the cluster of an earlier load, or nil. Its processes are queried while the store does not respond.
	Fallback *model.Cluster
}

// IsLive reports whether the source is a server at its newest moment, not a file or a past moment.
func (s *Spec) IsLive() bool { return s.At.IsZero() && s.isServer() }

func (s *Spec) isServer() bool {
	return strings.Contains(s.From, "://") && !strings.HasPrefix(s.From, "file://")
}

// QueriesProcesses reports whether the processes of src are queried. They are not if recordings or Prometheus replace
// the queries, or if src is not live.
func (s *Spec) QueriesProcesses(src source.Source) bool {
	_, isLive := src.(source.Live)
	return isLive && s.Live && len(s.Recordings) == 0 && s.Prometheus == nil
}

// WantsPassword reports whether the source needs a password. A file never does.
func (s *Spec) WantsPassword() bool { return s.User != "" && s.isServer() }

// nodes returns the options to query processes. The wanted parts of the metadata also select the state queried from
// processes, e.g. tasks.
func (s *Spec) nodes() live.Options {
	options := s.Nodes
	options.Tasks, options.Targets = s.Want.Parts.Has(model.PartTasks), s.Want.Parts.Has(model.PartTargets)
	options.ProxyReports, options.Levels = s.Want.Parts.Has(model.PartReported), s.Want.Parts.Has(model.PartLevels)
	return options
}

// NodeNeeds are the parts of the metadata needed to query processes.
const NodeNeeds = model.PartCatalog | model.PartChannels | model.PartSegments

// maxDial is the maximum time to connect, regardless of the request timeout.
const maxDial = 5 * time.Second

// Loader loads clusters.
type Loader struct {
	// Now is the clock.
	Now func() time.Time
	// Stdin is read for the location "-".
	Stdin io.Reader
	// Timeout is the deadline of each request.
	Timeout time.Duration
	// OpenCustom opens sources that source.Open does not support, i.e. the demo. known is false for all others.
	// OpenCustom may be nil.
	OpenCustom func(ctx context.Context, spec *Spec) (src source.Source, known bool, err error)
	// OnMoment is called with the moment found for a Spec's At. It may be nil.
	OnMoment func(meta.Point)
	// Log is called with a line for each call to etcd. It may be nil. Spec.Nodes has its own Log for calls to
	// processes.
	Log func(line string)
	// OnRead is called with each snapshot before it is read and may wrap it. done is called at the end. It may be
	// nil.
	OnRead func(source.Snapshot) (read source.Snapshot, done func())
	// OnLongWindow is called before requests are watched for a longer window; see Spec.LongWindow. done is called at
	// its end. It may be nil.
	OnLongWindow func(window time.Duration) (done func())
}

// Open opens the source of a Spec at its moment. It calls spec.Password if the source needs a password.
func (l *Loader) Open(ctx context.Context, spec *Spec) (source.Source, error) {
	password := ""
	if spec.WantsPassword() && spec.Password != nil {
		var err error
		if password, err = spec.Password(ctx); err != nil {
			return nil, err
		}
	}
	src, known, err := source.Source(nil), false, error(nil)
	if l.OpenCustom != nil {
		src, known, err = l.OpenCustom(ctx, spec)
	}
	if !known && err == nil {
		src, err = source.Open(ctx, spec.From, source.Options{
			Root: spec.Root, Username: spec.User, Password: password, TLS: spec.TLS,
			DialTimeout: min(l.Timeout, maxDial), RequestTimeout: l.Timeout,
			Stdin: Interruptible(ctx, l.Stdin), Salvage: spec.Salvage, StaleRead: spec.StaleRead, Now: l.Now,
			Log: l.Log,
		})
	}
	if err != nil {
		return nil, err
	}
	asked, err := l.SourceAt(src, spec.At)
	if err != nil {
		_ = src.Close()
	}
	return asked, err
}

// Load opens the source of a Spec and loads the cluster with the state of its processes.
func (l *Loader) Load(ctx context.Context, spec *Spec) (*model.Cluster, error) {
	src, err := l.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return l.Read(ctx, src, spec)
}

// Metadata loads the wanted metadata of an open source, without the state of processes.
func (l *Loader) Metadata(ctx context.Context, src source.Source, want meta.Want) (*model.Cluster, error) {
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if l.OnRead != nil {
		read, done := l.OnRead(snapshot)
		defer done()
		snapshot = read
	}
	return meta.Load(ctx, snapshot, want)
}

// Read is like Load for an open source. It queries the processes if that is wanted and the source is live.
// Otherwise their state comes from the recordings, Prometheus or the bundle. Damaged parts of recordings become
// gaps of the cluster.
func (l *Loader) Read(ctx context.Context, src source.Source, spec *Spec) (*model.Cluster, error) {
	want := spec.Want
	if spec.QueriesProcesses(src) {
		want.Parts |= NodeNeeds
	}
	want.Parts &^= model.PartLive
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
	return WithStored(ctx, src, c)
}

// ask adds to a cluster the state of its processes and its etcd, and the recent writes, all within the deadline of
// a process, which counts from the end if spec.Linger made it longer.
func (l *Loader) ask(ctx context.Context, etcd source.Live, spec *Spec, c *model.Cluster) (*model.Cluster, error) {
	options, from := spec.nodes(), time.Now()
	var lingering func(time.Duration) func()
	if spec.LongWindow {
		lingering = func(window time.Duration) func() {
			done := func() {}
			if l.OnLongWindow != nil {
				done = l.OnLongWindow(window)
			}
			return func() {
				done()
				from = time.Now()
			}
		}
	}
	recent := c
	var reading sync.WaitGroup
	if spec.Recent {
		reading.Go(func() { recent = withRecent(ctx, etcd, c, min(l.Timeout, maxDial, options.MaxWait())) })
	}
	asked, err := Ask(ctx, etcd, options, c, lingering)
	reading.Wait()
	if err != nil {
		return nil, err
	}
	asked = asked.WithRecent(recent.Recent).WithStarts(recent.Starts)
	if spec.Reread && !asked.Etcd.Unresponsive() {
		asked = Reread(ctx, etcd, asked, max(minSlack, time.Until(from.Add(options.MaxWait()))))
	}
	return asked, nil
}

// outage returns a cluster for a store that does not respond if spec.Outage is set. Otherwise it returns err.
func (l *Loader) outage(ctx context.Context, src source.Source, spec *Spec, err error) (*model.Cluster, error) {
	hangs, ok := errors.AsType[*source.HangingError](err)
	if !ok || !spec.Outage || !spec.QueriesProcesses(src) {
		return nil, err
	}
	from := src.Origin()
	parts := model.Parts{
		Origin: model.Origin{Kind: from.Kind, Location: from.Location, Root: spec.Root, Taken: l.Now(), ByClock: true},
	}
	if spec.Fallback != nil {
		parts.Sessions, parts.Loaded, parts.Version = spec.Fallback.Sessions, model.PartSessions, spec.Fallback.Version
	}
	health := unresponsiveEtcd(hangs.Endpoint,
		fmt.Sprintf("it accepts connections, but did not respond within %s", hangs.After))
	c := model.Build(parts).WithEtcd(health).WithGaps(model.Gap{Where: "metadata", Reason: "etcd is not responding"})
	if spec.Fallback == nil {
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

// moment returns the time of a cluster's state: now for a live source, or the time at which a file was taken.
func (l *Loader) moment(spec *Spec, c *model.Cluster) time.Time {
	if spec.IsLive() || c.Origin.Taken.IsZero() {
		return l.Now()
	}
	return c.Origin.Taken
}

// Feed returns a Feed of the source of a Spec. The state of processes comes from recordings, from the file, or from
// the live processes. done closes the connections to processes.
func (l *Loader) Feed(spec *Spec) (f *Feed, done func(), err error) {
	f, done = &Feed{Open: func(ctx context.Context) (source.Source, error) { return l.Open(ctx, spec) }}, func() {}
	switch {
	case len(spec.Recordings) > 0:
		read := sync.OnceValues(func() (recordingState, error) {
			r, gaps, err := ReadRecordings(spec.Recordings)
			return recordingState{r, gaps}, err
		})
		f.AddStored = func(_ context.Context, _ source.Source, c *model.Cluster) (*model.Cluster, error) {
			r, err := read()
			return c.WithRuntime(r.runtime).WithGaps(r.gaps...), err
		}
	case !spec.IsLive():
		f.AddStored = WithStored
	case spec.Live:
		options := spec.nodes()
		options.Window = 0 // each round uses the counters of the one before
		client, err := live.Open(options)
		if err != nil {
			return nil, nil, err
		}
		f.Ask = client
		done = func() { _ = client.Close() }
	}
	return f, done, nil
}

// recordingState holds the process state and the gaps read from recordings.
type recordingState struct {
	runtime *model.Runtime
	gaps    []model.Gap
}

// Profiles returns the profiles stored in the bundle of a Spec, or nil if there are none. isBundle is false for
// other sources.
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

// Interruptible returns a reader that returns the error of ctx when ctx ends, because a pipe whose writer hangs
// must not keep an interrupted command alive. A pending read of r continues in its goroutine. If r is nil, it
// returns nil.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if r == nil {
		return nil
	}
	return &interruptible{ctx: ctx, r: r}
}

type interruptible struct {
	ctx context.Context
	r   io.Reader
	buf []byte // buffer of the pending read, because the caller may reuse p after Read returns
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
