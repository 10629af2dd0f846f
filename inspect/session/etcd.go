// Package session is what is known of a cluster beside its metadata, once or as it changes. What enters is a source; what leaves
// is a model.Cluster with what its processes say, how its etcd is, what is written to it, and what has changed while its
// processes were asked.
//
//  1. Ask asks all processes of a live cluster once; ReadAgain finds what has changed meanwhile.
//  2. A Feed follows a source: it joins the changes of the metadata (meta.Follower) with rounds of questions to processes and to
//     etcd, and says in each Update what is not heard of any more. A file is told of once.
//  3. WithKept lays over a cluster what a bundle or a recording keeps of its processes; CollectAnswers and ProfileFiles collect what goes
//     into a bundle, in temporary files.
//  4. LoadProfiled takes profiles while processes are asked, and ProfileFacts makes of them what checks judge.
//  5. CheckStorage looks for the files that the metadata names.
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

// Ask asks all processes of a cluster, and its etcd how that is, at the same time. Options.Window is how long both are watched for
// rates. It ends with the deadline of a process, whatever hangs, or after longLook or flushLook where that is later and requests may hang.
func Ask(ctx context.Context, etcd source.Live, options live.Options, c *model.Cluster) (*model.Cluster, error) {
	client, err := live.Open(options)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var health *model.Etcd
	var asking sync.WaitGroup
	// etcd, which may have gone in the meantime, is not waited for longer than a process.
	patience, cancel := context.WithTimeout(ctx, options.Patience())
	defer cancel()
	asking.Go(func() { health = EtcdState(patience, etcd, options.Window) })
	begun := time.Now()
	runtime, err := client.Ask(ctx, c)
	for _, window := range []time.Duration{longLook, flushLook} {
		if err == nil && options.Window > 0 && options.Window < window && doubtful(c.WithRuntime(runtime), window) {
			err = lookLonger(ctx, options, c, runtime, begun, window)
		}
	}
	asking.Wait()
	if errors.Is(err, live.ErrNoSessions) { // what was read is no less true
		return c.WithEtcd(health).WithGaps(model.Gap{Where: "answers of processes", Reason: err.Error()}), nil
	}
	if err != nil {
		return nil, err
	}
	return c.WithEtcd(health).WithRuntime(runtime), nil
}

const (
	// longLook is a window long enough to tell requests that hang from those on their way.
	longLook = 5 * time.Second
	// flushLook is the same for flushes, which take longer.
	flushLook = 10 * time.Second
	// grace is the time that what comes after the deadline of the processes gets at least.
	grace = 700 * time.Millisecond
)

// doubtful reports whether a look as long as a window may show more about requests.
func doubtful(c *model.Cluster, window time.Duration) bool {
	x := impact.Of(c)
	if window < flushLook {
		return x.Doubtful()
	}
	k := x.Kind(impact.Flush)
	return k != nil && k.Doubtful()
}

// lookLonger asks the processes that answered everything once more, a window after they were asked first, and takes the counters of the
// first time as the ones before. What does not answer by the deadline of the first look stays as it was, unless nothing listens there any
// more.
func lookLonger(ctx context.Context, options live.Options, c *model.Cluster, r *model.Runtime, begun time.Time, window time.Duration) error {
	select {
	case <-time.After(time.Until(begun.Add(window))):
	case <-ctx.Done():
	}
	options.Window, options.Timeout = 0, max(grace, time.Until(begun.Add(options.Patience())))
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
	for _, n := range r.Nodes {
		if now := again.LiveNode(n.Role, n.Node); now != nil && now.Outcome == model.Refused { // it ended meanwhile
			n.Outcome, n.Reason, n.Calls = now.Outcome, now.Reason, append(n.Calls, now.Calls...)
		}
	}
	for _, p := range r.Processes {
		for _, now := range again.Processes {
			if now.Address == p.Address && now.Metrics != nil && p.Metrics != nil {
				p.Before, p.Metrics = cmp.Or(p.Before, p.Metrics), now.Metrics
			}
		}
	}
	return nil
}

// EtcdState is etcd's health together with what was written to it over a while.
func EtcdState(ctx context.Context, etcd source.Live, window time.Duration) *model.Etcd {
	var activity *model.EtcdActivity
	var err error
	var watching sync.WaitGroup
	if window > 0 {
		watching.Go(func() { activity, err = etcd.Activity(ctx, window) })
	}
	health := EtcdHealth(ctx, etcd)
	watching.Wait()
	if hangs, ok := errors.AsType[*source.HangingError](err); ok && !health.Silent() { // since its members were asked
		return silentEtcd(hangs.Endpoint, fmt.Sprintf("it answered at first, then nothing within %s", hangs.After))
	}
	health.Activity = activity
	return health
}

// silentEtcd returns the health of an etcd that does not answer.
func silentEtcd(endpoint, why string) *model.Etcd {
	return &model.Etcd{At: time.Now(), Members: []model.EtcdMember{{Endpoint: endpoint, Problem: "no answer from here: " + why}}}
}

// EtcdHealth asks a live source how its etcd is; nil where there is none to ask.
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

// Silence says that etcd does not answer, and why as far as that is known.
func Silence(e *model.Etcd) error {
	if why := e.WhySilent(); why != "" {
		return fmt.Errorf("etcd does not answer: %s", words.Message(why))
	}
	return errors.New("etcd does not answer")
}

// ReadAgain reads what is small once more after the processes have answered: what is not as it was before has changed while
// they were asked. Where etcd has gone in the meantime, nothing is known of that: it is waited for no longer than patience.
func ReadAgain(ctx context.Context, src source.Live, c *model.Cluster, patience time.Duration) *model.Cluster {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	changes = append(changes, ConfigSince(ctx, src, snap.Header(), asking+model.ConfigPast, later.Config)...)
	return c.ReadAgain(later).WithConfigChanges(changes)
}

// ConfigSince are the changes of dynamic keys in so long before a snapshot that has these. Where etcd cannot tell, there are none.
func ConfigSince(ctx context.Context, src source.Live, of source.Header, age time.Duration, now []*model.ConfigEntry) []model.ConfigChange {
	past, err := source.PastOf(src)
	if err != nil {
		return nil
	}
	of.ByClock = false // what counts is the clock by which Milvus dates revisions
	newest, err := meta.PointOf(ctx, past, of, of.Revision)
	if err != nil || !newest.Dated {
		return nil
	}
	then, err := meta.PointAt(ctx, past, of, newest.Moment.Time.Add(-age))
	if err != nil {
		return nil
	}
	before, err := partsAt(ctx, src, of, then.Revision, model.PartConfig)
	if err != nil {
		return nil
	}
	return model.ConfigChanges(before.Config, now, of.Taken)
}

// SilentSessions lists the sessions that were asked and did not answer: "querynode-7: timed out".
func SilentSessions(c *model.Cluster) []string {
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
