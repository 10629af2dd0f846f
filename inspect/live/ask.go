package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/inspect/model"
)

// Limits of concurrency.
const (
	maxServers = 512 // servers queried in parallel
	maxCalls   = 8   // calls on one connection
)

// minRateWindow is the minimum interval between two scrapes from which rates are computed, because processor
// time is counted in hundredths of a second.
const minRateWindow = time.Second

// NobodyRegistered is the reason in Runtime.Skipped if no process was queried.
const NobodyRegistered = "no process is registered in etcd"

// askState is the state of an Ask.
type askState struct {
	ctx    context.Context // of the whole Ask, without the deadlines of single processes
	start  time.Time
	client *Client
	plan   *plan
	// cluster is the cluster name sent with each call, or "" for none.
	cluster string
	names   clusterNames

	mu      sync.Mutex // guards the decoder and calls of Keep
	decoder *Decoder

	ports   ports
	queue   sync.Once
	helpers sync.WaitGroup // work in parallel with the servers: the message queue and the response times
	// suspected is set after a process responded late.
	suspected atomic.Bool

	progress sync.Mutex
	done     int
}

// ErrNoSessions is returned by Ask if the sessions of the cluster are unknown.
var ErrNoSessions = errors.New("the sessions of the cluster were not read: no process to query")

// Ask queries every process that has a session. The Runtime records the calls that failed. It has no sessions
// if no process is registered. Ask returns an error if the sessions are unknown or ctx ended.
func (c *Client) Ask(ctx context.Context, cluster *model.Cluster) (*model.Runtime, error) {
	if !cluster.Loaded.Has(model.PartSessions) {
		return nil, ErrNoSessions
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &askState{
		ctx: ctx, start: time.Now(), client: c, plan: newPlan(cluster), decoder: NewDecoder(), names: newNames(),
		ports: newPorts(),
	}
	a.cluster = a.plan.cluster
	if c.opts.Tasks || c.opts.Targets {
		c.planCached(a.plan, a.decoder)
	}
	a.decoder.limit = memoryLimit(cluster, len(a.plan.servers))
	for _, s := range a.plan.skipped {
		a.skip(s.What, s.Reason)
	}
	if len(cluster.Sessions) == 0 {
		a.skip("processes", NobodyRegistered)
	} else {
		a.queryAll(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("query the processes: %w", err)
	}
	a.decoder.ClusterKey(a.cluster)
	c.cacheResponses(a.decoder)
	runtime := a.decoder.Runtime("live", "")
	c.cacheScrapes(runtime)
	return runtime, nil
}

// queryAll queries all servers and the further endpoints that they report.
func (a *askState) queryAll(ctx context.Context) {
	asked := make(chan struct{})
	a.helpers.Go(func() { a.scrapeAtCommonPort(ctx, asked) })
	a.queryServers(ctx, a.plan.servers)
	if again := a.resolveRefusals(); len(again) > 0 && ctx.Err() == nil {
		a.queryServers(ctx, again)
	}
	close(asked)
	a.queue.Do(func() { a.skip(skippedQueue, "no process reported its configuration") })
	a.helpers.Wait()
	a.recordUnscraped()
}

// queryServers queries servers, each with its own deadline, and returns after the last is done.
func (a *askState) queryServers(ctx context.Context, list []*server) {
	free := make(chan struct{}, maxServers)
	var wg sync.WaitGroup
	for _, s := range list {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-free }()
			a.queryServer(ctx, s)
			if a.cluster == "" || !a.names.refusedBy(s) {
				a.advance()
			}
		})
	}
	wg.Wait()
}

func (a *askState) advance() {
	if a.client.opts.Progress == nil {
		return
	}
	a.progress.Lock()
	defer a.progress.Unlock()
	a.done++
	a.client.opts.Progress(a.done, len(a.plan.servers))
}

