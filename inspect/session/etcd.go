// Package session loads a cluster from a source, once or continuously. It adds to the metadata the state reported by
// the cluster's processes, the health and write activity of etcd, and the changes made while the processes were
// queried. The result is a model.Cluster.
//
//  1. A Spec names a source and what to load. Loader.Load opens the source, reads the metadata (meta.Load) and adds
//     the state of the processes.
//  2. That state comes from the processes of a live cluster (Ask), from a bundle or a recording (WithStored), from
//     files of responses (ReadRecordings) or from a Prometheus. Reread finds the changes made during Ask.
//  3. Loader.Feed returns a Feed, which follows a source and emits history.Updates. It joins the changes of the
//     metadata (meta.Follower) with repeated queries to processes and etcd, and lists the sources that no longer
//     respond. A file gets a single Cluster.
//  4. CollectAnswers and ProfileFiles collect the contents of a bundle in temporary files.
//  5. A Job finds the processes to profile. LoadProfiled pulls profiles while processes are queried. ProfileFacts
//     computes from profiles the values that checks use.
//  6. CheckStorage looks for the files listed in the metadata.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/words"
)

// Ask queries all processes of a cluster and the health of its etcd concurrently. Rates of both are measured
// over Options.Window. Ask returns by the deadline of a process even if a process or etcd hangs. If requests
// may be hanging, it takes until longWindow or flushWindow, if that is later. If onLongWindow is not nil and clients
// send requests, Ask calls it with diagnoseWindow, watches requests and etcd for that long, and calls done.
func Ask(
	ctx context.Context, etcd source.Live, options live.Options, c *model.Cluster, onLongWindow func(
		time.Duration,
	) (done func()),
) (*model.Cluster, error) {
	client, err := live.Open(options)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var health *model.Etcd
	var asking sync.WaitGroup
	// Wait for etcd no longer than for a process, because it may have stopped in the meantime.
	patience, cancel := context.WithTimeout(ctx, options.MaxWait())
	defer cancel()
	asking.Go(func() { health = EtcdState(patience, etcd, options.Window) })
	begun := time.Now()
	runtime, err := client.Ask(ctx, c)
	for _, window := range []time.Duration{longWindow, flushWindow} {
		if err == nil && options.Window > 0 && options.Window < window && mayHang(c.WithRuntime(runtime), window) {
			err = requery(ctx, options, c, runtime, begun.Add(window), begun)
		}
	}
	asking.Wait()
	if err == nil && onLongWindow != nil && options.Window > 0 && serving(c.WithRuntime(runtime)) {
		done, at := onLongWindow(diagnoseWindow), begun.Add(diagnoseWindow)
		asking.Go(func() { health = watchEtcd(ctx, etcd, health, at, options.MaxWait()) })
		err = requery(ctx, options, c, runtime, at, at)
		asking.Wait()
		done()
	}
	if errors.Is(err, live.ErrNoSessions) { // the metadata is still valid
		return c.WithEtcd(health).WithGaps(model.Gap{Where: "answers of processes", Reason: err.Error()}), nil
	}
	if err != nil {
		return nil, err
	}
	return c.WithEtcd(health).WithRuntime(runtime), nil
}

const (
	// longWindow is a window long enough to distinguish hanging requests from running ones.
	longWindow = 5 * time.Second
	// flushWindow is the window for flushes, which take longer.
	flushWindow = 10 * time.Second
	// diagnoseWindow is the window for a diagnosis, because requests may be fine for seconds between bursts of trouble.
	// Kafka holds back a client for 6 s at a time while it exceeds its quota.
	diagnoseWindow = 10 * time.Second
	// minSlack is the minimum time for work after the deadline of the processes.
	minSlack = 700 * time.Millisecond
)

// mayHang reports whether watching for the given window may show whether requests hang.
func mayHang(c *model.Cluster, window time.Duration) bool {
	x := impact.Measure(c)
	if window < flushWindow {
		return x.Doubtful()
	}
	k := x.Kind(impact.Flush)
	return k != nil && k.Doubtful()
}