// queryServer queries the sessions at one address: all calls over one connection, and none after the connection
// turns out to be broken. The response times are measured in parallel with the other servers.
func (a *askState) queryServer(ctx context.Context, s *server) {
	ctx, cancel := context.WithDeadline(ctx, s.deadline(a.client.opts.Timeout))
	begun := time.Now()
	l, err := a.client.connect(s.address, a.cluster)
	if err != nil {
		cancel()
		a.recordBroken(s, err, 0)
		return
	}
	err = l.ready(ctx)
	connected := time.Since(begun)
	if err == nil {
		a.makeCalls(ctx, l, s)
	}
	s.spent += time.Since(begun)
	if err != nil {
		l.close()
		cancel()
		a.recordBroken(s, err, connected)
		return
	}
	a.helpers.Go(func() {
		defer cancel()
		defer l.close()
		a.probe(ctx, l, s, begun, connected)
	})
}

// makeCalls makes all calls to a server.
func (a *askState) makeCalls(ctx context.Context, l *link, s *server) {
	free := make(chan struct{}, maxCalls)
	var wg sync.WaitGroup
	defer wg.Wait()
	call := func(f func()) {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			f()
		})
	}
	for i, round := range s.rounds() {
		for _, x := range round {
			if i > 0 && a.cluster != "" && a.names.refusedBy(s) {
				return // it would refuse every other call too
			}
			// After the deadline the remaining calls fail at once, each with its own record.
			call(func() { a.put(ctx, l, x.session, x.inquiry) })
		}
	}
	for _, x := range s.sessions {
		if !a.plan.reportsPort(x) {
			call(func() { a.scrapeMetricsPort(ctx, x) })
		}
	}
}

// deadline returns the deadline of a server whose query starts now. The time spent on it earlier is subtracted.
func (s *server) deadline(timeout time.Duration) time.Time {
	return time.Now().Add(max(timeout-s.spent, min(timeout, minQueryTime)))
}

// recordBroken records a connection failure once per session of the server.
func (a *askState) recordBroken(s *server, err error, took time.Duration) {
	var f *failure
	if !errors.As(err, &f) {
		return // the caller canceled
	}
	for _, session := range s.sessions {
		a.record(session, session.inquiries[0], nil, f, took)
	}
}

type turn struct {
	session *session
	inquiry inquiry
}

// rounds orders the inquiries to a server: the first of every session, then the second, and so on. A deadline
// therefore cuts the least informative ones.
func (s *server) rounds() [][]turn {
	var rounds [][]turn
	for i := 0; ; i++ {
		var round []turn
		for _, session := range s.sessions {
			if i < len(session.inquiries) {
				round = append(round, turn{session, session.inquiries[i]})
			}
		}
		if round == nil {
			return rounds
		}
		rounds = append(rounds, round)
	}
}

// put makes one call and records its outcome. It retries with the other names of the method while the name is
// unimplemented.
func (a *askState) put(ctx context.Context, l *link, s *session, q inquiry) {
	if isTimeout(context.Cause(ctx)) {
		a.record(s, q, nil,
			newFailure(model.NotAsked, "not sent within the %s for this process", a.client.opts.Timeout), 0)
		return
	}
	response, took, f := a.call(ctx, l, s, q)
	for _, other := range q.others {
		if f == nil || f.outcome != model.Unimplemented {
			break
		}
		response.done()
		q.method = other
		response, took, f = a.call(ctx, l, s, q)
	}
	if canceled(ctx) {
		response.done()
		return
	}
	if f != nil && f.outcome == model.Failed {
		if halves := q.halves(s.Node); halves != nil {
			response.done()
			for _, half := range halves {
				a.put(ctx, l, s, half)
			}
			return
		}
	}
	a.record(s, q, response.bytes, f, took)
	follow := a.followUp(s, q, response.bytes, f)
	response.done()
	follow(ctx)
}

// followUp returns the work that follows a call: a configuration names the HTTP server of the process and the
// message queue.
func (a *askState) followUp(s *session, q inquiry, response []byte, f *failure) func(context.Context) {
	switch {
	case lastPart(q.method) != "ShowConfigurations":
	case f == nil:
		return a.findEndpoints(s, response)
	case f.outcome == model.Unimplemented:
		return func(ctx context.Context) { a.scrapeMetricsPort(ctx, s) }
	}
	return func(context.Context) {}
}

// canceled reports whether the caller canceled, as opposed to a timeout.
func canceled(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && !isTimeout(cause)
}