// serving reports whether requests came or wait, and all processes responded.
func serving(c *model.Cluster) bool {
	x := impact.Measure(c)
	return x != nil && len(UnresponsiveSessions(c)) == 0 &&
		slices.ContainsFunc(x.Kinds, func(k impact.Kind) bool { return k.Ended()+k.InFlight > 0 })
}

// watchEtcd reads the health of etcd every second until the given time, each time for at most patience. It returns
// the latest health, with the durations of all reads including those in h. Several reads are needed because an etcd
// that is paused for half a second at a time delays only some of them.
func watchEtcd(
	ctx context.Context, etcd source.Live, h *model.Etcd, until time.Time, patience time.Duration,
) *model.Etcd {
	for h != nil && !h.Unresponsive() && time.Until(until) > time.Second {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return h
		}
		reading, cancel := context.WithTimeout(ctx, patience)
		next := EtcdHealth(reading, etcd)
		cancel()
		if ctx.Err() != nil {
			return h
		}
		next.Activity = h.Activity
		next.Linear, next.Local = append(h.Linear, next.Linear...), append(h.Local, next.Local...)
		next.Reads = append(h.Reads, next.Reads...)
		h = next
	}
	return h
}

// requery queries again, at the given time, the processes that answered every query. The counters of the first
// query become the earlier ones. A process that does not respond by the deadline of a query that began at from keeps
// its state, unless it refuses connections.
func requery(ctx context.Context, options live.Options, c *model.Cluster, r *model.Runtime, at, from time.Time) error {
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
	}
	options.Window, options.Timeout = 0, max(minSlack, time.Until(from.Add(options.MaxWait())))
	client, err := live.Open(options)
	if err != nil {
		return err
	}
	defer client.Close()
	parts := c.Parts
	parts.Sessions = slices.DeleteFunc(slices.Clone(c.Sessions), func(s *model.Session) bool {
		n := r.LiveNode(s.Role, s.Node)
		return n == nil || slices.ContainsFunc(n.Calls, func(x model.Call) bool { return x.Outcome == model.TimedOut })
	})
	again, err := client.Ask(ctx, model.Build(parts))
	if err != nil {
		return err
	}
	exited := func(ref model.Ref) bool { return refuses(again.Nodes, ref) && !refuses(r.Nodes, ref) }
	for _, p := range r.Processes {
		i := slices.IndexFunc(again.Processes, func(now *model.Process) bool {
			return now.Address == p.Address && now.Metrics != nil
		})
		switch {
		case i >= 0 && p.Metrics != nil:
			p.Before, p.Metrics = cmp.Or(p.Before, p.Metrics), again.Processes[i].Metrics
		case i < 0 && slices.ContainsFunc(p.Nodes, exited):
			p.Before, p.Metrics = nil, nil // those of the first query are of a process that has exited
		}
	}
	for _, n := range r.Nodes {
		if now := again.LiveNode(n.Role, n.Node); now != nil && now.Outcome == model.Refused { // it has exited since
			n.Outcome, n.Reason, n.Calls = now.Outcome, now.Reason, append(n.Calls, now.Calls...)
		}
	}
	return nil
}

// refuses reports whether nothing listens at the address of a node.
func refuses(nodes []*model.LiveNode, node model.Ref) bool {
	return slices.ContainsFunc(nodes, func(n *model.LiveNode) bool {
		return n.Name() == node.ID && n.Outcome == model.Refused
	})
}

// EtcdState returns the health of etcd and its write activity over a window. A window of zero skips the activity.
func EtcdState(ctx context.Context, etcd source.Live, window time.Duration) *model.Etcd {
	var activity *model.EtcdActivity
	var err error
	var watching sync.WaitGroup
	if window > 0 {
		watching.Go(func() { activity, err = etcd.Activity(ctx, window) })
	}
	health := EtcdHealth(ctx, etcd)
	watching.Wait()
	// It stopped responding after its members were queried.
	if hangs, ok := errors.AsType[*source.HangingError](err); ok && !health.Unresponsive() {
		return unresponsiveEtcd(hangs.Endpoint, fmt.Sprintf("it responded at first, then not within %s", hangs.After))
	}
	health.Activity = activity
	return health
}