// call makes one call. It returns both a response and a failure if the response's own status holds an error.
func (a *askState) call(ctx context.Context, l *link, s *session, q inquiry) (grpcResponse, time.Duration, *failure) {
	response, took, err := l.call(ctx, s.Node, q.method, q.request)
	if err == nil {
		return response, took, checkStatus(q.method, response.bytes)
	}
	var f *failure
	if !errors.As(err, &f) {
		f = newFailure(model.NotAsked, "%v", err) // the caller canceled: not recorded
	}
	return grpcResponse{done: func() {}}, took, f
}

// record records the outcome of a call. The Decoder reads the status inside the response.
func (a *askState) record(s *session, q inquiry, response []byte, f *failure, took time.Duration) {
	r := Record{
		Role: s.Role, Node: s.Node, Address: s.Address, Method: q.method, Request: q.request, Response: response,
		Outcome: model.Answered.String(), Took: took,
	}
	if f != nil && response == nil {
		r.Outcome, r.Error = f.outcome.String(), f.reason
	}
	if !a.checkClusterName(s, &r, f) {
		a.keep(r)
	}
}

// skip records that something was left out, and the reason.
func (a *askState) skip(what, reason string) {
	a.keep(Record{Method: what, Outcome: model.NotAsked.String(), Error: oneLine(reason)})
}

// keep stamps a record, decodes it and passes it to Options.Keep. Its bytes are not retained.
func (a *askState) keep(r Record) { a.keepStamped(a.stamp(r)) }

// stamp sets the time of a record and removes the credentials from it.
func (a *askState) stamp(r Record) Record {
	r.At = a.client.opts.Now()
	if r.Method == methodMetrics {
		r.At = a.client.opts.Counters()
	}
	r.Error = a.client.opts.conceal(r.Error)
	r.Response = a.client.opts.concealBytes(r.Response)
	return r
}

// keepStamped is like keep, for a record that is already stamped.
func (a *askState) keepStamped(r Record) {
	if tell := a.client.opts.Log; tell != nil {
		tell(r.line())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client.opts.Keep != nil {
		a.client.opts.Keep(Redact(r))
	}
	if a.client.opts.RecordOnly {
		a.decoder.addNames(r)
		return
	}
	a.decoder.Add(r)
}

// scrapeHistory holds the newest scrape of a process and the one before, and the storage counters of two rounds that
// are at least a minute apart.
type scrapeHistory struct{ newest, before, mark, old *model.Metrics }

// markEvery is the minimum interval between the rounds whose storage counters are retained.
const markEvery = time.Minute

// cacheScrapes stores the scrapes for the next Ask, and adds the scrapes of the previous Ask to the Runtime.
func (c *Client) cacheScrapes(r *model.Runtime) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := make(map[string]scrapeHistory, len(r.Processes))
	for _, p := range r.Processes {
		if p.Metrics == nil {
			continue
		}
		last := c.last[p.Address]
		switch {
		case last.newest == nil || !sameProcess(last.newest, p.Metrics):
			last = scrapeHistory{newest: p.Metrics}
		case p.Metrics.At.Sub(last.newest.At) >= minRateWindow:
			last.newest, last.before = p.Metrics, last.newest
		}
		p.Before, p.Earlier = cmp.Or(p.Before, last.before), cmp.Or(last.old, last.mark)
		if last.mark == nil || p.Metrics.At.Sub(last.mark.At) >= markEvery {
			last.old, last.mark = last.mark, p.Metrics.StorageCounters()
		}
		next[p.Address] = last
	}
	c.last = next
	c.cachePaces(r)
}

const startTime = "process_start_time_seconds"

// sameProcess reports whether two scrapes are from one process. A process that replaced it at the same address
// has a later start time.
func sameProcess(before, now *model.Metrics) bool {
	a, knownA := before.Sum(startTime)
	b, knownB := now.Sum(startTime)
	return knownA && knownB && a == b && now.At.After(before.At)
}

// restarted reports whether two scrapes are known to be from different processes.
func restarted(before, now *model.Metrics) bool {
	a, knownA := before.Sum(startTime)
	b, knownB := now.Sum(startTime)
	return knownA && knownB && a != b
}