// unresponsiveEtcd returns the health of an etcd that does not respond.
func unresponsiveEtcd(endpoint, why string) *model.Etcd {
	return &model.Etcd{
		At: time.Now(), Members: []model.EtcdMember{{Endpoint: endpoint, Problem: "no response from here: " + why}},
	}
}

// EtcdHealth queries the health of a live source's etcd. It returns nil if src is not live.
func EtcdHealth(ctx context.Context, src source.Source) *model.Etcd {
	live, ok := src.(source.Live)
	if !ok {
		return nil
	}
	h, err := live.Health(ctx)
	if err != nil {
		return &model.Etcd{Problem: words.Message(err.Error())}
	}
	return h
}

// UnresponsiveError returns an error that etcd does not respond, with the reason if it is known.
func UnresponsiveError(e *model.Etcd) error {
	if why := e.UnresponsiveReason(); why != "" {
		return fmt.Errorf("etcd is not responding: %s", words.Message(why))
	}
	return errors.New("etcd is not responding")
}

// Reread reads the catalog and the configuration again after the processes were queried, and adds the
// differences to c as changes made during the queries. It waits for etcd for at most timeout. If etcd does not
// respond, it returns c unchanged.
func Reread(ctx context.Context, src source.Live, c *model.Cluster, timeout time.Duration) *model.Cluster {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	snap, err := src.Pin(ctx)
	if err != nil {
		return c
	}
	defer snap.Close()
	later, err := meta.Load(ctx, snap, meta.Want{Parts: model.PartCatalog | model.PartConfig})
	if err != nil {
		return c
	}
	changes := model.ConfigChanges(c.Config, later.Config, later.Origin.Taken)
	var asking time.Duration
	if c.Runtime != nil && !c.Runtime.From.IsZero() {
		asking = max(0, later.Origin.Taken.Sub(c.Runtime.From))
	}
	changes = append(changes, ConfigSince(ctx, src, snap.Header(), asking+model.ConfigChangeWindow, later.Config)...)
	return c.WithReread(later).WithConfigChanges(changes)
}

// ConfigSince returns the changes of dynamic configuration keys within age before a snapshot. now holds the entries
// of the snapshot. It returns nil if etcd does not have the past revisions.
func ConfigSince(
	ctx context.Context, src source.Live, header source.Header, age time.Duration, now []*model.ConfigEntry,
) []model.ConfigChange {
	past, err := source.PastOf(src)
	if err != nil {
		return nil
	}
	header.ByClock = false // use the clock by which Milvus dates revisions
	newest, err := meta.PointOf(ctx, past, header, header.Revision)
	if err != nil || !newest.Dated {
		return nil
	}
	then, err := meta.PointAt(ctx, past, header, newest.Moment.Time.Add(-age))
	if err != nil {
		return nil
	}
	before, err := partsAt(ctx, src, header, then.Revision, model.PartConfig)
	if err != nil {
		return nil
	}
	return model.ConfigChanges(before.Config, now, header.Taken)
}

// UnresponsiveSessions returns the sessions that were queried and did not respond, e.g. "querynode-7: timed out",
// sorted.
func UnresponsiveSessions(c *model.Cluster) []string {
	if c.Runtime == nil {
		return nil
	}
	var list []string
	for _, s := range c.Runtime.Skipped {
		if s.Reason == live.NobodyRegistered {
			list = append(list, s.Reason+": no process could be queried")
		}
	}
	for _, n := range c.Runtime.Nodes {
		switch {
		case n.Outcome == model.Answered && (n.Role != "querynode" || n.Distribution != nil):
		case n.Outcome == model.Answered:
			list = append(list, n.Name()+" did not report its segments")
		default:
			text := n.Name() + ": " + n.Outcome.String()
			if n.Reason != "" && n.Reason != n.Outcome.String() {
				text += ": " + words.Message(n.Reason)
			}
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}
